# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Standstill of joints, where static friction makes the torque unpredictable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array, runs_of
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.in_blocks import finite_span

# Bounds of standstill, live and in batch. Measured figures come from benchmarks/thresholds.py:
# real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Speed below which a joint stands still, relative to its top speed. Rest with encoder noise of
#: 1e-5 rad stays below 1e-4. The slowest quarter second of good motions is at 5e-4 to 0.22, so
#: slow reversals may count as standstill.
STILL_SHARE = 0.005
#: Speed below which it stands still in any case, rad/s or m/s. Encoder noise of 1e-5 rad after a
#: 5 Hz low-pass causes 6e-4 rad/s.
STANDSTILL_SPEED = 1e-3
#: Shortest standstill, s. Most reversals pass through zero faster; slow ones, below that speed for
#: up to 0.94 s, count as standstill.
SHORTEST_STANDSTILL_SECONDS = 0.25
#: Share of a standstill in the low-pass (sum of absolute coefficients) beyond which it spoils a
#: row. The geometric mean of the cross-validated errors of real recordings (UR10, Panda, TX40 and
#: five field arms, at 5 Hz) is 2 % lower than with 0.5, and within 1 % of that with 0.02 and 0.1.
#: With zero, too few rows remain at 2 Hz (8 % more error).
SPOILED_WEIGHT = 0.05
#: Shortest rest of all joints that does not belong to the motion, s. An arm rests less between two
#: points of a motion, and more while an operator ends the recording. Reversals stay below 2 % of
#: the top speed for 1.8 s at most.
LONG_PAUSE = 2.0


def still_below(top: Array) -> Array:
    """Speed below which joints stand still, given their top speed, rad/s or m/s."""
    return np.asarray(np.maximum(STILL_SHARE * top, STANDSTILL_SPEED))


def spoiled_beside(decimator: Decimator) -> int:
    """Return the number of samples next to a standstill without rows; see `SPOILED_WEIGHT`."""
    share = np.abs(decimator.taps).cumsum()
    return decimator.reach - int(np.searchsorted(share, SPOILED_WEIGHT * share[-1]))


def moving(
    qd: Array, rate_hz: float, shortest: float = SHORTEST_STANDSTILL_SECONDS, beside: int = 0,
) -> NDArray[np.bool_]:
    """
    Detect motion and standstill, joint by joint.

    The torque of a joint at rest may be anything within its static friction. So it is not
    predictable, nor is a row into which the low-pass spreads it. Short passages through zero
    velocity count as motion.

    Parameters
    ----------
    qd : (N, n) ndarray
        Low-passed velocities, rad/s or m/s.
    rate_hz : float
        Sample rate.
    shortest : float
        Shortest duration of a standstill, s.
    beside : int
        Samples before and after a standstill that count as part of it.

    Returns
    -------
    (N, n) ndarray of bool
        False where a joint stays below the speed of `still_below` for that duration.

    """
    lowest, highest = finite_span(qd)
    still = np.abs(qd) < still_below(np.maximum(-lowest, highest))
    _keep_long(still, int(shortest * rate_hz), beside)
    return ~still


def in_motion(q: Array, qd: Array, rate_hz: float, beside: int) -> NDArray[np.bool_]:
    """
    Detect the motion of joints in a stretch, (N, n) of bool.

    As `moving`, but a joint that others shake within its static friction is at rest, however fast.

    Parameters
    ----------
    q, qd : (N, n) ndarray
        Low-passed positions and velocities.
    rate_hz, beside
        As for `moving`.

    """
    return moving(qd, rate_hz, beside=beside) & moves(finite_span(q))


