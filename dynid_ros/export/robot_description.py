"""The robot description of an arm with identified links, as robot_state_publisher takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dynid_ros.arm.load import description_file
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import ArmError
from dynid_ros.export.urdf import replaced_urdf, urdf_of


def robot_description(name_or_path: str | Path) -> Callable[[ArmModel], str]:
    """
    Return how the links of an arm become its robot description.

    Parameters
    ----------
    name_or_path : str or Path
        As for ``load_arm``; empty where the arm is known from a result alone. Where a plain URDF
        describes the arm, its links get the new inertias and all else stays; for others, a URDF of
        joints and links alone is written.

    Returns
    -------
    callable
        Takes an arm with possible nominal parameters, and returns a URDF.

    """
    source = description_file(name_or_path) if name_or_path else None
    if source is None or source.suffix.lower() != '.urdf':
        return urdf_of
    urdf = source

    def describe(arm: ArmModel) -> str:
        try:
            return replaced_urdf(arm, urdf)[0]
        except ArmError:
            # An SDF or a xacro file by another name.
            return urdf_of(arm)

    return describe
