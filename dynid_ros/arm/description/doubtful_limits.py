# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Implausible limits of a robot's description, and the values taken instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.description.tree import Description, JointLimits
from dynid_ros.utilities.arrays import Array

#: Taken if a description states no limit, rad/s or m/s and rad/s² or m/s²: cautious for an arm
#: beside a person.
DEFAULT_VELOCITY = 2.0
DEFAULT_ACCELERATION = 5.0
#: Largest effort limit, relative to the torque that would hold all moving mass stretched out from
#: its base. The arms of example-robot-data 6.0 have up to 15 (a hand); baxter's placeholder of 50
#: 000 Nm has some 200.
EFFORT_SHARE = 50.0
#: Largest velocity limit, rad/s or m/s. Fast arms and hands reach some 20.
LARGEST_VELOCITY = 100.0
#: Position limit of a revolute joint, rad, above which it counts as degrees: nearly five turns,
#: while cables allow less than two. 45 and 90 are degrees; the range of a winch is only narrowed.
LEAST_DEGREES = 30.0


def plausible_limits(read: Description) -> tuple[JointLimits, tuple[str, ...]]:
    """
    Replace implausible limits by unknown ones, and degrees by radians.

    Parameters
    ----------
    read : Description
        From a URDF.

    Returns
    -------
    limits : JointLimits
        Infinite where the description has a placeholder. Position limits that look like degrees
        are taken as such, which narrows them in any case.
    doubts : tuple of str
        One sentence a quantity; empty where all limits are plausible.

    """
    limits, doubts = _in_radians(read)
    for quantity, most in (
            ('effort', EFFORT_SHARE * holding_torque(read)),
            ('velocity', np.full(len(limits.velocity), LARGEST_VELOCITY))):
        values: Array = getattr(limits, quantity)
        absurd = np.isfinite(values) & (values > most)
        unknown = absurd | ~np.isfinite(values)
        if not unknown.any():
            continue
        limits = replace(limits, **{quantity: np.where(absurd, np.inf, values)})
        names = ', '.join(
            f'{name} ({value:g})' if far else name for name, value, far, none in zip(
                read.tree.joint_names, values, absurd, unknown, strict=True) if none)
        taken = 'no torque limit' if quantity == 'effort' else (
            f'{DEFAULT_VELOCITY:g} rad/s or m/s')
        doubts.append(f'no usable {quantity} limit for {names}; planned motions assume {taken}')
    return limits, tuple(doubts)


def _in_radians(read: Description) -> tuple[JointLimits, list[str]]:
    """Convert position limits that are implausible in rad from degrees."""
    limits, sliding = read.limits, read.tree.prismatic[:len(read.limits.lower)]
    ends = np.stack([limits.lower, limits.upper])
    far = (np.isfinite(ends) & (np.abs(ends) >= LEAST_DEGREES)).any(axis=0) & ~sliding
    if not far.any():
        return limits, []
    # Infinity is the same in any unit.
    lower, upper = np.where(far, np.radians(ends), ends)
    names = ', '.join(
        f'{name} ({low:g} to {high:g})' for name, low, high, one in zip(
            read.tree.joint_names, limits.lower, limits.upper, far, strict=True) if one)
    return replace(limits, lower=lower, upper=upper), [
        f'the position limits of {names} look like degrees and are taken as such; correct them in '
        'the description, or limits.lower and upper in arm.yaml']


def holding_torque(read: Description) -> Array:
    """
    Bound (n,) on the torque that holds all moving links stretched out against gravity.

    It is one number for all revolute joints and one for all prismatic ones, so that a light wrist
    with a strong drive is plausible; infinite if the description has no masses.
    """
    tree = read.tree
    n = len(tree.joint_names)
    if read.inertial is None or not read.inertial[:, 0].sum() > 0:
        return np.full(n, np.inf)
    reach, moment = np.zeros(len(tree.parent)), 0.0
    for i in tree.order:
        carrier = tree.parent[i]
        own = 0.0 if carrier < 0 else reach[carrier] + np.linalg.norm(tree.translation[i])
        reach[i] = own
        mass, first_moment = read.inertial[i, 0], read.inertial[i, 1:4]
        moment += float(mass * own + np.linalg.norm(first_moment))
    weight = float(read.inertial[:, 0].sum())
    return 9.81 * np.where(tree.prismatic[:n], weight, moment)
