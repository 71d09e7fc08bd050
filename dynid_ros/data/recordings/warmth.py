# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Warmth of joints: their root mean square speed over the last seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import WARM_SECONDS
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel
from dynid_ros.utilities.in_blocks import blocks

#: Time step of the warmth, s: short compared with `WARM_SECONDS`, and long enough for speeds from
#: differences of unfiltered positions.
WARMTH_STEP_SECONDS = 0.1
#: Number of steps that a stream keeps for filters that lag: at least ten seconds.
KEPT_STEPS = 100


@dataclass(frozen=True, eq=False)
class Warmth:
    """
    Root mean square of the speed of each joint over the last `WARM_SECONDS`.

    A first-order low-pass filters the square of the speed, which determines how friction heats and
    softens grease. Before a recording, joints count as cold.

    Attributes
    ----------
    t : (B,) ndarray
        Times from which each value holds, s.
    value : (B, n) ndarray
        rad/s or m/s.

    References
    ----------
    Simoni, Beschi, Legnani and Visioli 2017, Modelling the temperature in joint friction of
    industrial manipulators, Robotica: friction follows a temperature that no sensor measures.

    """

    t: Array
    value: Array

    def at(self, t: Array) -> Array:
        """Return the warmth (N, n) at ascending times (N,)."""
        places = np.searchsorted(self.t, t, side='right') - 1
        return self.value[np.clip(places, 0, None)]


def warmth_of(t: Array, q: Array) -> Warmth:
    """
    Compute the warmth of joints through a recording.

    Parameters
    ----------
    t : (N,) ndarray
        Ascending stamps, s.
    q : (N, n) ndarray
        Positions, rad or m.

    """
    edges = _steps(t)
    times, positions = t[edges], q[edges]
    squares = np.zeros(positions.shape)
    update_mean_squares(times, positions, squares)
    return Warmth(times, np.sqrt(squares))


class RunningWarmth(Checkpointed):
    """
    Warmth of joints in a stream, which may be requested for earlier samples.

    Parameters
    ----------
    joints : int
        n.

    Attributes
    ----------
    last : (0 or 1, 1 + n) ndarray
        Stamp and positions of the sample at which the warmth changed last.
    times : (B,) ndarray
        Times from which the last values hold.
    squares : (B, n) ndarray
        Mean square speeds from then on.

    """

    saved = ('last', 'times', 'squares')

    def __init__(self, joints: int) -> None:
        self.last = np.zeros((0, 1 + joints))
        self.times = np.zeros(1)
        self.squares = np.zeros((1, joints))

    def take(self, t: Array, q: Array) -> None:
        """Process the next samples, (k,) and (k, n), as recorded."""
        if not len(t):
            return
        if len(self.last) and t[0] <= self.last[0, 0]:
            # The clock was set; the joints are as warm as before.
            self.last = self.last[:0]
        if not len(self.last):
            self.times, self.squares = t[:1].copy(), self.squares[-1:]
        samples = np.concatenate([self.last, np.column_stack([t, q])])
        edges = _steps(samples[:, 0])
        self.last = samples[edges[-1:]]
        squares = np.zeros((len(edges), q.shape[1]))
        squares[0] = self.squares[-1]
        times, positions = samples[edges, 0], np.ascontiguousarray(samples[edges, 1:])
        update_mean_squares(times, positions, squares)
        self.times = np.append(self.times, times[1:])[-KEPT_STEPS:]
        self.squares = np.concatenate([self.squares, squares[1:]])[-KEPT_STEPS:]

    def at(self, t: Array) -> Array:
        """Return the warmth (k, n) at times (k,), at most `KEPT_STEPS` steps ago."""
        return Warmth(self.times, np.sqrt(self.squares)).at(t)


def _steps(t: Array) -> NDArray[np.int64]:
    """Find samples at least `WARMTH_STEP_SECONDS` after the previous one, including the first."""
    found, last = list[NDArray[np.int64]](), -np.inf
    for part in blocks(len(t)):
        # A copy, because a read-only array would require another compilation of the kernel.
        times, edges = np.array(t[part]), np.zeros(part.stop - part.start, dtype=np.int64)
        edges = edges[:find_steps(times, last, edges)]
        last = times[edges[-1]] if len(edges) else last
        found.append(part.start + edges)
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


@kernel
def find_steps(t: Array, last: float, edges: NDArray[np.int64]) -> int:
    """Write the samples (B,) that `_steps` finds among times (N,) after the last; return B."""
    count = 0
    for k in range(t.size):
        if t[k] >= last + WARMTH_STEP_SECONDS:
            edges[count], last = k, t[k]
            count += 1
    return count


@kernel
def update_mean_squares(t: Array, q: Array, squares: Array) -> None:
    """
    Update the mean square speed from each time to the next.

    Parameters
    ----------
    t : (B,) ndarray
        Times, s.
    q : (B, n) ndarray
        Positions there.
    squares : (B, n) ndarray
        Mean square speeds; the first row is input, the others are output.

    """
    for k in range(1, len(t)):
        step = t[k] - t[k - 1]
        kept = np.exp(-step / WARM_SECONDS)
        for j in range(q.shape[1]):
            speed = (q[k, j] - q[k - 1, j]) / step
            squares[k, j] = kept * squares[k - 1, j] + (1 - kept) * speed * speed
