"""Suspects that change the motion or the arm: positions, lengths, gravity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from dynid_ros.arm.drive import joint_position, joint_velocity, motor_position
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.diagnosis.gravity_direction import GravityCheck, LEAVE_OUT
from dynid_ros.estimation.suspects.suspect import exchange, Fault, names, Size, Suspect
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import within

#: Errors of a zero that are tried, rad.
ANGLES = tuple(np.radians([-30.0, -10.0, 10.0, 30.0]).tolist())
#: Factors of an offset between joints that are tried.
LENGTHS, APART = (0.7, 0.9, 1.1, 1.4), 1.5
#: Shortest offset between two joint frames that counts as a length, m.
SHORTEST = 0.01


def exchanged_positions(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Exchange the positions of each pair of joints, alone and together with their signals."""
    for pair in combinations(joints, 2):
        change = exchange(base.arm.n, pair)
        moved = _at_motors(base, change)
        alone = base.refitted(Fault(
            'position_exchanged', pair,
            f'the positions of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the position columns, or the names in the messages'),
            samples=replace(moved, moving=moved.moving @ change > 0))
        yield alone
        both = alone.with_signals(change, Fault(
            'joint_exchanged', pair,
            f'positions and drive signals of {names(base.arm, pair)} seem to be exchanged',
            'give the columns in the order of the joints in arm.yaml: arrays have no names',
            typical=True))
        yield replace(both, faults=(*base.faults, both.fault))


def reversed_positions(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Reverse the sign of the position of each joint."""
    for joint in joints:
        change = np.eye(base.arm.n)
        change[joint, joint] = -1
        yield base.refitted(Fault(
            'position_sign', (joint,),
            f'the position of {names(base.arm, [joint])} seems to have the wrong sign',
            'reverse it in the driver, or the axis of the joint in the description'),
            samples=_at_motors(base, change))


def shifted_zeros(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Shift the zero of each joint that turns."""
    for joint in joints:
        for angle in () if base.arm.prismatic[joint] else ANGLES:
            make = partial(_shifted, base, joint)
            yield replace(make(angle), size=Size(make, angle - ANGLES[2], angle + ANGLES[2]))


def _shifted(base: Suspect, joint: int, angle: float) -> Suspect:
    q = base.samples.q.copy()
    q[:, joint] += angle
    return base.refitted(Fault(
        'position_zero', (joint,),
        f'the zero of {names(base.arm, [joint])} seems to be off by {np.degrees(-angle):.0f} '
        'degrees', 'calibrate it, or identify with --joint-offsets',
        typical=abs(angle) == ANGLES[2]),
        samples=replace(base.samples, q=q))


def stretched_links(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Stretch the offset of each joint from the one before it."""
    lengths = np.linalg.norm(base.arm.translation, axis=1)
    # The place of the first joint shows in no torque.
    for joint in joints:
        if lengths[joint] > SHORTEST and base.arm.parent[joint] >= 0:
            for factor in LENGTHS:
                make = partial(_stretched, base, joint)
                yield replace(make(factor), size=Size(make, factor / APART, factor * APART))


def _stretched(base: Suspect, joint: int, factor: float) -> Suspect:
    translation = base.arm.translation.copy()
    stated = 1000 * np.linalg.norm(translation[joint])
    translation[joint] *= factor
    return base.refitted(Fault(
        'link_length', (joint,),
        f'the offset of {names(base.arm, [joint])} from the joint before it seems to be '
        f'{factor * stated:.0f} mm instead of {stated:.0f} mm',
        'compare the description with the data sheet of the arm',
        typical=factor in (LENGTHS[0], LENGTHS[-1])),
        arm=base.arm.with_tree(translation=translation))


def other_gravity(base: Suspect, check: GravityCheck) -> Iterator[Suspect]:
    """
    Turn gravity to the direction that fits best, or take it out of the torque.

    Parameters
    ----------
    base : Suspect
        The arm with the gravity that it states.
    check : GravityCheck
        Direction that fits best.

    """
    if not base.arm.drive.includes_gravity:
        return
    stated = float(np.linalg.norm(base.arm.gravity))
    vector = (stated or 9.81) * check.direction
    text = ', '.join(f'{x:.2f}' for x in vector)
    other = ', or another direction that fits as well' if check.ambiguous else ''
    if not stated:
        yield _with_gravity(base, vector, Fault(
            'gravity_missing', (),
            f'the effort holds gravity torque although "gravity" of the arm is zero: the data '
            f'give [{text}]{other} in the base frame', 'correct "gravity" in arm.yaml'))
        return
    if check.elsewhere:
        degrees = within(np.degrees(check.angle), np.degrees(check.std), 'degrees')
        yield _with_gravity(base, vector, Fault(
            'gravity_direction', (), f'the stated gravity is {degrees} off: the data give '
            f'[{text}]{other} in the base frame',
            'correct "gravity" of the arm if it is mounted on its side'))
    yield _with_gravity(base, np.zeros(3), Fault(
        'gravity_removed', (), 'the effort holds no gravity torque', LEAVE_OUT))


def _with_gravity(base: Suspect, vector: Array, fault: Fault) -> Suspect:
    return base.refitted(fault, arm=replace(base.arm, gravity=vector))


def _at_motors(base: Suspect, change: Array) -> TrialSamples:
    """Mix positions where they are measured, and their derivatives with them."""
    samples, drive = base.samples, base.arm.drive
    rates = replace(drive, offset=np.zeros(base.arm.n))
    qd, qdd = (joint_velocity(motor_position(x, rates) @ change, drive)
               for x in (samples.qd, samples.qdd))
    q = joint_position(motor_position(samples.q, drive) @ change, drive)
    return replace(samples, q=q, qd=qd, qdd=qdd)
