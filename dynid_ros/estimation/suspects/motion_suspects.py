# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Suspects that change the motion: order, sign and unit of positions, and axes of joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from dynid_ros.arm.drive import joint_position, joint_velocity, motor_position
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.suspects.suspect import (
    exchange,
    factor_suspects,
    Fault,
    moving_together,
    names,
    Suspect,
)
from dynid_ros.utilities.arrays import Array


def exchanged_positions(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """
    Exchange the positions of each pair of joints, with and without their drive signals.

    Without them, only those of joints that move together.
    """
    together = set(moving_together(base, joints))
    for pair in combinations(joints, 2):
        change = exchange(base.arm.n, pair)
        moved = _at_motors(base, change)
        alone = base.refitted(Fault(
            'position_exchanged', pair,
            f'the positions of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the position columns, or the names in the messages'),
            samples=replace(moved, moving=moved.moving @ change > 0))
        if pair in together:
            yield alone
        both = alone.with_signals(change, Fault(
            'joint_exchanged', pair,
            f'positions and drive signals of {names(base.arm, pair)} seem to be exchanged',
            'give the columns in the order of the joints in arm.yaml: arrays have no names',
            typical=True))
        yield replace(both, faults=(*base.faults, both.fault))


def reversed_positions(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Reverse the position of each joint, with and without its drive signal."""
    for joint in joints:
        change = np.eye(base.arm.n)
        change[joint, joint] = -1
        alone = base.refitted(Fault(
            'position_sign', (joint,),
            f'the position of {names(base.arm, [joint])} seems to have the wrong sign',
            'reverse it in the driver, or the axis of the joint in the description'),
            samples=_at_motors(base, change))
        yield alone
        both = alone.with_signals(change, Fault(
            'axis_reversed', (joint,),
            f'the axis of {names(base.arm, [joint])} seems to point the other way: position and '
            'drive signal have the wrong sign', 'reverse the axis in the description',
            typical=True))
        yield replace(both, faults=(*base.faults, both.fault))


def other_time_axes(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """
    Let the motion take another time than its stamps, unless a clock made these.

    Recorded velocities confirm no stamps: many are differentiated from the positions.
    """
    if joints and not base.samples.timed:
        yield from factor_suspects(partial(_with_time, base))


def _with_time(base: Suspect, size: Array) -> Suspect:
    samples, factor = base.samples, float(np.exp(size[0]))
    return base.refitted(Fault(
        'time_axis', (), f'the stamps seem to cover {factor:.3g} times the time of the motion',
        'check the stamps, or rate_hz of arm.yaml'),
        samples=replace(samples, qd=factor * samples.qd, qdd=factor**2 * samples.qdd,
                        period=samples.period / factor))


def positions_in_millimetres(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Convert the position of each sliding joint from mm."""
    for joint in [each for each in joints if base.arm.prismatic[each]]:
        change = np.eye(base.arm.n)
        change[joint, joint] = 1e-3
        yield base.refitted(Fault(
            'position_unit', (joint,),
            f'the position of {names(base.arm, [joint])} seems to be in mm instead of m',
            'convert it to m', typical=True), samples=_at_motors(base, change))


def _at_motors(base: Suspect, change: Array) -> TrialSamples:
    """
    Mix positions and their derivatives at the motors, where they are measured.

    The bend of a contact follows its position; a scale of it is one of its coefficient.
    """
    samples, drive = base.samples, base.arm.drive
    rates = replace(drive, offset=np.zeros(base.arm.n))
    qd, qdd, bend = (joint_velocity(motor_position(x, rates) @ change, drive)
                     for x in (samples.qd, samples.qdd, samples.bend))
    q = joint_position(motor_position(samples.q, drive) @ change, drive)
    return replace(samples, q=q, qd=qd, qdd=qdd, bend=bend)
