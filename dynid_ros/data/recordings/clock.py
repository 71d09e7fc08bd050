"""Clocks that are set in the middle of a recording, and single stamps that are far off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.in_blocks import Mask
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

Index = NDArray[np.int64]


# Bounds between a clock that goes on, one that was set, and a stamp that is wrong.
# benchmarks/thresholds.py measures them on good recordings and on clocks that were set.

#: Step forward from which a clock was set or a stamp is far off, s. Somebody who lets a recorder
#: pause does so for minutes. Clocks are set by an hour where the time zone was wrong, and by years
#: where they had never been set. A step back is always one of both.
SET_SECONDS = 600.0
#: The same as a multiple of the median step, for stamps in another unit than seconds, which
#: `dynid_ros.data.recordings.stamp_unit` reports: 100 s at 100 Hz.
SET_STEPS = 1e4
#: Time that a clock must go on after a step, s; fewer samples are wrong stamps. It is as long as
#: the shortest stretch that can be fitted. Of a short recording, it is the share of
#: wrong stamps that is left out.
SETTLED_SECONDS = 1.0
#: Least number of samples in that time: the messages of a burst are fewer.
SETTLED_SAMPLES = 10
#: Largest share of steps back in time up to which a choice of samples is sought. Two clocks that
#: alternate make a half, and a clock that runs backwards makes all of them.
MIXED_SHARE = 0.25
#: Samples to either side among which those in the wrong order are looked for. Executors of ROS 2
#: exchange neighbours.
REACH_SAMPLES = 8
#: Pieces to look back over for one that the stamps continue. Each wrong stamp makes one or two.
PIECES_BACK = 32
#: Time between the stretches before and after a step, s. The true one is unknown. It is longer
#: than any gap that interpolation bridges at 5 Hz and more.
PAUSE_SECONDS = 1.0
#: The same as a multiple of the median step, for lower rates.
PAUSE_STEPS = 10.0


def with_one_clock(recording: Recording) -> Recording:
    """
    Leave out samples whose stamps are wrong, and take out the steps of a clock that was set.

    The stamps keep their values up to the first step. Later ones go on after a pause that cuts
    the recording, so that no time is as long as a step. A recording of which no choice of
    samples has one clock is returned as it is.

    Parameters
    ----------
    recording : Recording
        Recording, with stamps of any values.

    Returns
    -------
    Recording
        Its stamps do not decrease; equal ones remain.

    """
    t = recording.t
    finite = np.isfinite(t)
    known = t[finite]
    # Wrong stamps may be as large as floating-point numbers are.
    with np.errstate(over='ignore'):
        steps = np.diff(known)
        forward, back = steps[steps > 0], int(np.count_nonzero(steps < 0))
        if not len(forward):
            return recording
        usual = float(np.median(forward))
        far = _far(usual)
        good = len(known) == len(t) and not back and forward.max() <= far
        if good or back > MIXED_SHARE * len(t):
            return recording
        # Samples at which a piece may begin.
        starts = np.append(0, 1 + np.flatnonzero(_breaks(known, steps, usual)))
    stops = np.append(starts[1:], len(known))
    share = stamp_checks.BACKWARDS_SHARE
    least = max(SETTLED_SAMPLES, round(min(SETTLED_SECONDS / usual, share * len(t))))
    chain = _longest_chain(
        known[starts], known[stops - 1], _sizes(steps, starts), least, far)
    kept = np.zeros(len(known), dtype=bool)
    for k in chain:
        kept[starts[k]:stops[k]] = True
    keep = np.zeros(len(t), dtype=bool)
    keep[finite] = kept
    return _on_one_clock(recording, keep, usual, far)


def _far(usual: float) -> float:
    """Step forward from which a clock was set, s, given its usual step."""
    return max(SET_SECONDS, SET_STEPS * usual)


def _sizes(steps: Array, starts: Index) -> Index:
    """Count the different stamps of each piece: those that stand still date nothing."""
    later = np.append(True, steps > 0)
    # The first of a piece counts anyhow.
    later[starts] = True
    return np.asarray(np.add.reduceat(later, starts, dtype=np.int64))


def _breaks(t: Array, steps: Array, usual: float) -> NDArray[np.bool_]:
    """Between which samples the stamps may belong to different pieces, (N - 1,)."""
    highest, lowest = np.full(len(t), -np.inf), np.full(len(t), np.inf)
    for k in range(1, min(REACH_SAMPLES, len(t) - 1) + 1):
        np.maximum(highest[k:], t[:-k], out=highest[k:])
        np.minimum(lowest[:-k], t[k:], out=lowest[:-k])
    late, early = t < highest, t > lowest
    gap = steps > stamp_checks.GAP_STEPS * usual
    return np.asarray(
        (steps < 0) | gap | (late[:-1] & ~late[1:]) | (early[1:] & ~early[:-1]))


def _longest_chain(
    first: Array, last: Array, size: Index, cost: int, far: float
) -> list[int]:
    """
    Choose the pieces with the most samples, less `cost` samples for each step of the clock.

    Parameters
    ----------
    first, last : (R,) ndarray
        First and last stamp of each piece, s.
    size : (R,) ndarray of int64
        Different stamps of each piece.
    cost : int
        Samples that are left out rather than taken for a step of the clock.
    far : float
        Longest step forward of a clock that goes on, s.

    """
    values: list[int] = []
    before: list[int] = []
    begins, ends, best = first.tolist(), last.tolist(), -1
    for i, count in enumerate(size.tolist()):
        value, chosen = (values[best] - cost, best) if best >= 0 else (0, -1)
        if value <= 0:
            value, chosen = 0, -1
        for j in range(i - 1, max(i - 1 - PIECES_BACK, -1), -1):
            if values[j] > value and 0 <= begins[i] - ends[j] <= far:
                value, chosen = values[j], j
                if j == best:
                    break
        values.append(value + count)
        before.append(chosen)
        if best < 0 or values[i] > values[best]:
            best = i
    chain = [best]
    while before[chain[-1]] >= 0:
        chain.append(before[chain[-1]])
    return chain[::-1]


def _on_one_clock(
    recording: Recording, keep: Mask, usual: float, far: float
) -> Recording:
    """Keep samples, take the steps of the clock out of their stamps, and report all of it."""
    raw = recording.t[keep]
    steps = np.diff(raw)
    jumps = np.flatnonzero((steps < 0) | (steps > far))
    size = steps[jumps]
    pause = max(PAUSE_SECONDS, PAUSE_STEPS * usual)
    shift = np.append(0.0, np.cumsum(pause - size))
    # A wrong first stamp is no start to count from.
    start = 0.0 if keep[0] else raw[0]
    t = raw + shift[np.searchsorted(jumps, np.arange(len(raw)))] - start
    dropped = np.flatnonzero(~keep)
    # The last sample before each of them that is kept.
    place = np.maximum(dropped - np.arange(len(dropped)) - 1, 0)
    with np.errstate(over='ignore', invalid='ignore'):
        distance = np.abs(recording.t[dropped] - raw[place])
    off = ~(distance <= far)
    late, lost = np.zeros((2, len(keep)), dtype=np.bool_)
    late[dropped[~off]], lost[dropped[off]] = True, True
    away = float(distance[off][0]) if off.any() else 0.0
    where = f'{_duration(away)} from the one before' if np.isfinite(away) else 'not finite'
    whole = np.empty(len(keep))
    whole[keep], whole[dropped] = t, t[place]
    timed = replace(recording, t=whole)
    found = [
        *stamp_checks.left_out(
            timed, lost, 'stamps_far_off', stamp_checks.BACKWARDS_SHARE,
            '{count} of {total} stamps are far from those around them or not finite, and their '
            f'samples are left out; the first is that of sample {np.argmax(lost)}, {where}.',
            ' Let the driver stamp by one clock and record again.'),
        *stamp_checks.backwards_defects(recording, late),
        *(_set(step - usual, moment) for step, moment in zip(
            size.tolist(), (t[jumps] - t[0]).tolist(), strict=True)),
    ]
    return timed.take(keep, found)


def _set(size: float, moment: float) -> Defect:
    how = f'back by {_duration(-size)}' if size < 0 else f'forward by {_duration(size)}'
    paused = '' if size < 0 else ', unless the recorder paused for as long'
    text = (f'The clock was set {how} after {moment:.6g} s of the recording{paused}: the '
            'samples before and after it count as two stretches. Let the clock settle before '
            'you record.')
    return Defect(stamp_checks.CLOCK_SET, 'warning', text, None, 1, moment, size, SET_SECONDS)


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    return f'{seconds:.6g} s' + (f' ({hours:.3g} h)' if hours >= 1 else '')
