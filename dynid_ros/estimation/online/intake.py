# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check the samples of a session, convert them to joint positions, and keep count and hash."""

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
    Samples of one session, checked and counted.

    Parameters
    ----------
    arm : ArmModel
        The arm.

    Attributes
    ----------
    samples : int
        Samples taken in so far.
    span : (2,) ndarray of int64
        Stamps of the first and the last sample, ns.
    digest : hashlib.sha256
        Hash of all samples; after `restore`, it starts from the saved hash.

    """

    saved = ('samples', 'span', '_signal')

    def __init__(self, arm: ArmModel) -> None:
        self._arm, self.samples, self.span = arm, 0, np.zeros(2, dtype=np.int64)
        self._signal = np.array([[np.inf], [-np.inf]]).repeat(arm.n, axis=1)
        self.digest = hashlib.sha256()

    def take(
        self, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
    ) -> tuple[Array, Array, Array]:
        """
        Check and count samples, if there are any.

        Parameters
        ----------
        stamps : (k,) ndarray of int64
            Times since any fixed moment, ns.
        name : str
            ``q`` for positions of the joints, ``p`` for positions of the encoders.
        positions, signals : (k, n) array_like
            Positions, and drive signals, in the order of the joints.

        Returns
        -------
        t : (k,) ndarray
            Times since the first sample of the session, s.
        q, u : (k, n) ndarray
            Positions of the joints, rad or m, and drive signals.

        Raises
        ------
        InputError
            An argument has another shape.

        """
        if not len(stamps):
            none = np.zeros((0, self._arm.n))
            return np.zeros(0), none, none
        q, u = (as_numbers(each, value, 2, self._arm.n)
                for each, value in ((name, positions), ('u', signals)))
        if not len(stamps) == len(q) == len(u):
            raise InputError(
                f'stamps, {name} and u must have the same number of rows, but have '
                f'{len(stamps)}, {len(q)} and {len(u)}')
        if name == 'p':
            q = joint_position(q, self._arm.drive)
        if self._arm.drive.passive is not None:
            u = np.where(self._arm.drive.passive & ~np.isfinite(u), 0.0, u)
        if not self.samples:
            self.span[:] = stamps[0]
        self.span[1] = stamps[-1]
        self.samples += len(stamps)
        t = (stamps - self.span[0]) * 1e-9
        self.digest.update(sample_bytes(t, q, u))
        self._signal[0] = np.fmin(self._signal[0], np.fmin.reduce(u))
        self._signal[1] = np.fmax(self._signal[1], np.fmax.reduce(u))
        return t, q, u

    def dead_signals(self, moved: NDArray[np.bool_]) -> tuple[Finding, ...]:
        """Report moved joints whose drive signal never changes, and signals without a drive."""
        (low, high), driven = self._signal, self._arm.drive.driven
        dead = tuple(
            Finding('effort_dead', unmeasured(name, self._arm.drive.signal, value),
                    measured_or_passive(name, self._arm.drive.signal, value), (name,))
            for name, value, still in zip(
                self._arm.joint_names, low.tolist(), (low == high) & moved & driven, strict=True)
            if still)
        largest = np.maximum(-low, high)
        return dead + tuple(
            Finding(*driven_passively(name, self._arm.drive.signal, value), (name,))
            for name, value, wrong in zip(
                self._arm.joint_names, largest.tolist(), ~driven & (largest > NO_SIGNAL),
                strict=True) if wrong)

    def state(self) -> State:
        """Return the state with the hash, as arrays for ``np.savez``."""
        return {**super().state(), 'digest': np.frombuffer(self.digest.digest(), dtype=np.uint8)}

    def restore(self, state: State) -> None:
        """Go on from a saved state."""
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
