# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The result that an online estimate starts from."""

from __future__ import annotations

from pathlib import Path

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.plain_values import arm_to_plain
from dynid_ros.data.files.sidecar import different_setting
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result


def read_start(folder: Path, arm: str = '') -> IdentifiedModel:
    """
    Read the result that an online estimate starts from.

    Parameters
    ----------
    folder : Path
        Folder of the result.
    arm : str
        The arm, as for ``load_arm``, if a user states it, too.

    Raises
    ------
    ResultError
        There is no result, or it is damaged.
    InputError
        Joints, geometry or drive settings of the arm differ from the result's.

    """
    return same_arm(read_result(folder), load_arm(arm) if arm else None)


def same_arm(result: IdentifiedModel, arm: ArmModel | None) -> IdentifiedModel:
    """
    Return a result, if it is of an arm that a user states, too.

    Raises
    ------
    InputError
        Joints, geometry or drive settings differ.

    """
    other = None if arm is None else different_setting(arm_to_plain(arm), result.arm)
    if arm is not None and other is not None:
        raise InputError(
            f"the arm '{arm.name}' has another {other[0]} than that of the result that the "
            f'estimate starts from: {other[1]} instead of {other[2]}; leave the arm out, or start '
            'from a result of it')
    return result
