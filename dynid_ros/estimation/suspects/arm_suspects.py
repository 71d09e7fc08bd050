# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Suspects in the geometry, each with a size: joint zeros, lengths, direction of gravity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from dynid_ros.estimation.suspects.suspect import (
    factor_suspects,
    Fault,
    names,
    sized,
    Suspect,
    WEIGHT,
)
from dynid_ros.utilities.arrays import Array

#: Angle of a wrong zero or direction of gravity that a recording should detect, rad.
DETECTED_ANGLE = float(np.radians(10.0))
#: Start values for the error of a zero, rad: quarter turns, of which one is near enough to settle.
START_ANGLES = (-np.pi / 2, 0.0, np.pi / 2, np.pi)
#: Shortest offset between two joint frames that counts as a length, m.
SHORTEST_OFFSET_M = 0.01
#: Prior standard deviation of an unknown angle, rad: that of a uniform one.
ANY_ANGLE = float(np.pi / np.sqrt(3))
#: Code of a wrong direction of gravity.
GRAVITY = 'gravity_direction'
#: Remedy if the signal lacks the gravity torque.
LEAVE_OUT = 'set "includes_gravity: false" under "drive" in arm.yaml'


def shifted_zeros(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Shift the zero of each revolute joint."""
    for joint in joints:
        for angle in () if base.arm.prismatic[joint] else START_ANGLES:
            yield shifted(base, [joint], np.array([angle]), ANY_ANGLE)


def shifted(base: Suspect, joints: list[int], size: Array, std: float) -> Suspect:
    """Return a suspect whose size is the error of the zeros of some joints, rad or m."""
    return sized(partial(_shifted, base, joints), size, np.full(len(joints), std), DETECTED_ANGLE)


def _shifted(base: Suspect, joints: list[int], size: Array) -> Suspect:
    q = base.samples.q.copy()
    q[:, joints] -= size
    listed = ' and '.join(f'{angle:.0f}' for angle in np.degrees(size))
    offsets = ' and '.join(f'{angle:.3g}' for angle in size)
    return base.refitted(Fault(
        'position_zero', tuple(joints), f'the zero of {names(base.arm, joints)} seems to be off '
        f'by {listed} degrees',
        f'calibrate it, or subtract {offsets} rad from its offset under "drive" in arm.yaml'),
        samples=replace(base.samples, q=q))


def stretched_links(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Stretch the offset of each joint from its parent."""
    lengths = np.linalg.norm(base.arm.translation, axis=1)
    # No torque depends on the position of the first joint.
    for joint in joints:
        if lengths[joint] > SHORTEST_OFFSET_M and base.arm.parent[joint] >= 0:
            yield from factor_suspects(partial(_stretched, base, joint))


def _stretched(base: Suspect, joint: int, size: Array) -> Suspect:
    translation, factor = base.arm.translation.copy(), float(np.exp(size[0]))
    stated = 1000 * np.linalg.norm(translation[joint])
    translation[joint] *= factor
    return base.refitted(Fault(
        'link_length', (joint,),
        f'the offset of {names(base.arm, [joint])} from the joint before it seems to be '
        f'{factor * stated:.0f} mm instead of {stated:.0f} mm',
        'compare the description with the data sheet of the arm'),
        arm=base.arm.with_tree(translation=translation))


def other_gravity(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Turn gravity, add it if the arm states none, or remove it from the torque."""
    if not joints or any(fault.code.startswith('gravity') for fault in base.faults):
        return
    stated = float(np.linalg.norm(base.arm.gravity))
    if stated:
        yield base.refitted(Fault(
            'gravity_removed', (), 'the effort holds no gravity torque', LEAVE_OUT),
            arm=replace(base.arm, gravity=np.zeros(3)))
    # The face centres and corners of a cube: some start is within 27 degrees of any direction.
    grid = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    down = base.arm.gravity / stated if stated else np.array([0.0, 0.0, -1.0])
    starts = np.vstack([down, np.eye(3), -np.eye(3), grid / np.sqrt(3)])
    for start in starts[[True, *(starts[1:] @ down < np.cos(DETECTED_ANGLE))]]:
        # If the arm states none, any tilt counts. About the stated direction alone, the size
        # would be singular for an arm that hangs upside down.
        yield sized(
            partial(_tilted, base, start), np.zeros(2), np.full(2, ANY_ANGLE),
            DETECTED_ANGLE if stated else 0.0, measure=partial(_angle_off, down, start),
            coordinates=partial(_tilt_to, start))


def _across(start: Array) -> Array:
    """Return two directions normal to one (3,) and to each other, (2, 3)."""
    return np.asarray(np.linalg.svd(start[None])[2][1:])


def _turned(start: Array, tilt: Array) -> Array:
    """Turn a direction by an angle about a perpendicular axis; ``tilt`` is their product (2,)."""
    angle = float(np.linalg.norm(tilt))
    return np.asarray(np.cos(angle) * start + np.sinc(angle / np.pi) * (tilt @ _across(start)))


def _tilt_to(start: Array, suspect: Suspect) -> Array:
    """Return the tilt (2,) that turns a direction into that of the gravity of a suspect."""
    gravity = suspect.arm.gravity
    aside, along = _across(start) @ gravity, start @ gravity
    size = float(np.linalg.norm(aside))
    # The opposite direction is reached about any axis.
    axis = aside / size if size > 0 else np.array([1.0, 0.0])
    return np.asarray(np.arctan2(size, along) * axis)


def _angle_off(down: Array, start: Array, tilt: Array) -> float:
    """Angle between a direction and another one that is turned, rad."""
    turned = _turned(start, tilt)
    return float(np.arctan2(np.linalg.norm(np.cross(down, turned)), down @ turned))


def _tilted(base: Suspect, start: Array, tilt: Array) -> Suspect:
    """Assume that gravity has the direction ``start``, turned by ``tilt``."""
    stated = float(np.linalg.norm(base.arm.gravity))
    vector = (stated or WEIGHT) * _turned(start, tilt)
    text = ', '.join(f'{x + 0.0:.2f}' for x in np.round(vector, 2))
    if stated:
        off = np.degrees(_angle_off(base.arm.gravity / stated, start, tilt))
        fault = Fault(GRAVITY, (),
                      f'the stated gravity is {off:.0f} degrees off: the data give '
                      f'[{text}] in the base frame',
                      'correct "gravity" of the arm if it is mounted on its side')
    elif base.arm.drive.includes_gravity:
        fault = Fault('gravity_missing', (),
                      f'the effort holds gravity torque although "gravity" of the arm is zero: '
                      f'the data give [{text}] in the base frame',
                      'correct "gravity" in arm.yaml')
    else:
        fault = Fault('gravity_held', (),
                      'effort holds gravity torque although arm.yaml states otherwise',
                      'remove "includes_gravity: false" under "drive"')
    return base.refitted(fault, arm=replace(base.arm, gravity=vector))