class RunningStandstill(Checkpointed):
    """
    Detects standstill in a stream, as `in_motion` does in a recording.

    It is detected after its shortest duration, relative to the top speed and the range so far.

    Parameters
    ----------
    joints : int
        Number of joints n.

    Attributes
    ----------
    top : (n,) ndarray
        Highest speed of each joint so far, rad/s or m/s.
    span : (2, n) ndarray
        Its lowest and highest position so far, rad or m.
    slow : (m, n) ndarray of bool
        Marks of slow samples among the last ones.

    """

    saved = ('top', 'span', 'slow')

    def __init__(self, joints: int) -> None:
        self.top = np.zeros(joints)
        self.span = np.array([[np.inf], [-np.inf]]).repeat(joints, axis=1)
        self.slow = np.zeros((0, joints), dtype=np.bool_)

    def design(self, decimator: Decimator, rate_hz: float) -> None:
        """Set the low-pass of the rows, and the rate of the samples."""
        self._decimator, self._beside = decimator, spoiled_beside(decimator)
        self._least = int(SHORTEST_STANDSTILL_SECONDS * rate_hz)

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.slow = self.slow[:0]

    def take(self, q: Array, qd: Array) -> None:
        """Add the next low-passed positions and velocities, (k, n)."""
        speed = np.abs(qd)
        self.top = np.maximum(self.top, speed.max(axis=0))
        self.span = np.array([np.minimum(self.span[0], q.min(axis=0)),
                              np.maximum(self.span[1], q.max(axis=0))])
        slow = (speed < still_below(self.top)) | ~moves((self.span[0], self.span[1]))
        # Rows may lie twice the reach back, and a standstill may begin even earlier.
        kept = 3 * self._decimator.reach + self._least
        self.slow = np.concatenate([self.slow[-kept:], slow])

    def moving(self, rows: int, waiting: int) -> NDArray[np.bool_]:
        """
        Return whether joints move in the last rows.

        Parameters
        ----------
        rows : int
            Number of rows m.
        waiting : int
            Number of samples buffered in the low-pass, which excludes the latest one.

        Returns
        -------
        (m, n) ndarray of bool
            False for a standstill at the row or next to it.

        """
        _keep_long(still := self.slow.copy(), self._least, self._beside)
        low_pass = self._decimator
        back = low_pass.step * np.arange(rows, 0, -1)
        return ~still[len(still) - 1 - waiting + low_pass.reach - back]


def _keep_long(slow: NDArray[np.bool_], least: int, beside: int) -> None:
    """Keep only runs of marks (N, n) of a least length, extended to both sides, in place."""
    for column in slow.T:
        runs = runs_of(column)
        column[:] = False
        for start, stop in runs[runs[:, 1] - runs[:, 0] >= least]:
            column[max(start - beside, 0):stop + beside] = True


def time_in_motion(t: Array, q: Array) -> Array:
    """
    Count the time in which any joint moves.

    Parameters
    ----------
    t : (N,) ndarray
        Increasing stamps, s.
    q : (N, n) ndarray
        Positions as recorded, rad or m.

    Returns
    -------
    (N,) ndarray
        Seconds of motion since the start, without rests of all joints of at least `LONG_PAUSE`,
        judged by mean positions over `SHORTEST_STANDSTILL_SECONDS`. If no joint ever moves, all
        time counts.

    """
    return time_within(motion_windows(t, q), t)


def time_within(windows: tuple[Array, NDArray[np.bool_]] | None, t: Array) -> Array:
    """Return the `time_in_motion` at stamps (N,), given the `motion_windows` there."""
    if windows is None or not windows[1].any():
        return np.asarray(t - t[0])
    middle, moves = windows
    passed = np.concatenate([[0.0], np.cumsum(np.diff(middle) * moves.any(axis=1))])
    return np.asarray(np.interp(t, middle, passed))


def motion_windows(t: Array, q: Array) -> tuple[Array, NDArray[np.bool_]] | None:
    """
    Find the time windows in which each joint moves, by mean positions.

    Parameters
    ----------
    t, q
        As for `time_in_motion`.

    Returns
    -------
    edges : (W + 1,) ndarray
        Edges of the windows, from the first stamp to the last, s.
    moves : (W, n) ndarray of bool
        False in a standstill of at least `LONG_PAUSE`. None instead of both if there are too few
        samples.

    """
    # First sample of each nonempty window; the last stamp begins none.
    window = t[:-1] - t[0]
    window /= SHORTEST_STANDSTILL_SECONDS
    np.floor(window, out=window)
    first = np.append(0, 1 + np.flatnonzero(window[1:] != window[:-1]))
    if len(first) < 2:
        return None
    count = np.diff(np.append(first, len(t)))
    middle = np.add.reduceat(t, first) / count
    place = np.add.reduceat(q, first, axis=0) / count[:, None]
    speed = np.diff(place, axis=0) / np.diff(middle)[:, None]
    middle[[0, -1]] = t[[0, -1]]
    return middle, moving(speed, 1 / SHORTEST_STANDSTILL_SECONDS, LONG_PAUSE)
