# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""From external torque to contact: noise of the stream, thresholds, tare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.contact.alarm_levels import (
    AlarmLevels,
    FEWEST_TAIL_VALUES,
    PIECE,
    tail_level,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Time over which the noise is averaged, s.
NOISE_SECONDS = 30.0
#: A contact ends once the torque has stayed below this share of the threshold for so long, s.
RELEASE, QUIET_SECONDS = 0.6, 0.15
#: Time over which the torque is averaged for a tare, s.
TARE = 0.5
#: Time above the threshold up to which a torque counts as noise, s: otherwise, noise would raise
#: the same alarm for ever.
SHORT = 0.1
#: Rows of the state: low-passed torque, mean torque, mean square of the noise; contact, samples
#: above its threshold and below its release; largest noise of the piece, and whether it is one of
#: a contact.
_LOW, _MEAN, _SQUARE, _TOUCHED, _ABOVE, _QUIET, _PEAK, _SPOILT = range(8)
#: Most pieces kept, ten minutes, and fewest needed, five seconds.
REMEMBERED_PIECES, NEEDED = 1200, 2 * FEWEST_TAIL_VALUES


class Judgement:
    """
    Decide on contact, joint by joint.

    The residual of the model is known within the band of its identification: it exceeds L standard
    deviations of the prediction at the wanted rate (see `AlarmLevels`). Noise beyond that band is
    measured in the stream, separately for motion and rest: the largest values of each `PIECE`
    without contact determine the level N that it exceeds at that rate. The threshold is
    ``sqrt(L² (sigma² + Var) + N²) + friction``, with Var from the covariance of the parameters.

    Parameters
    ----------
    levels : AlarmLevels
        Levels of the residual.
    cutoff_hz : float
        Band of the identification.
    rate_hz : float
        Rate of the samples.
    noise : StreamNoise
        Noise of the stream so far; updated.

    Attributes
    ----------
    offset : (n,) ndarray
        Torque that the tare subtracts, Nm.

    """

    def __init__(
        self, levels: AlarmLevels, cutoff_hz: float, rate_hz: float, noise: StreamNoise,
    ) -> None:
        n = len(levels.sigma)
        self.levels, self._noise = levels, noise
        self._gains = np.array([
            1 - np.exp(-2 * np.pi * cutoff_hz / rate_hz), 1 - np.exp(-1 / (TARE * rate_hz)),
            1.0, QUIET_SECONDS * rate_hz, SHORT * rate_hz])
        self._state = np.zeros((8, n))
        self.offset = np.zeros(n)
        self._piece, self._needed = round(PIECE * rate_hz), TARE * rate_hz
        self._seen, self._memory = 0, NOISE_SECONDS * rate_hz
        self._settled = self._in_piece = 0
        self._moves = self._moved = False

    def restart(self) -> None:
        """Begin a new stretch: keep noise and tare, end contacts."""
        self._state[[_LOW, _MEAN, _TOUCHED, _ABOVE, _QUIET, _PEAK, _SPOILT]] = 0.0
        self._settled = self._in_piece = 0

    @property
    def can_tare(self) -> bool:
        """Whether the mean torque is known."""
        return self._settled >= self._needed

    def tare(self) -> None:
        """Subtract the mean torque from now on."""
        self.offset = self._state[_MEAN].copy()
        self._state[[_TOUCHED, _ABOVE, _QUIET]] = 0.0

    def take(
        self, torque: Array, variance: Array, friction: Array, moving: NDArray[np.bool_],
    ) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """
        Judge the next samples.

        Parameters
        ----------
        torque, variance, friction : (m, n) ndarray
            From the observer.
        moving : (m, n) ndarray of bool
            Joints that are fast enough for their friction to be known.

        Returns
        -------
        torque : (m, n) ndarray
            External torque after the tare, Nm.
        std : (m, n) ndarray
            Its standard deviation without contact, Nm.
        threshold : (m, n) ndarray
            Magnitude from which on it is a contact, Nm; infinite while unknown.
        contact : (m, n) ndarray of bool
            Joints that feel one.

        """
        if not self._settled:
            self._state[:2] = torque[0]
        self._settled += len(torque)
        self._seen += len(torque)
        self._gains[2] = 1 / min(self._seen, self._memory)
        self._moves = self._moves or bool(moving.any())
        levels, noise = self.levels, self._noise.level(self._moves or self._moved)
        known = levels.sigma**2 + variance
        threshold = np.sqrt(levels.level**2 * known + noise**2) + friction
        contact = np.zeros(torque.shape, dtype=np.bool_)
        judge(torque, self.offset, friction, threshold, self._gains, self._state, contact)
        std = np.sqrt(levels.ratio**2 * known + self._state[_SQUARE] + friction**2 / 3)
        self._in_piece += len(torque)
        if self._in_piece >= self._piece:
            self._end_piece()
        return torque - self.offset, std, threshold, contact

    def _end_piece(self) -> None:
        """Learn from the noise of a piece, but not from the noise of a contact."""
        good = (self._state[_SPOILT] == 0) & (self._state[_TOUCHED] == 0)
        self._noise.add(self._moves or self._moved, self._state[_PEAK], good)
        self._state[[_PEAK, _SPOILT]] = 0.0
        self._in_piece = 0
        self._moved, self._moves = self._moves, False


