# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Links in the YAML files that ur_description and franka_description read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros.arm.description.schema import read_yaml
from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

#: Turns about x of each joint's frame in the frame of the joint before, in quarters; both makers
#: use the frames of a modified DH table. The first one depends on the base.
_UR_TURNS = (0, 1, 0, 0, 1, -1)
_FRANKA_TURNS = (0, -1, 1, 1, -1, 1, 1)
#: Difference of two directions up to which a frame is the maker's: calibrated ones differ by less.
SAME_DIRECTION = 0.05
_UR_LINKS = ('shoulder', 'upper_arm', 'forearm', 'wrist_1', 'wrist_2', 'wrist_3')


def maker_table(arm: ArmModel, source: Path) -> str:
    """
    Replace the links in a maker's YAML; keep all else.

    Parameters
    ----------
    arm : ArmModel
        With physical nominal inertial parameters.
    source : Path
        ``physical_parameters.yaml`` of ur_description or ``inertials.yaml`` of franka_description.

    Returns
    -------
    str
        The new YAML.

    Raises
    ------
    ArmError
        The file is neither, or its arm has other frames; the message names the joint.

    """
    content = read_yaml(source)
    turns, fill = _kind(content, source)
    _check_frames(arm, turns, source)
    assert arm.inertial is not None
    fill(content, [inertial_to_com(link) for link in arm.inertial])
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=False)
    return f'# {arm.name}: links as identified by dynid_ros, the rest as in {source.name}.\n{text}'


def _kind(
    content: Any, source: Path,
) -> tuple[tuple[int, ...], Callable[[Any, list[tuple[float, Array, Array]]], None]]:
    """Return the turns of the frames, and how the links are filled in."""
    top = content if isinstance(content, dict) else {}
    own = top.get('inertia_parameters')
    if isinstance(own, dict) and {'center_of_mass', 'rotation', 'tensor'} <= own.keys():
        return _UR_TURNS, _fill_ur
    if {f'link{k}' for k in range(1, 8)} <= top.keys():
        return _FRANKA_TURNS, _fill_franka
    raise ArmError(f'{source} is neither the physical_parameters.yaml of ur_description nor the '
                   'inertials.yaml of franka_description')


def _check_frames(arm: ArmModel, turns: tuple[int, ...], source: Path) -> None:
    if arm.links != len(turns):
        raise ArmError(f"{source} is of an arm of {len(turns)} joints, and '{arm.name}' has "
                       f'{arm.links}')
    for joint, name in enumerate(arm.joint_names):
        expected = rotation_rpy([turns[joint] * np.pi / 2, 0.0, 0.0])
        rotation = arm.rotation[joint] if joint else arm.rotation[0] @ _back_about_z(arm)
        off = max(np.abs(rotation - expected).max(),
                  np.abs(arm.axis[joint] - [0.0, 0.0, 1.0]).max())
        if arm.parent[joint] != joint - 1 or off > SAME_DIRECTION:
            raise ArmError(f"{source} is of an arm with other frames than '{arm.name}', the first "
                           f"at joint '{name}'; export a URDF, which has frames of its own")


def _back_about_z(arm: ArmModel) -> Array:
    """Turn that undoes the yaw of the first joint's frame in the base."""
    yaw = np.arctan2(arm.rotation[0, 1, 0], arm.rotation[0, 0, 0])
    return rotation_rpy([0.0, 0.0, -float(yaw)])


def _fill_ur(content: Any, links: list[tuple[float, Array, Array]]) -> None:
    own = content['inertia_parameters']
    for name, (mass, center, inertia) in zip(_UR_LINKS, links, strict=True):
        own[f'{name}_mass'] = float(mass)
        own['center_of_mass'][f'{name}_cog'] = dict(zip('xyz', center.tolist(), strict=True))
        own['rotation'][name] = dict.fromkeys(('roll', 'pitch', 'yaw'), 0.0)
        own['tensor'][name] = _tensor(inertia, 'i')


def _fill_franka(content: Any, links: list[tuple[float, Array, Array]]) -> None:
    for number, (mass, center, inertia) in enumerate(links, start=1):
        content[f'link{number}'] = {
            'origin': {'xyz': ' '.join(map(repr, center.tolist())), 'rpy': '0 0 0'},
            'mass': float(mass), 'inertia': _tensor(inertia, '')}


def _tensor(inertia: Array, prefix: str) -> dict[str, float]:
    return {f'{prefix}{"xyz"[i]}{"xyz"[j]}': float(inertia[i, j])
            for i, j in zip(*np.triu_indices(3), strict=True)}
