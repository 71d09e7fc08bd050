# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Times of measurement of the samples of a recording, inferred from the smoothness of its motion.

The stamps of a log are times of measurement; or times of late messages of a source that measures
at even times; or times at which a loop read the newest state of a faster or slower source, so that
some states repeat. Each case implies other times of measurement, and the motion is smooth only
with the true ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.clocks.even_times import even_times
from dynid_ros.data.clocks.newest_state import newest_state_times
from dynid_ros.data.clocks.roughness import Roughness, SIDE
from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Defect, Recording, SampleClock
from dynid_ros.data.recordings.repeats import longest_step, measured_once
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks, Index, Mask

#: Least share by which other times must make the motion smoother, and least number of standard
#: errors over parts of the recording. By chance, one of three clocks passes in less than 1.2 % of
#: recordings with true stamps (Student's t with 19 degrees of freedom), and does no harm.
SMOOTHER, TIMES_STANDARD_ERRORS = 0.05, 3.0
#: Least number of parts for a meaningful standard error, and of samples for a clock.
FEWEST_PARTS, FEWEST_SAMPLES = 10, 100
#: Estimated error of the stamps, relative to the time between samples, from which a source with
#: its own clock is sought. A source six times as fast causes 0.05.
SOUGHT_SHARE = 0.02
#: The same from which it is reported. A low-pass at 5 Hz and 100 samples/s reduces white errors to
#: a third.
REPORTED_SHARE = 0.1
#: Number of samples in a plot, few enough to see single periods, and decimals of their times, s.
DRAWN_SAMPLES, TIME_DECIMALS = 100, 6


def as_measured(recording: Recording, *, stamped: bool = False) -> Recording:
    """
    Drop republished samples, and replace stamps by times of measurement.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.
    stamped : bool
        Whether samples keep their stamps, as in a stream without later samples.

    Returns
    -------
    Recording
        The same recording if only rests repeat, and no other times make it smoother.

    """
    keep, still = measured_once(recording)
    once = recording if keep.all() else recording.take(keep)
    moving = moves(once.span)
    if len(once.t) <= 2 * SIDE or not moving.any():
        return recording
    stretch = _stretches(once, still[keep])
    rough = Roughness(once.t, once.q if moving.all() else once.q[:, moving], stretch)
    enough = len(rough.places) >= FEWEST_SAMPLES
    clock, times = (_clock(once, rough, stretch, polled=not keep.all())
                    if enough and not stamped else (None, once.t))
    defects = [] if keep.all() else [_repeated(recording, keep, clock)]
    if clock is not None:
        defects += [] if defects and clock.kind == 'even' else [_replaced(clock)]
        once = replace(once, t=times, clock=clock)
        # Keep one of several samples with the same state, which may differ in another signal.
        separate = np.diff(times, prepend=-np.inf) > 0.5 * (clock.kind == 'newest') / clock.rate_hz
        once = once if separate.all() else once.take(separate)
    error = rough.timing_error(times) if enough else 0.0
    step = once.step if times is once.t else float(np.median(np.diff(times)))
    if error > REPORTED_SHARE * step:
        defects.append(_scattered(error))
    return once.take(slice(None), defects) if defects else recording


def _stretches(recording: Recording, still: Mask) -> Index:
    """Return the number of the stretch between gaps and rests of each sample, (N,)."""
    apart = (np.diff(recording.t) > longest_step(recording.step)) | still[1:] | still[:-1]
    return np.asarray(np.append(0, np.cumsum(apart)))


