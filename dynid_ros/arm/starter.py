# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A first ``arm.yaml`` for a robot, with values found, values guessed and open questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
import yaml

from dynid_ros.arm.description.doubtful_limits import (
    DEFAULT_ACCELERATION,
    DEFAULT_VELOCITY,
    plausible_limits,
)
from dynid_ros.arm.description.joint_choice import GuessedArm
from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.description.urdf import describe
from dynid_ros.arm.description.urdf_xml import UrdfTree
from dynid_ros.arm.parameters import states_body
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from jinja2 import Template

_WIDTH = 80


def starter(
    robot: UrdfTree, path: Path, arm: GuessedArm, others: Sequence[str], folder: Path,
) -> tuple[str, list[str], list[str]]:
    """
    Write the arm of a robot's description for the user to complete.

    Parameters
    ----------
    robot : UrdfTree
        Its description.
    path : Path
        URDF, xacro file, MJCF or SDF that it was read from.
    arm : GuessedArm
        Joints of the arm.
    others : sequence of str
        Further joints of the robot that could move, and stay locked.
    folder : Path
        Where the ``arm.yaml`` will stand; it refers to the robot relative to this folder.

    Returns
    -------
    text : str
        Content of the file.
    doubts : list of str
        Guessed joints, missing entries, and implausible values.
    questions : list of str
        Settings that no description holds.

    Raises
    ------
    ArmError
        The description is unusable.

    """
    joints = arm.joints
    read = describe(robot, path, joints)
    limits, implausible = plausible_limits(read)
    doubts = [*filter(None, (arm.leg, arm.note)), *implausible]
    led = [f'{each.name} follows {joints[each.leader]}' for each in read.tree.followers]
    if led:
        doubts.append(f'{", ".join(led)}, by the description; their links count for that joint')
    bare = [name for k, name in enumerate(read.tree.link_names)
            if read.inertial is None or not states_body(read.inertial[k])]
    if bare:
        doubts.append('no inertia is stated for the links at '
                      f'{", ".join(bare) if len(bare) < len(joints) else "all joints"}; design '
                      'and simulate take cylinders from joint to joint')
    questions = [
        'drive: which signal your driver publishes as effort, and its gains if it is a current',
        'limits.acceleration: no description states it',
        'environment: floor, walls and boxes around the arm; without them planned motions avoid '
        'the arm itself at most']
    if others:
        questions.append('locked: where the other joints stand while the arm moves')
    endless = [name for name, lower, upper in zip(joints, limits.lower, limits.upper, strict=True)
               if robot.joints[name].kind != 'continuous' and np.isinf([lower, upper]).any()]
    if endless:
        questions.append(f'limits.lower and upper of {", ".join(endless)}: the description has '
                         'none, and planned motions reach 3.14 rad or m from zero')
    content = {
        'file': path.name, 'name': read.name or path.stem,
        'urdf': relpath(path.resolve(), folder.resolve()), 'note': arm.note,
        'joints': list(joints), 'locked': dict.fromkeys(others, 0.0), **_limits(limits),
        'nominal': _nominal(path, joints) if robot.is_mjcf else {}}
    return _template('arm.yaml').render(content), doubts, questions


def _template(name: str) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / 'templates'), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters['entries'] = _entries
    return made.get_template(name)


def known_section(doubts: Sequence[str]) -> str:
    """Write ``known`` of an arm.yaml, with the doubts about its description if there are any."""
    return _template('known.yaml').render(known=list(doubts)) if doubts else ''


def bounds_section(joints: tuple[str, ...], boxes: Array) -> str:
    """Write ``links`` of an arm.yaml with boxes (n, 3, 2) of centres of mass, commented out."""
    known = {name: [float(f'{x:.3f}') for x in box.ravel()]
             for name, box in zip(joints, boxes, strict=True) if np.isfinite(box).all()}
    return _template('links.yaml').render(joints=joints, known=known)


def _limits(limits: JointLimits) -> dict[str, Any]:
    """Return the limits, and state which of them are guessed."""
    taken = {'lower, upper': (np.concatenate([limits.lower, limits.upper]), 'unlimited'),
             'velocity': (limits.velocity, f'{DEFAULT_VELOCITY:g}'),
             'effort': (limits.effort, 'unlimited')}
    velocity = np.where(np.isfinite(limits.velocity), limits.velocity, DEFAULT_VELOCITY)
    # Three degrees, or less where a joint has little room.
    margin = float(min(0.05, 0.05 * (limits.upper - limits.lower).min()))
    return {
        'guessed': {quantity: instead for quantity, (values, instead) in taken.items()
                    if not np.isfinite(values).all()},
        'known': {'lower': limits.lower, 'upper': limits.upper, 'velocity': velocity},
        'drives': {'acceleration': np.full(len(limits.lower), DEFAULT_ACCELERATION),
                   'effort': limits.effort},
        'acceleration': f'{DEFAULT_ACCELERATION:g}', 'margin': f'{margin:g}'}


def _nominal(path: Path, joints: tuple[str, ...]) -> dict[str, Array]:
    """Rotor inertia and friction as an MJCF states them."""
    from dynid_ros.arm.description.mjcf import dissipation

    return dict(zip(
        ('rotor_inertia', 'viscous', 'coulomb'), dissipation(path, joints), strict=True))


def _entries(content: Mapping[str, Any]) -> str:
    """Write keys with their values, in lines of moderate length."""
    plain = {key: [float(f'{x:.7g}') for x in value.tolist()] if isinstance(value, np.ndarray)
             else value for key, value in content.items()}
    text: str = yaml.safe_dump(
        plain, sort_keys=False, allow_unicode=True, default_flow_style=None, width=_WIDTH)
    return text.strip()
