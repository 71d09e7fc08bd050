# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of stamps: clocks that stop, go back, skip or jitter."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import finite_span, increases, steps, steps_where
from dynid_ros.utilities.text import counted

# Bounds of good stamps. Measured figures come from benchmarks/thresholds.py: real arms (UR10,
# Panda, TX40), simulated arms, and planted defects.

#: Largest share of samples whose stamps go back in time. A recording is good without a few late
#: messages, but not across a reset of the clock.
BACKWARDS_SHARE = 0.05
#: Largest share of samples that repeat a stamp. Beyond it, samples are lost or doubled throughout
#: the recording. Good recordings have none.
REPEATED_STAMPS = 0.05
#: Multiple of the median step from which a step is reported as a gap. Any network loses single
#: samples. Good recordings reach 1.03; two lost samples in a row cause 3.
GAP_STEPS = 2.5
#: Longest time over which signals are interpolated, s, live and in batch: half a period of 10 Hz,
#: about the highest frequency of the motion of arms. The longest step of a good recording is
#: 0.034 s, at 30 Hz.
GAP_SECONDS = 0.05
#: Largest deviation of the steps, root mean square, relative to the median step. Errors of
#: interpolated velocities grow in proportion. Good recordings reach 0.0024; stamps that are half a
#: period late on average start at 0.50.
JITTER = 0.3
#: Largest deviation of a stamp from the uniform grid, in sample periods, up to which samples are
#: used as they are. At 50 Hz, a thousandth of a period is 20 µs. Good recordings have 0 to 0.03,
#: so that some are interpolated.
OFF_GRID_PERIODS = 1e-3
#: Code of the defect that a clock was set during a recording.
CLOCK_SET = 'clock_set'
#: Code of samples that a reader repeats until the driver has measured again.
REPUBLISHED = 'samples_republished'


def usable(t: Array) -> bool:
    """Whether the clock advances at all."""
    lowest, highest = finite_span(t[:, None])
    return bool(highest[0] > lowest[0])


def only_increasing(recording: Recording) -> Recording:
    """
    Drop the fewest samples so that the stamps increase strictly, and report their number.

    One stamp that runs ahead costs its own sample only. The first of equal stamps is kept.
    """
    t = recording.t
    if increases(t) or not usable(t):
        return recording
    stamps = np.where(np.isfinite(t), t, -np.inf)
    keep = _increasing(stamps)
    before = np.maximum.accumulate(np.append(-np.inf, np.where(keep, stamps, -np.inf)))[:-1]
    repeated = ~keep & (t == before)
    same = ((recording.q[1:] == recording.q[:-1]) & (recording.u[1:] == recording.u[:-1])).all(1)
    differing = int(np.count_nonzero(repeated[1:] & ~same))
    other = (f'; {differing} hold other values, so the stamps are too coarse for the rate'
             if differing else '')
    return recording.take(keep, [
        *left_out(recording, repeated, 'stamps_repeated', REPEATED_STAMPS,
                  f'{{count}} of {{total}} samples repeat a stamp and are left out{other}; look '
                  'for a second publisher or a driver that stamps late.'),
        *backwards_defects(recording, ~keep & ~repeated)])


def _increasing(t: Array) -> NDArray[np.bool_]:
    """Mark the most samples (N,) whose stamps increase; of several choices, the earliest ones."""
    before = np.maximum.accumulate(np.append(-np.inf, t))[:-1]
    finite = t > -np.inf
    if (np.diff(t[finite]) >= 0).all():
        return np.asarray(t > before)
    after = np.minimum.accumulate(np.append(np.where(finite, t, np.inf), np.inf)[::-1])[-2::-1]
    # All before these are smaller, and all after them larger.
    keep = (t > before) & (t < after)
    places = np.flatnonzero(finite & ~keep)
    some = t[places]
    # Samples of the longest increasing sequence that ends at each one, and that begins there.
    ends, begins = _lengths(some.tolist()), _lengths((-some[::-1]).tolist())[::-1]
    longest = ends + begins == ends.max() + 1
    length, stamp = 0, -np.inf
    for k in np.flatnonzero(longest).tolist():
        if ends[k] == length + 1 and some[k] > stamp:
            length, stamp = length + 1, some[k]
            keep[places[k]] = True
    return keep


