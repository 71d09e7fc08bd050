"""Rival explanations that change the motion or the arm: positions, their unit, gravity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_position, joint_velocity, motor_position
from dynid_ros.diagnosis.gravity_direction import GravityCheck
from dynid_ros.diagnosis.hypothesis import Hypothesis, names, Step
from dynid_ros.diagnosis.trial_rows import TrialSamples

Array = NDArray[np.float64]

#: Error of a joint zero that is tried first, and where halving it ends, rad.
ZERO, SETTLED = float(np.radians(12.0)), float(np.radians(1.0))
#: Errors of a zero below this are no wrong calibration, rad: encoders are set that well.
ZERO_BAND = np.radians(2.0)


def exchanged_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Exchange the positions of each pair of joints."""
    for pair in combinations(base.joints.tolist(), 2):
        order = np.arange(base.arm.n)
        order[list(pair)] = order[list(pair[::-1])]
        moved = _at_motors(base, np.eye(base.arm.n)[:, order])
        yield base.with_samples(replace(moved, moving=moved.moving[:, order]), Step(
            'position_exchanged', pair,
            f'the positions of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the position columns, or the names in the messages'))


def reversed_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Reverse the sign of the position of each joint."""
    for joint in base.joints.tolist():
        change = np.eye(base.arm.n)
        change[joint, joint] = -1
        yield base.with_samples(_at_motors(base, change), Step(
            'position_sign', (joint,),
            f'the position of {names(base.arm, [joint])} seems to have the wrong sign',
            'reverse it in the driver, or the axis of the joint in the description'))


def shifted_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Shift the zero of each revolute joint by the angle that fits best."""
    for joint in base.joints.tolist():
        if base.arm.prismatic[joint]:
            continue
        angle, nearest, step = 0.0, base, 2 * ZERO
        while step > SETTLED:
            step /= 2
            beside = [(x, _shifted(base, joint, x)) for x in (angle - step, angle + step)]
            angle, nearest = min([(angle, nearest), *beside], key=lambda each: each[1].cost)
        if abs(angle) > ZERO_BAND:
            yield nearest


def other_gravity(base: Hypothesis, check: GravityCheck) -> Iterator[Hypothesis]:
    """
    Turn gravity to the direction that fits best, or take it out of the torque.

    Parameters
    ----------
    base : Hypothesis
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
        yield base.with_arm(replace(base.arm, gravity=vector), Step(
            'gravity_missing', (),
            f'the effort holds gravity torque although "gravity" of the arm is zero: the data '
            f'give [{text}]{other} in the base frame', 'correct "gravity" in arm.yaml'))
        return
    if check.elsewhere:
        yield _turned(base, check, vector, f'[{text}]{other}')
    yield base.with_arm(replace(base.arm, gravity=np.zeros(3)), Step(
        'gravity_removed', (), 'the effort holds no gravity torque',
        'set "includes_gravity: false" under "drive" in arm.yaml'))


def _turned(base: Hypothesis, check: GravityCheck, vector: Array, text: str) -> Hypothesis:
    degrees = f'{np.degrees(check.angle):.1f} ± {np.degrees(check.std):.1f} degrees'
    return base.with_arm(replace(base.arm, gravity=vector), Step(
        'gravity_direction', (),
        f'the stated gravity is {degrees} off: the data give {text} in the base frame',
        'correct "gravity" of the arm if it is mounted on its side'))


def _at_motors(base: Hypothesis, change: Array) -> TrialSamples:
    """Mix positions where they are measured, and their derivatives with them."""
    samples, drive = base.samples, base.arm.drive
    rates = replace(drive, offset=np.zeros(base.arm.n))
    qd, qdd = (joint_velocity(motor_position(x, rates) @ change, drive)
               for x in (samples.qd, samples.qdd))
    q = joint_position(motor_position(samples.q, drive) @ change, drive)
    return replace(samples, q=q, qd=qd, qdd=qdd)


def _shifted(base: Hypothesis, joint: int, angle: float) -> Hypothesis:
    q = base.samples.q.copy()
    q[:, joint] += angle
    return base.with_samples(replace(base.samples, q=q), Step(
        'position_zero', (joint,),
        f'the zero of {names(base.arm, [joint])} seems to be off by {np.degrees(-angle):.0f} '
        'degrees', 'calibrate it, or identify with --joint-offsets'))
