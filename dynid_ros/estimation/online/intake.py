# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check the samples of a session, convert them to joint positions, and find dead signals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.absurd_values import (
    driven_passively,
    measured_or_passive,
    NO_SIGNAL,
    unmeasured,
)
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import as_numbers

#: Latest time that 64 bits hold in ns, in the year 2255, s.
LATEST_TIME = 9e9


def joint_samples(
    arm: ArmModel, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
) -> tuple[Array, Array]:
    """
    Check samples, and convert them to joint positions.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    stamps : (k,) ndarray of int64
        Their stamps.
    name : str
        ``q`` for positions of the joints, ``p`` for positions of the encoders.
    positions, signals : (k, n) array_like
        Positions, and drive signals, in the order of the joints.

    Returns
    -------
    q, u : (k, n) ndarray
        Positions of the joints, rad or m, and drive signals.

    Raises
    ------
    InputError
        An argument has another shape.

    """
    q, u = (as_numbers(each, value, 2, arm.n)
            for each, value in ((name, positions), ('u', signals)))
    if not len(stamps) == len(q) == len(u):
        raise InputError(
            f'stamps, {name} and u must have the same number of rows, but have '
            f'{len(stamps)}, {len(q)} and {len(u)}')
    if name == 'p':
        q = joint_position(q, arm.drive)
    if arm.drive.passive is not None:
        u = np.where(arm.drive.passive & ~np.isfinite(u), 0.0, u)
    return q, u


def dead_signals(
    arm: ArmModel, lowest: Array, highest: Array, moved: NDArray[np.bool_],
) -> tuple[Finding, ...]:
    """
    Report moved joints whose drive signal never changes, and signals without a drive.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    lowest, highest : (n,) ndarray
        Range of the drive signal of each joint.
    moved : (n,) ndarray of bool
        Joints that have moved.

    """
    driven, signal = arm.drive.driven, arm.drive.signal
    dead = tuple(
        Finding('effort_dead', unmeasured(name, signal, value),
                measured_or_passive(name, signal, value), (name,))
        for name, value, still in zip(
            arm.joint_names, lowest.tolist(), (lowest == highest) & moved & driven, strict=True)
        if still)
    largest = np.maximum(-lowest, highest)
    return dead + tuple(
        Finding(*driven_passively(name, signal, value), (name,))
        for name, value, wrong in zip(
            arm.joint_names, largest.tolist(), ~driven & (largest > NO_SIGNAL), strict=True)
        if wrong)


def stamps_of(t: ArrayLike) -> NDArray[np.int64]:
    """Return times (k,) since any fixed moment, s, in ns; refuse those that are not in s."""
    stamps = as_numbers('t', t, 1)
    if not np.isfinite(stamps).all():
        raise InputError('t must be finite, but holds NaN or infinity')
    if (np.abs(stamps) > LATEST_TIME).any():
        raise InputError(f't must be in s, but is up to {stamps.max():g}; push_ns takes ns')
    return np.rint(1e9 * stamps).astype(np.int64)