@kernel
def judge(
    torque: Array, offset: Array, friction: Array, threshold: Array, gains: Array, state: Array,
    contact: NDArray[np.bool_],
) -> None:
    """
    Judge sample by sample.

    Parameters
    ----------
    torque, friction, threshold : (m, n) ndarray
        As in `Judgement.take`.
    offset : (n,) ndarray
        Tare.
    gains : (5,) ndarray
        Of the low-pass, of the mean and of the mean square; quiet and short time, samples.
    state : (8, n) ndarray
        As `Judgement` has it; updated.
    contact : (m, n) ndarray of bool
        Output.

    """
    for k in range(torque.shape[0]):
        for j in range(torque.shape[1]):
            now = torque[k, j]
            state[_LOW, j] += gains[0] * (now - state[_LOW, j])
            state[_MEAN, j] += gains[1] * (now - state[_MEAN, j])
            size = abs(now - offset[j])
            if size > threshold[k, j]:
                state[_TOUCHED, j], state[_QUIET, j] = 1.0, 0.0
                state[_ABOVE, j] += 1.0
            elif size < RELEASE * threshold[k, j]:
                state[_QUIET, j] += 1.0
                if state[_QUIET, j] >= gains[3] and state[_TOUCHED, j] > 0.0:
                    state[_TOUCHED, j] = state[_ABOVE, j] = 0.0
                    # The low-pass still holds the contact, which would count as noise.
                    state[_LOW, j] = now
            else:
                state[_QUIET, j] = 0.0
            fast = max(abs(now - state[_LOW, j]) - friction[k, j], 0.0)
            if state[_ABOVE, j] > gains[4]:
                state[_SPOILT, j] = 1.0
            else:
                state[_PEAK, j] = max(state[_PEAK, j], fast)
            if state[_TOUCHED, j] > 0.0:
                contact[k, j] = True
            else:
                state[_SQUARE, j] += gains[2] * (fast * fast - state[_SQUARE, j])


class StreamNoise:
    """
    Largest values of the last pieces of motion, and of the last pieces of rest.

    Motor torque ripples while an arm moves, and encoders are quiet while it rests: the noise of
    one does not predict that of the other. Divided by the mean of their joint, the values of all
    joints form one tail, as in `AlarmLevels`.

    Parameters
    ----------
    joints : int
        n.
    rate : float
        Wanted rate at which a joint exceeds its level, 1/s.

    """

    def __init__(self, joints: int, rate: float) -> None:
        self.rate = rate
        # Of rest and motion; NaN for a joint in contact.
        self._peaks = np.full((2, REMEMBERED_PIECES, joints), np.nan)
        self._count = [0, 0]
        self._levels = np.full((2, joints), np.inf)

    def level(self, moving: bool) -> Array:
        """Level of each joint, (n,), Nm; infinite until enough is known."""
        return np.asarray(self._levels[int(moving)])

    def add(self, moving: bool, peaks: Array, good: NDArray[np.bool_]) -> None:
        """
        Take in one piece of the stream.

        Parameters
        ----------
        moving : bool
            Whether the arm moved.
        peaks : (n,) ndarray
            Largest value of each joint, Nm.
        good : (n,) ndarray of bool
            Joints that felt no contact.

        """
        kind = int(moving)
        own = self._peaks[kind]
        own[self._count[kind] % REMEMBERED_PIECES] = np.where(good, peaks, np.nan)
        self._count[kind] += 1
        there = np.isfinite(own)
        enough = there.sum(axis=0) >= NEEDED
        if enough.any():
            usual = np.nanmean(own[:, enough], axis=0)
            relative = own[:, enough] / np.where(usual > 0, usual, 1.0)
            self._levels[kind, enough] = usual * tail_level(
                relative[there[:, enough]], PIECE, self.rate)
