# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uniformly sampled stretches of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dynid_ros.data.recordings import quality, stamp_checks
from dynid_ros.data.recordings.lost_values import longest_gap, splined
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.recordings.warmth import Warmth
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks, steps_where

# Bounds for the interpolation of samples, live and in batch. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Largest ratio of uniform to measured samples. It is two if half of the samples are lost. Stamps
#: in bursts have a high rate within them, at which uniform samples would fill memory.
FILLED_SAMPLES = 50.0


@dataclass(frozen=True)
class Segment:
    """
    One stretch without gaps at a constant rate.

    Attributes
    ----------
    t : (N,) ndarray
        Time since the start of the recording, s.
    q, u : (N, n) ndarray
        Positions, and the drive signal as recorded.
    warmth : Warmth or None
        Warmth of the joints; if None, they are cold at the beginning of the stretch.
    source : str
        File of the recording.

    """

    t: Array
    q: Array
    u: Array
    warmth: Warmth | None = None
    source: str = 'recording'


def sample_rate(recording: Recording) -> float:
    """Median rate of a recording, Hz; raise RecordingError for a single sample."""
    t = recording.t
    if len(t) < 2:
        raise RecordingError(
            f'{recording.source}: a single sample has no rate; record for longer, or keep a '
            'larger part from the fit')
    step, mean = recording.step, float(t[-1] - t[0]) / (len(t) - 1)
    # Stamps after hours are rounded, and so is their median step; this error adds up.
    rounded = abs(mean - step) <= 2 * np.spacing(max(abs(t[0]), abs(t[-1])))
    if rounded and abs(mean - step) * len(t) > stamp_checks.OFF_GRID_PERIODS * step:
        step = mean
    return 1 / step


def uniform_segments(
    recording: Recording, rate_hz: float, delay: float = 0.0,
) -> tuple[Segment, ...]:
    """
    Cut a recording at its gaps and resample each stretch to a uniform rate.

    Parameters
    ----------
    recording : Recording
        Recording with increasing stamps.
    rate_hz : float
        Target rate.
    delay : float
        Lag of the drive signal behind the motion, s, by which it is advanced.

    Returns
    -------
    tuple of Segment
        Stretches of at least the shortest length of a recording. Uniform samples are kept; others
        are interpolated by cubic splines.

    Raises
    ------
    RecordingError
        Every stretch between gaps is too short, or the stamps come in bursts.

    """
    return tuple(
        _uniform(recording, stretch, rate_hz, delay) for stretch in _stretches(recording, rate_hz))


def longest_segment(recordings: Sequence[Recording], rate_hz: float) -> Segment:
    """Return the longest of the `uniform_segments` of several recordings."""
    return max((segment for recording in recordings
                for segment in uniform_segments(recording, rate_hz)),
               key=lambda segment: len(segment.t))


def _stretches(recording: Recording, rate_hz: float) -> list[slice]:
    """Cut a recording at its gaps, and drop stretches that are too short."""
    t, shortest, longest = recording.t, quality.SHORTEST_RECORDING_SECONDS, longest_gap(rate_hz)
    breaks = 1 + steps_where(t, lambda step: step > longest)
    edges = [0, *breaks.tolist(), len(t)]
    stretches = [slice(a, b) for a, b in pairwise(edges) if t[b - 1] - t[a] >= shortest]
    kept = sum(float(t[s.stop - 1] - t[s.start]) for s in stretches)
    if kept * rate_hz > FILLED_SAMPLES * len(t):
        raise RecordingError(
            f'{recording.source}: its stamps come in bursts, {rate_hz:.4g} Hz within them and '
            f'{len(t) / kept:.4g} Hz on average; let the driver stamp')
    if not stretches:
        raise RecordingError(f'{recording.source}: no stretch of {shortest:g} s without a gap in '
                             'its stamps or values; record again')
    return stretches


def _uniform(recording: Recording, stretch: slice, rate_hz: float, delay: float) -> Segment:
    t, q, u = (x[stretch] for x in (recording.t, recording.q, recording.u))
    samples = int((t[-1] - t[0]) * rate_hz + stamp_checks.OFF_GRID_PERIODS) + 1
    grid = t[0] + np.arange(samples) / rate_hz
    off = stamp_checks.OFF_GRID_PERIODS / rate_hz
    same = len(grid) == len(t) and all(
        np.abs(grid[part] - t[part]).max() < off for part in blocks(len(t)))
    if not same:
        q = _interpolate(t, q, grid)
    if not same or delay:
        u = _interpolate(t, u, np.clip(grid + delay, t[0], t[-1]))
    return Segment(grid, q, u, recording.warmth, recording.source)


def _interpolate(t: Array, x: Array, times: Array) -> Array:
    """Interpolate samples of n joints at other times by cubic splines."""
    # Joint by joint, because the solver would copy all samples.
    return np.column_stack([splined(t, column, times) for column in x.T])