def _lengths(t: Iterable[float]) -> NDArray[np.int64]:
    """Length of the longest increasing sequence that ends at each stamp (Schensted 1961)."""
    least, lengths = list[float](), list[int]()
    for stamp in t:
        place = bisect_left(least, stamp)
        least[place:place + 1] = [stamp]
        lengths.append(place + 1)
    return np.array(lengths)


def stamp_of(recording: Recording, place: int) -> float | None:
    """Time of a sample, s since the start, if its clock can be read."""
    stamp = float(recording.t[place] - recording.t[0])
    return stamp if np.isfinite(stamp) else None


def backwards_defects(recording: Recording, backwards: NDArray[np.bool_]) -> list[Defect]:
    """Report samples left out because their stamps go back in time or run ahead."""
    return left_out(
        recording, backwards, 'stamps_backwards', BACKWARDS_SHARE,
        '{count} of {total} stamps go back in time or ahead of it and are left out.',
        ' The clock was reset or two clocks are mixed: record again with one clock.')


def left_out(
    recording: Recording, marks: NDArray[np.bool_], code: str, limit: float, text: str,
    remedy: str = '',
) -> list[Defect]:
    """Report marked samples that are left out: an error, with a remedy, if they are many."""
    count, total = int(marks.sum()), len(marks)
    if not count:
        return []
    fatal = count > limit * total
    return [Defect(
        code, 'error' if fatal else 'warning',
        text.format(count=count, total=total) + (remedy if fatal else ''), None, count,
        stamp_of(recording, int(np.argmax(marks))), count / total, limit)]


def stamp_defects(recording: Recording) -> list[Defect]:
    """Report defects of strictly increasing stamps, or constant ones."""
    if not usable(recording.t):
        text = 'All stamps are equal or unset, and there are no times of reception to use instead.'
        return [Defect('stamps_constant', 'error', text, count=len(recording.t), first_stamp=0.0)]
    usual = recording.step
    # States of a source that another loop reads are not evenly spaced.
    jitter = [] if recording.clock else _jitter(recording.t, usual)
    return [*_gaps(recording, usual), *jitter]


def _gaps(recording: Recording, usual: float) -> list[Defect]:
    t, limit = recording.t, GAP_STEPS * usual
    republished = any(d.code == REPUBLISHED for d in recording.defects)
    gaps = steps_where(t, lambda step: step > limit)
    # Pauses inserted where a clock was set are not gaps.
    clock_steps = [d.first_stamp for d in recording.defects
                   if d.code == CLOCK_SET and d.first_stamp is not None]
    gaps = np.setdiff1d(gaps, np.searchsorted(t[:-1] - t[0], clock_steps, side='right') - 1)
    if not len(gaps):
        return []
    length = t[gaps + 1] - t[gaps]
    longest = float(length.max())
    lost = int(np.rint(length / usual - 1).sum())
    # A reader that repeats samples was active while the driver measured none.
    found = f'{counted(len(gaps), "gap")} with about {counted(lost, "sample")} lost'
    text = f'{found}, the longest of {longest:.3g} s; ' + (
        'the driver gave no new ones, so see what delays it.' if republished else
        'where the recorder lost them, raise its queue depth or lower the load.')
    severity = 'warning' if longest > GAP_SECONDS else 'info'
    return [Defect('stamps_gap', severity, text, None, len(gaps), float(t[gaps[0]] - t[0]),
                   longest, limit)]


def _jitter(t: Array, usual: float) -> list[Defect]:
    limit, count, squares, regular = JITTER, 0, 0.0, 0
    for before, after in steps(len(t)):
        step = t[after] - t[before]
        off = np.abs(step[step <= GAP_STEPS * usual] / usual - 1)
        count += int(np.count_nonzero(off > limit))
        squares, regular = squares + float(off @ off), regular + len(off)
    jitter = (squares / max(regular, 1)) ** 0.5
    if jitter <= limit:
        return []
    text = (f'The step between samples varies by {100 * jitter:.0f} %: the stamps are taken late, '
            'not at the measurement; let the driver stamp.')
    return [Defect('stamps_jitter', 'warning', text, count=count, value=jitter, threshold=limit)]
