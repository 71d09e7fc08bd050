"""A first ``arm.yaml`` for a robot, with values found, values guessed and open questions."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from textwrap import fill

import numpy as np

from dynid_ros.arm.description.doubtful_limits import (
    DEFAULT_ACCELERATION,
    DEFAULT_VELOCITY,
    plausible_limits,
)
from dynid_ros.arm.description.joint_choice import arm_tips, free_joints, GuessedArm
from dynid_ros.arm.description.tree import Description
from dynid_ros.arm.description.urdf import describe
from dynid_ros.arm.description.urdf_xml import UrdfTree
from dynid_ros.arm.parameters import states_body
from dynid_ros.utilities.arrays import Array

_WIDTH = 99


@dataclass(frozen=True)
class Starter:
    """
    A first ``arm.yaml``.

    Attributes
    ----------
    text : str
        Content of the file.
    others : tuple of str
        Further joints of the robot that could move, and stay locked.
    tips : tuple of str
        Links at the ends of the robot's arms.
    doubts : tuple of str
        Guessed joints, missing entries, and implausible values.
    open_questions : tuple of str
        Settings that no description holds.

    """

    text: str
    others: tuple[str, ...]
    tips: tuple[str, ...]
    doubts: tuple[str, ...]
    open_questions: tuple[str, ...]


def starter(robot: UrdfTree, path: Path, arm: GuessedArm, folder: Path) -> Starter:
    """
    Write down the arm of a robot's description for the user to complete.

    Parameters
    ----------
    robot : UrdfTree
        Its description.
    path : Path
        URDF, xacro file, MJCF or SDF that it was read from.
    arm : GuessedArm
        Joints of the arm.
    folder : Path
        Where the ``arm.yaml`` will stand; it refers to the robot relative to this folder.

    Raises
    ------
    ArmError
        The description is unusable.

    """
    joints = arm.joints
    read = describe(robot, path, joints)
    others = tuple(name for name in free_joints(robot.joints) if name not in joints)
    limits, doubts = plausible_limits(read)
    if arm.note:
        doubts = (arm.note, *doubts)
    led = [f'{each.name} follows {joints[each.leader]}' for each in read.tree.followers]
    if led:
        doubts += (f'{", ".join(led)}, by the description; their links count for that joint',)
    bare = [name for k, name in enumerate(read.tree.link_names)
            if read.inertial is None or not states_body(read.inertial[k])]
    if bare:
        doubts += ('no inertia is stated for the links at '
                   f'{", ".join(bare) if len(bare) < len(joints) else "all joints"}; design and '
                   'simulate take cylinders from joint to joint',)
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
    parts = [
        _head(path, read, folder),
        *([f'# {arm.note}.\n# To move one, write it into "joints" and take it out of "locked".']
          if arm.note else []),
        _list('joints', joints),
        *([_locked(others)] if others else []),
        _SETTINGS,
        _limits(limits.lower, limits.upper, limits.velocity, limits.effort),
        *(_nominal(path, joints) if robot.is_mjcf else []),
        _ENVIRONMENT,
    ]
    return Starter(
        '\n'.join(parts), others, arm_tips(robot.joints), doubts, tuple(questions))


def bounds_section(joints: tuple[str, ...], boxes: Array) -> str:
    """Write ``links`` of an arm.yaml with boxes (n, 3, 2) of centres of mass, commented out."""
    known = [(name, box) for name, box in zip(joints, boxes, strict=True)
             if np.isfinite(box).all()]
    center = ['#   center:  # boxes around the collision shapes, x, y and z from and to, m',
              *(f'#     {_quoted(name)}: [{", ".join(f"{x:.3f}" for x in box.ravel())}]'
                for name, box in known)]
    return '\n'.join([
        '# Only you know; bounds on the links for their physically possible parameters.',
        '# links:',
        '#   total_mass: [10.0, 12.0]  # of all links that move, kg',
        f'#   mass: {{{_quoted(joints[-1])}: [0.5, 1.0]}}  # of the link that a joint moves, kg',
        *(center if known else []), ''])


def _head(path: Path, read: Description, folder: Path) -> str:
    source = relpath(path.resolve(), folder.resolve())
    return (f'# Written by "dynid init" from {path.name}.\n'
            f'name: {_quoted(read.name or path.stem)}\n'
            f'description: {{urdf: {_quoted(source)}}}')


_SETTINGS = """\
# Acceleration of free fall in the base frame, m/s²; tilt it for an arm on a wall or a torso.
gravity: [0, 0, -9.81]
# Only you know: "effort" may mean newton metres on one arm and amperes on another.
#   drive: {signal: current, gain: [...]}                                  # Nm/A, one a joint
#   drive: {signal: voltage, torque_constant: [...], amplifier_gain: [...]}
drive: {signal: effort, unit: Nm}
friction: [viscous, coulomb, offset]
rotor_inertia: true
# "dynid check LOG" prints how it reads the columns of a table; where that is wrong:
#   table: {time: t, position: [...], velocity: [...], signal: [...], unit: deg, rate_hz: 100}"""

