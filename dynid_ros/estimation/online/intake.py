# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples of a session: checked, converted to joint positions, counted and hashed."""

from __future__ import annotations

import hashlib

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
from dynid_ros.estimation.blocks.preparation import sample_bytes
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State
from dynid_ros.utilities.inputs import as_numbers

#: Latest time that 64 bits hold in ns, in the year 2255, s.
LATEST_TIME = 9e9


class Intake(Checkpointed):
    """
    Check the samples of a session, convert them to joint positions, count and hash them.

    Parameters
    ----------
    arm : ArmModel
        The arm.

    Attributes
    ----------
    samples : int
        Samples so far.
    span : (2,) ndarray of int64
        Stamps of the first and the last sample, ns.
    signals : (2, n) ndarray
        Lowest and highest drive signal of each joint.

    """

    saved = ('samples', 'span', 'signals')

    def __init__(self, arm: ArmModel) -> None:
        self._arm = arm
        self.samples, self.span = 0, np.zeros(2, dtype=np.int64)
        self.signals = np.array([[np.inf], [-np.inf]]).repeat(arm.n, axis=1)
        # `restore` continues from the saved hash.
        self.digest = hashlib.sha256()

    def take(
        self, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
    ) -> tuple[Array, Array, Array]:
        """
        Take in samples.

        Parameters
        ----------
        stamps : (k,) ndarray of int64
            Their stamps, ns.
        name : str
            ``q`` for positions of the joints, ``p`` for positions of the encoders.
        positions, signals : (k, n) array_like
            Positions, and drive signals, in the order of the joints.

        Returns
        -------
        t : (k,) ndarray
            Times since the first sample, s.
        q, u : (k, n) ndarray
            Positions of the joints, rad or m, and drive signals.

        Raises
        ------
        InputError
            An argument has another shape.

        """
        drive = self._arm.drive
        q, u = (as_numbers(each, value, 2, self._arm.n)
                for each, value in ((name, positions), ('u', signals)))
        if not len(stamps) == len(q) == len(u):
            raise InputError(
                f'stamps, {name} and u must have the same number of rows, but have '
                f'{len(stamps)}, {len(q)} and {len(u)}')
        if name == 'p':
            q = joint_position(q, drive)
        if drive.passive is not None:
            u = np.where(drive.passive & ~np.isfinite(u), 0.0, u)
        if not self.samples:
            self.span[:] = stamps[0]
        self.span[1] = stamps[-1]
        self.samples += len(stamps)
        t = (stamps - self.span[0]) * 1e-9
        self.digest.update(sample_bytes(t, q, u))
        self.signals[0] = np.fmin(self.signals[0], np.fmin.reduce(u))
        self.signals[1] = np.fmax(self.signals[1], np.fmax.reduce(u))
        return t, q, u

    def dead_signals(self, moved: NDArray[np.bool_]) -> tuple[Finding, ...]:
        """Report moved joints (n,) whose drive signal never changes, and signals without drive."""
        arm, (lowest, highest) = self._arm, self.signals
        driven, signal = arm.drive.driven, arm.drive.signal
        dead = tuple(
            Finding('effort_dead', unmeasured(name, signal, value),
                    measured_or_passive(name, signal, value), (name,))
            for name, value, still in zip(
                arm.joint_names, lowest.tolist(), (lowest == highest) & moved & driven,
                strict=True)
            if still)
        largest = np.maximum(-lowest, highest)
        return dead + tuple(
            Finding(*driven_passively(name, signal, value), (name,))
            for name, value, wrong in zip(
                arm.joint_names, largest.tolist(), ~driven & (largest > NO_SIGNAL), strict=True)
            if wrong)

    def state(self) -> State:
        """Return the state, with the hash of the samples so far."""
        return {**super().state(), 'digest': np.frombuffer(self.digest.digest(), dtype=np.uint8)}

    def restore(self, state: State) -> None:
        """Continue from a saved state; further samples are hashed after the saved hash."""
        super().restore(state)
        self.digest = hashlib.sha256(state['digest'].tobytes())


def stamps_of(t: ArrayLike) -> NDArray[np.int64]:
    """Return times (k,) since any fixed moment, s, in ns; refuse those that are not in s."""
    stamps = as_numbers('t', t, 1)
    if not np.isfinite(stamps).all():
        raise InputError('t must be finite, but holds NaN or infinity')
    if (np.abs(stamps) > LATEST_TIME).any():
        raise InputError(f't must be in s, but is up to {stamps.max():g}; push_ns takes ns')
    return np.rint(1e9 * stamps).astype(np.int64)