def _clock(
    recording: Recording, rough: Roughness, stretch: Index, *, polled: bool,
) -> tuple[SampleClock | None, Array]:
    """
    Return the clock with the smoothest motion, or None for the stamps, and its times, s.

    If samples were polled, the stamps are those of a reader, so any smoother times are better. But
    a reader sees each state before the next one arrives, and clocks drift apart slowly: the delays
    of even times change by less than a period within a second.
    """
    stamps = times = recording.t
    kind, period, usual = '', 0.0, recording.step
    errors, most = (0.0, usual) if polled else (TIMES_STANDARD_ERRORS, np.inf)
    apart = stamp_checks.OFF_GRID_PERIODS * usual
    even = None if _even(stamps, stretch, apart) else even_times(stamps, rough, stretch)
    if even is not None and np.std(stamps - even[0]) > apart and (
            _change(stamps - even[0], usual) <= most) and (
            _smoother(rough, times, even[0], errors)):
        kind, (times, period) = 'even', even
    if rough.timing_error(times) > SOUGHT_SHARE * usual:
        newest = newest_state_times(stamps, rough)
        if newest is not None and _smoother(rough, times, newest[0], errors):
            kind, (times, period) = 'newest', newest
    if not kind:
        return None, stamps
    late = stamps - times
    fastest = int(rough.places[np.argmax((rough.speed**2).sum(axis=1))])
    start = max(0, min(fastest - DRAWN_SAMPLES // 2, len(stamps) - DRAWN_SAMPLES))
    plotted = slice(start, start + DRAWN_SAMPLES)
    centre = 0.0 if kind == 'newest' else float(np.median(late))
    return SampleClock(
        recording.source, kind, 1 / period, float(np.std(late)),
        tuple((stamps[plotted] - stamps[start]).round(TIME_DECIMALS).tolist()),
        tuple((late[plotted] - centre).round(TIME_DECIMALS).tolist()),
        usual), times


def _change(late: Array, usual: float) -> float:
    """Return the root mean square change of delays (N,) within a second, s."""
    lag = max(1, round(1 / usual))
    return float(np.sqrt(np.mean((late[lag:] - late[:-lag])**2))) if len(late) > lag else 0.0


def _even(stamps: Array, stretch: Index, apart: float) -> bool:
    """Whether there is a single stretch whose stamps are even within a tolerance."""
    if stretch[-1]:
        return False
    even = np.linspace(stamps[0], stamps[-1], len(stamps))
    return all(np.abs(stamps[part] - even[part]).max() <= apart for part in blocks(len(stamps)))


def _smoother(rough: Roughness, times: Array, others: Array, errors: float) -> bool:
    """Whether a motion is significantly and clearly smoother with other times."""
    gained = (rough.by_part(times) - rough.by_part(others)).mean(axis=1)
    if len(gained) < FEWEST_PARTS:
        return False
    error = gained.std(ddof=1) / np.sqrt(len(gained))
    return bool(gained.mean() > max(-np.log(1 - SMOOTHER), errors * error))


def _repeated(recording: Recording, keep: Mask, clock: SampleClock | None) -> Defect:
    published = recording.step
    usual = float(np.median(np.diff(recording.t[keep])))
    count, first = int(np.count_nonzero(~keep)), float(recording.t[np.argmin(keep)])
    text = f'{count} of {len(keep)} samples repeat the one before'
    if clock is not None or usual > 1.5 * published:
        rate = 1 / usual if clock is None else clock.rate_hz
        text += (f': a node publishes at {1 / published:.4g} Hz the samples of a driver that '
                 f'measures at {rate:.4g} Hz')
    text += '; they are left out'
    if clock is not None and clock.kind == 'even':
        text += ', and the others get even stamps'
    return Defect(
        stamp_checks.REPUBLISHED, 'info', f'{text}.', None, count, first - float(recording.t[0]),
        count / len(keep))


def _replaced(clock: SampleClock) -> Defect:
    """Report other times than the stamps."""
    severity = 'warning' if clock.jitter > REPORTED_SHARE * clock.step else 'info'
    if clock.kind == 'even':
        return Defect(
            'stamps_late', severity, f'The stamps scatter by {1000 * clock.jitter:.2g} ms around '
            f'even ones of {clock.rate_hz:.4g} Hz, by which the motion is smoother: the samples '
            'get even stamps. Let the driver stamp.', value=clock.jitter)
    beat = abs(clock.rate_hz - round(clock.rate_hz * clock.step) / clock.step)
    # A loop at random times has no beat.
    even = np.std(np.diff(clock.t)) < REPORTED_SHARE * clock.step
    beating = f', beating at {beat:.3g} Hz' if even and beat * clock.step > 1e-3 else ''
    return Defect(
        'state_age', severity, f'The samples are the newest state of a source of '
        f'{clock.rate_hz:.5g} Hz, 0 to {1000 / clock.rate_hz:.2g} ms old when it is '
        f'read{beating}: they get the times of that source, by which the motion is smoother. '
        'Record the stamps of the source.', value=1 / clock.rate_hz)


def _scattered(error: float) -> Defect:
    """Report the error of stamps that no clock explains."""
    return Defect(
        'stamps_scatter', 'info', 'The positions scatter along the motion as if stamps were wrong '
        f'by {1000 * error:.2g} ms; the low-pass averages it. Let the driver stamp.',
        value=error)
