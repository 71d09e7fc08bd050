"""Rival explanations that change the motion or the arm: positions, gravity, geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm import load_arm, shipped_arms
from dynid_ros.arm.description.tree import KinematicTree
from dynid_ros.arm.drive import joint_position, joint_velocity, motor_position
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.diagnosis.gravity_direction import GravityCheck, LEAVE_OUT
from dynid_ros.estimation.diagnosis.hypothesis import exchange, Hypothesis, names, Step
from dynid_ros.estimation.diagnosis.joint_search import Search
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import within

#: Error of a joint zero that is tried first, and where halving it ends, rad.
ZERO, SETTLED = float(np.radians(12.0)), float(np.radians(1.0))
#: Errors of a zero below this are no wrong calibration, rad: encoders are set that well.
ZERO_BAND = float(np.radians(2.0))

#: Factor of a link length that is tried first, and where its steps end, as logarithms.
LENGTH, LENGTH_SETTLED = float(np.log(1.4)), 0.01
#: Lengths nearer to the stated one than this are no wrong description.
LENGTH_BAND = float(np.log(1.04))
#: Shortest offset between two joint frames that counts as a length, m.
SHORTEST = 0.01

#: Range of a joint without limits, rad: cables end what stops do not.
TURNS = 4 * np.pi
#: Interval between samples, by the usual one, from which a new stretch begins.
GAP = 3.0
#: Passes over the joints, and where the search for a start ends, rad.
PASSES, START_SETTLED = 2, float(np.radians(4.0))


def exchanged_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Exchange the positions of each pair of joints, alone and together with their signals."""
    for pair in combinations(base.joints.tolist(), 2):
        change = exchange(base.arm.n, pair)
        moved = _at_motors(base, change)
        alone = base.refitted(Step(
            'position_exchanged', pair,
            f'the positions of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the position columns, or the names in the messages'),
            samples=replace(moved, moving=moved.moving @ change > 0))
        yield alone
        yield replace(alone.with_signals(change, alone.steps[-1]), steps=(*base.steps, Step(
            'joint_exchanged', pair,
            f'positions and drive signals of {names(base.arm, pair)} seem to be exchanged',
            'give the columns in the order of the joints in arm.yaml: arrays have no names')))


def reversed_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Reverse the sign of the position of each joint."""
    for joint in base.joints.tolist():
        change = np.eye(base.arm.n)
        change[joint, joint] = -1
        yield base.refitted(Step(
            'position_sign', (joint,),
            f'the position of {names(base.arm, [joint])} seems to have the wrong sign',
            'reverse it in the driver, or the axis of the joint in the description'),
            samples=_at_motors(base, change))


def integrated_positions(base: Hypothesis) -> Iterator[Hypothesis]:
    """Take the positions for velocities, if their integrals stay within the joints' limits."""
    t = base.samples.t
    intervals = np.diff(t)
    broken = (intervals > GAP * np.median(intervals)) | (intervals <= 0)
    parts = np.split(np.arange(len(t)), np.flatnonzero(broken) + 1)
    area = np.concatenate([_integral(base.samples, part) for part in parts])
    limits = base.arm.limits
    width = np.fmin(np.where(base.arm.prismatic, np.inf, TURNS), limits.upper - limits.lower)
    if any((np.ptp(area[part], axis=0) > width)[base.joints].any() for part in parts):
        return
    start = np.zeros_like(area)
    best = _integrated(base, area + start)
    for _, joint, part in product(range(PASSES), base.joints.tolist(), parts):
        step = np.pi
        while step > START_SETTLED:
            step /= 2
            for way in (-step, step, 2 * step):
                beside = start.copy()
                beside[part, joint] += way
                other = _integrated(base, area + beside)
                if other.cost < best.cost:
                    best, start = other, beside
    yield best


def _offset_joints(base: Hypothesis) -> list[int]:
    lengths = np.linalg.norm(base.arm.translation, axis=1)
    long = (lengths > SHORTEST) & (base.arm.parent >= 0)
    return [int(x) for x in np.flatnonzero(long[:base.arm.n])]


