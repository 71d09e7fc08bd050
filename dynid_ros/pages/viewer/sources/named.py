# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What a page shows of the names that a user gave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings, Surroundings
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import is_result, read_result
from dynid_ros.pages.viewer.sources.file import (
    check_joints,
    motion_track,
    recording_track,
    result_track,
)
from dynid_ros.pages.viewer.sources.track import Track


def shown(
    names: Sequence[str], source: str | None = None, folder: Path | None = None, **reading: Any,
) -> tuple[Track, Surroundings, IdentifiedModel | None]:
    """
    Read an arm and its motion, or a recording, or a result.

    Parameters
    ----------
    names : sequence of str
        Arm and motion, or a recording alone, or the folder of a result.
    source : str, optional
        The arm of a recording; of a result, where its meshes and surroundings are.
    folder : Path, optional
        Result that predicts the torque of a motion or a recording.
    **reading
        How a recording is read; see `read_recording`.

    Returns
    -------
    Track
        What moves.
    Surroundings
        What stands around it.
    IdentifiedModel or None
        The result, if it is what is shown.

    """
    *first, last = names
    if len(first) > 1:
        raise InputError(f'view takes an arm and a motion, or a recording, or a result, not '
                         f'{len(names)} names')
    if first and source is not None:
        raise InputError('--arm is for a recording or a result; ARM MOTION names the arm')
    source, path = first[0] if first else source, Path(last)
    arm = None if source is None else load_arm(source)
    whole = not first and is_result(path)
    if whole and folder is not None:
        raise InputError('--model is for a motion or a recording; a result is a model')
    folder = path if whole else folder
    model = None if folder is None else read_result(folder)
    if arm is not None and folder is not None and model is not None:
        check_joints(model, arm, folder)
    if whole and model is not None:
        track = result_track(model, arm or model.arm)
    elif arm is None:
        raise InputError(
            f'{path} is no result of dynid identify; give the arm of a recording with --arm, or '
            'an arm and its motion: dynid view ARM MOTION')
    elif first:
        track = motion_track(path, arm, model)
    else:
        track = recording_track(read_recording(path, arm, **reading), arm, model)
    around = Surroundings() if source is None else load_surroundings(source, track.arm)
    return track, around, model if whole else None