_ENVIRONMENT = """\
# Only you know: planned motions keep this distance, m, from the arm itself and from
#   floor: 0.0
#   walls: [{name: wall, point: [0.8, 0, 0], normal: [-1, 0, 0]}]
#   boxes: [{name: table, center: [0.5, 0, -0.4], size: [1, 1, 0.8]}]
environment: {clearance: 0.02}
"""


def _locked(others: tuple[str, ...]) -> str:
    entries = ', '.join(f'{_quoted(name)}: 0.0' for name in others)
    return f'# The other joints of the robot, rad or m.\nlocked: {{{entries}}}'


def _limits(lower: Array, upper: Array, velocity: Array, effort: Array) -> str:
    guessed = np.where(np.isfinite(velocity), velocity, DEFAULT_VELOCITY)
    notes = ''.join(
        f'  # {quantity}: {taken} where the description has none.\n'
        for quantity, values, taken in (
            ('lower, upper', np.concatenate([lower, upper]), 'unlimited'),
            ('velocity', velocity, f'{DEFAULT_VELOCITY:g}'), ('effort', effort, 'unlimited'))
        if not np.isfinite(values).all())
    return '\n'.join([
        'limits:',
        *([notes.rstrip('\n')] if notes else []),
        _list('  lower', lower),
        _list('  upper', upper),
        _list('  velocity', guessed),
        f'  # Only you know; {DEFAULT_ACCELERATION:g} is cautious.',
        _list('  acceleration', np.full(len(lower), DEFAULT_ACCELERATION)),
        _list('  effort', effort),
        '  # Planned motions keep away from the limits by these.',
        f'  position_margin: {_margin(lower, upper):g}',
        '  velocity_scale: 0.9',
        '  effort_scale: 0.8'])


def _margin(lower: Array, upper: Array) -> float:
    """Three degrees, or less where a joint has little room."""
    return float(min(0.05, 0.05 * (upper - lower).min()))


def _nominal(path: Path, joints: tuple[str, ...]) -> list[str]:
    """Rotor inertia and friction as an MJCF states them."""
    from dynid_ros.arm.description.mjcf import dissipation

    rows = zip(('rotor_inertia', 'viscous', 'coulomb'), dissipation(path, joints), strict=True)
    return ['nominal:', *(_list(f'  {name}', values) for name, values in rows)]


def _list(key: str, values: Array | tuple[str, ...]) -> str:
    """Write a key with its list, in lines of moderate length."""
    texts = (_quoted(value) if isinstance(value, str) else _number(float(value))
             for value in values)
    return fill(f'{key}: [{", ".join(texts)}]', _WIDTH, subsequent_indent=' ' * (len(key) + 3),
                drop_whitespace=True, break_long_words=False, break_on_hyphens=False)


def _number(value: float) -> str:
    if np.isinf(value):
        return '.inf' if value > 0 else '-.inf'
    # YAML 1.1 reads 1e-05 as text.
    return repr(round(value, 6)) if abs(value) >= 1e-4 or value == 0 else f'{value:.9f}'


def _quoted(text: str) -> str:
    plain = text.replace('_', '').replace('-', '').replace('.', '').replace('/', '')
    return text if plain.isalnum() and plain[0].isalpha() else "'" + text.replace("'", "''") + "'"