def other_arms(base: Hypothesis) -> Iterator[Hypothesis]:
    """Try the kinematics of the shipped arms with the same joints."""
    for name, tree in _shipped_trees().items():
        if (len(tree.joint_names) == base.arm.n
                and np.array_equal(tree.prismatic, base.arm.tree.prismatic)):
            own = replace(tree, joint_names=base.arm.joint_names)
            yield base.refitted(Step(
                'other_arm', (), f"the recording seems to be one of the arm '{name}'",
                'give the description of the arm that was recorded'),
                arm=replace(base.arm, tree=own))


@cache
def _shipped_trees() -> dict[str, KinematicTree]:
    """Joints of the shipped arms, read once: each of many recordings is compared with them."""
    return {name: load_arm(name).tree for name in shipped_arms()}


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
        yield _with_gravity(base, vector, Step(
            'gravity_missing', (),
            f'the effort holds gravity torque although "gravity" of the arm is zero: the data '
            f'give [{text}]{other} in the base frame', 'correct "gravity" in arm.yaml'))
        return
    if check.elsewhere:
        degrees = within(np.degrees(check.angle), np.degrees(check.std), 'degrees')
        yield _with_gravity(base, vector, Step(
            'gravity_direction', (), f'the stated gravity is {degrees} off: the data give '
            f'[{text}]{other} in the base frame',
            'correct "gravity" of the arm if it is mounted on its side'))
    yield _with_gravity(base, np.zeros(3), Step(
        'gravity_removed', (), 'the effort holds no gravity torque', LEAVE_OUT))


def _with_gravity(base: Hypothesis, vector: Array, step: Step) -> Hypothesis:
    return base.refitted(step, arm=replace(base.arm, gravity=vector))


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
    return base.refitted(Step(
        'position_zero', (joint,),
        f'the zero of {names(base.arm, [joint])} seems to be off by {np.degrees(-angle):.0f} '
        'degrees', 'calibrate it, or identify with --joint-offsets'),
        samples=replace(base.samples, q=q))


def _stretched(base: Hypothesis, joint: int, logarithm: float) -> Hypothesis:
    translation = base.arm.translation.copy()
    translation[joint] *= np.exp(logarithm)
    millimetres = 1000 * np.linalg.norm(translation[joint])
    stated = 1000 * np.linalg.norm(base.arm.translation[joint])
    # The same parameters are a base of it, which takes longer to find than the rows.
    return base.refitted(Step(
        'link_length', (joint,),
        f'the offset of {names(base.arm, [joint])} from the joint before it seems to be '
        f'{millimetres:.0f} mm instead of {stated:.0f} mm',
        'compare the description with the data sheet of the arm'),
        base_parameters(base.arm).columns, arm=base.arm.with_tree(translation=translation))


ZEROS = Search(
    _shifted, lambda base: base.joints[~base.arm.prismatic[base.joints]].tolist(), (ZERO, -ZERO),
    (), 2 * ZERO, SETTLED, ZERO_BAND)
LENGTHS = Search(
    _stretched, _offset_joints, (LENGTH, -LENGTH), (), 2 * LENGTH, LENGTH_SETTLED, LENGTH_BAND)


def _integral(samples: TrialSamples, part: NDArray[np.intp]) -> Array:
    """Integrate the positions of one stretch, exact to the third order."""
    q, qd, h = samples.q[part], samples.qd[part], np.diff(samples.t[part])[:, None]
    steps = h * (q[1:] + q[:-1]) / 2 + h**2 * (qd[:-1] - qd[1:]) / 12
    return np.concatenate([np.zeros((1, q.shape[1])), steps.cumsum(axis=0)])


def _integrated(base: Hypothesis, q: Array) -> Hypothesis:
    own = base.samples
    return base.refitted(Step(
        'position_is_velocity', (), 'the positions seem to be velocities: their integrals stay '
        'within the limits of all joints', 'record positions', rough=True),
        samples=replace(own, q=q, qd=own.q, qdd=own.qd))
