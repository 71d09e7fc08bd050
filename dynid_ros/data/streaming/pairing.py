# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint states and a drive signal from a topic of its own, as one stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.utilities.arrays import Array

Stamps = NDArray[np.int64]

#: Longest time between two signals around a joint state, ns: equal to the longest interpolated gap
#: of joint states.
GAP_NS = round(1e9 * stamp_checks.GAP_SECONDS)
#: Longest time by which one stream may be behind the other, ns.
LONGEST_WAIT_NS = 2_000_000_000
#: Step back of a stamp above which the clock was set back, ns.
STEP_BACK_NS = 500_000_000


class Pairing:
    """
    The drive signal at the stamps of the joint states.

    A joint state gets the signal of the same stamp, or else one interpolated linearly between two
    signals within `GAP_NS` of each other. All others are left out.
    Live or from a recording, the same messages in the same order give the same samples, in
    portions of any size.

    Parameters
    ----------
    width, joints : int
        Number of values of a joint state w, and of drive signals n.

    Attributes
    ----------
    unpaired : int
        Joint states that were left out.
    late : int
        Signals that were left out because their stamp was not after the one before.

    """

    def __init__(self, width: int, joints: int) -> None:
        self._width, self._n = width, joints
        self._done: list[tuple[Stamps, Array, Array]] = []
        self._new = 0
        self._last = -STEP_BACK_NS
        self.unpaired = self.late = 0
        self._newest: int | None = None
        self._clear()

    def __len__(self) -> int:
        """Joint states since the last `take`."""
        return self._new

    def add_state(self, stamp: int, p: Array) -> None:
        """Take in the values (w,) of a joint state with their stamp, ns."""
        self._new += 1
        if stamp < self._last - STEP_BACK_NS:
            self._restart()
        self._last = stamp
        if self._newest is not None and stamp < self._newest - LONGEST_WAIT_NS:
            self.unpaired += 1
            return
        self._states.append((stamp, p))

    def add_signal(self, stamp: int, u: Array) -> None:
        """Take in signals (n,) with their stamp, ns."""
        if self._newest is not None and stamp <= self._newest:
            if stamp >= self._newest - STEP_BACK_NS:
                self.late += 1
                return
            self._restart()
        self._newest = stamp
        self._signals.append((stamp, u))

    def take(self) -> tuple[Stamps, Array, Array]:
        """Return the complete samples: stamps (k,), ns, values (k, w) and signals (k, n)."""
        self._pair()
        stamps, p, u = zip(*self._done, strict=True)
        self._done, self._new = [], 0
        return np.concatenate(stamps), np.concatenate(p), np.concatenate(u)

    def close(self) -> None:
        """Count joint states that still wait for a signal as left out."""
        self._pair()
        self._restart()

    def _clear(self) -> None:
        self._states: list[tuple[int, Array]] = []
        self._signals: list[tuple[int, Array]] = []
        self._known = _columns([], self._n)
        self._newest = None

    def _restart(self) -> None:
        """Restart after a step of a clock: stamps before and after it do not compare."""
        self._pair()
        self.unpaired += len(self._states)
        self._clear()

    def _pair(self) -> None:
        """Decide on the joint states that are not later than the newest signal."""
        stamps, p = _columns(self._states, self._width)
        new = _columns(self._signals, self._n)
        times = np.concatenate([self._known[0], new[0]])
        u = np.concatenate([self._known[1], new[1]])
        self._signals = []
        newest = -1 if self._newest is None else self._newest
        # Keep the last signal before any state to come, and later ones.
        first = max(0, int(np.searchsorted(times, newest - LONGEST_WAIT_NS)) - 1)
        self._known = times[first:], u[first:]
        ready = stamps <= newest
        gone = ~ready & (np.abs(stamps - self._last) > LONGEST_WAIT_NS)
        self._states = [s for s, over in zip(self._states, ready | gone, strict=True) if not over]
        good, values = interpolated(stamps[ready], times, u)
        self.unpaired += int(gone.sum() + (~good).sum())
        self._done.append((stamps[ready][good], p[ready][good], values[good]))


def interpolated(stamps: Stamps, times: Stamps, u: Array) -> tuple[NDArray[np.bool_], Array]:
    """
    Signals at other stamps.

    Parameters
    ----------
    stamps : (k,) ndarray of int64
        Stamps at which to interpolate, ns; none later than all signals.
    times : (m,) ndarray of int64
        Stamps of the signals, ascending, ns.
    u : (m, n) ndarray
        Signals.

    Returns
    -------
    known : (k,) ndarray of bool
        Whether there is a signal at that stamp, or one on both sides within `GAP_NS`.
    u : (k, n) ndarray
        Signals where known.

    """
    if not len(times):
        return np.zeros(len(stamps), dtype=np.bool_), np.zeros((len(stamps), u.shape[1]))
    after = np.searchsorted(times, stamps)
    before = np.maximum(after - 1, 0)
    exact = times[after] == stamps
    gap = times[after] - times[before]
    share = (stamps - times[before]) / np.maximum(gap, 1)
    between = u[before] + share[:, None] * (u[after] - u[before])
    # The signal itself where the stamps agree, bit for bit, even beside a NaN neighbour.
    return exact | ((after > 0) & (gap <= GAP_NS)), np.where(exact[:, None], u[after], between)


def _columns(samples: list[tuple[int, Array]], width: int) -> tuple[Stamps, Array]:
    stamps = np.array([stamp for stamp, _ in samples], dtype=np.int64)
    return stamps, np.array([values for _, values in samples], dtype=float).reshape(-1, width)
