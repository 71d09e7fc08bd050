# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Correct clocks that were set during a recording, and drop wrong stamps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import increases, largest_change, Mask

# Bounds between a continuous clock, one that was set, and a wrong stamp.
# benchmarks/thresholds.py measures them on good recordings and on clocks that were set.

#: Step forward from which a clock was set or a stamp is wrong, s. A paused recorder causes steps
#: of minutes. A clock is set by an hour if the time zone was wrong, and by years if it had never
#: been set. A step back is always one of both.
SET_SECONDS = 600.0
#: The same as a multiple of the median step, for stamps in another unit than seconds, which
#: `dynid_ros.data.recordings.stamp_unit` reports: 100 s at 100 Hz.
SET_STEPS = 1e4
#: Time that a clock must continue after a step, s; shorter runs are wrong stamps. It equals the
#: shortest stretch that can be fitted; in a short recording, `BACKWARDS_SHARE` of it.
SETTLED_SECONDS = 1.0
#: Least number of samples in that time, more than the messages of a burst.
SETTLED_SAMPLES = 10
#: Largest share of steps back in time for a correction. Two alternating clocks cause a half, and a
#: clock that runs backwards causes all.
MIXED_SHARE = 0.25
#: Samples after a step back within which stamps of delayed messages catch up. Executors of ROS 2
#: exchange neighbours.
LATE_SAMPLES = 20
#: Time inserted between the stretches before and after a step, s, since the true one is unknown.
#: It is longer than any gap that interpolation bridges at 5 Hz and more.
PAUSE_SECONDS = 1.0
#: The same as a multiple of the median step, for lower rates.
PAUSE_STEPS = 10.0


def with_one_clock(recording: Recording) -> Recording:
    """
    Drop samples with wrong stamps, and remove the steps of a clock that was set.

    A wrong stamp is far from the running median. Stamps up to the first step of the clock keep
    their values. Later ones continue after a pause, which cuts the recording there. A recording in
    which many stamps go back is returned unchanged.

    Parameters
    ----------
    recording : Recording
        Recording, with stamps of any values.

    Returns
    -------
    Recording
        Its stamps do not decrease, except for delayed messages; equal stamps remain.

    """
    t = recording.t
    if len(t) > 1 and np.isfinite(t[[0, -1]]).all() and increases(t):
        far = max(SET_SECONDS, SET_STEPS * recording.step)
        if largest_change(t[:, None])[0] <= far:
            return recording
    finite = np.isfinite(t)
    # Wrong stamps may be huge.
    with np.errstate(over='ignore'):
        steps = np.diff(t if finite.all() else t[finite])
        back = int(np.count_nonzero(steps < 0))
        forward = steps if (steps > 0).all() else steps[steps > 0]
        if not len(forward):
            return recording
        usual = float(np.median(forward))
        far = max(SET_SECONDS, SET_STEPS * usual)
        good = finite.all() and not back and forward.max() <= far
        if good or back > MIXED_SHARE * len(t):
            return recording
        from scipy.ndimage import median_filter

        share = stamp_checks.BACKWARDS_SHARE
        settled = max(SETTLED_SAMPLES, round(min(SETTLED_SECONDS / usual, share * len(t))))
        distance = np.full(len(t), np.inf)
        distance[finite] = np.abs(t[finite] - median_filter(t[finite], 2 * settled + 1))
    lost = distance > far
    return _on_one_clock(_without(recording, lost, distance), usual, far)


def _without(recording: Recording, lost: Mask, distance: Array) -> Recording:
    """Drop samples with wrong stamps, given their distance (N,) from the median, s."""
    if not lost.any():
        return recording
    first = int(np.argmax(lost))
    where = (f'{_duration(distance[first])} away' if np.isfinite(distance[first]) else
             'not finite')
    # The time of a sample with a wrong stamp is unknown.
    unknown = replace(recording, t=np.where(lost, np.nan, recording.t))
    kept = recording.take(~lost, stamp_checks.left_out(
        unknown, lost, 'stamps_far_off', stamp_checks.BACKWARDS_SHARE,
        '{count} of {total} stamps are far from those around them or not finite, and their '
        f'samples are left out; the first is the stamp of sample {first}, {where}.',
        ' Let the driver stamp by one clock and record again.'))
    # Count from the first correct stamp.
    return replace(kept, t=kept.t - kept.t[0]) if lost[0] else kept


def _on_one_clock(recording: Recording, usual: float, far: float) -> Recording:
    """Remove the steps of the clock from the stamps, and report them."""
    t = recording.t
    steps = np.diff(t)
    later = t[np.minimum(np.arange(len(steps)) + LATE_SAMPLES, len(steps))]
    # A single stamp that runs ahead is wrong, and the clock is as it was before it.
    earliest = np.minimum(t[:-1], np.append(np.inf, t[:-2]))
    jumps = np.flatnonzero((steps > far) | ((steps < 0) & (later < earliest)))
    size = steps[jumps]
    pause = max(PAUSE_SECONDS, PAUSE_STEPS * usual)
    shift = np.append(0.0, np.cumsum(pause - size))
    timed = replace(recording, t=t + shift[np.searchsorted(jumps, np.arange(len(t)))])
    return timed.take(slice(None), [
        _set(step - usual, moment) for step, moment in zip(
            size.tolist(), (timed.t[jumps] - timed.t[0]).tolist(), strict=True)])


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
