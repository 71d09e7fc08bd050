"""
When the samples of a recording were measured: the clock that its motion shows.

A log comes about in one of these ways: its stamps are those of the measurement; a source
measures at even times, and the stamps are those of its late messages; or a loop reads the newest
state of a faster or slower source, some of which repeat. Each makes other times of the same
samples, and the motion is smooth by the true ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.clocks.even_times import even_times
from dynid_ros.data.clocks.newest_state import newest_state_times
from dynid_ros.data.clocks.roughness import Roughness, SIDE
from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.in_blocks import Index, Mask
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Defect, Recording, SampleClock
from dynid_ros.data.recordings.repeats import longest_step, measured_once
from dynid_ros.utilities.arrays import Array

#: Share by which other times make the motion smoother at least, and the standard errors of that
#: over parts of the recording. By chance, one of three clocks passes in less than 1.2 % of
#: recordings whose stamps are true (Student's t of 19 degrees of freedom); it is as smooth then.
SMOOTHER, STANDARD_ERRORS = 0.05, 3.0
#: Parts of which a standard error is worth something, and samples that show a clock.
FEWEST_PARTS, FEWEST_SAMPLES = 10, 100
#: Error of the stamps that the motion shows, relative to the time between samples, from which a
#: source with a clock of its own is sought. One that is six times as fast makes 0.05.
SOUGHT_SHARE = 0.02
#: The same from which it is reported. White errors pass a low-pass at 5 Hz and 100 samples/s to a
#: third of themselves.
REPORTED_SHARE = 0.1
#: Samples of a drawing: among more nobody sees a tooth of a saw. Decimals of their times, s.
DRAWN, DECIMALS = 100, 6


def as_measured(recording: Recording, *, stamped: bool = False) -> Recording:
    """
    Leave out samples that were published again, and give the others their times of measurement.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.
    stamped : bool
        Whether samples keep their stamps, as in a stream, which knows no later ones.

    Returns
    -------
    Recording
        The same recording if nothing repeats but rests, and no other times make it smoother.

    """
    keep, still = measured_once(recording)
    once = recording if keep.all() else recording.take(keep)
    moving = moves(once)
    if len(once.t) <= 2 * SIDE or not moving.any():
        return recording
    stretch = _stretches(once.t, still[keep])
    rough = Roughness(once.t, once.q if moving.all() else once.q[:, moving], stretch)
    shown = len(rough.places) >= FEWEST_SAMPLES
    # Stamps of samples that repeat are those of a reader, and have no claim to be true.
    errors = STANDARD_ERRORS if keep.all() else 0.0
    clock, times = (
        _clock(once, rough, stretch, errors) if shown and not stamped else (None, once.t))
    found = [] if keep.all() else [_repeated(recording, keep, clock)]
    if clock is not None:
        found += [] if found and clock.kind == 'even' else [_replaced(clock)]
        once = replace(once, t=times, clock=clock)
        # Of samples that share a state, but for a signal of another clock, one is kept.
        own = np.diff(times, prepend=-np.inf) > 0.5 * (clock.kind == 'newest') / clock.rate_hz
        once = once if own.all() else once.take(own)
    left = rough.timing_error(times) if shown else 0.0
    if left > REPORTED_SHARE * float(np.median(np.diff(times))):
        found.append(_scattered(left))
    return once.take(slice(None), found) if found else recording


def _stretches(t: Array, still: Mask) -> Index:
    """Return the number of the stretch between gaps and rests of each sample, (N,)."""
    steps = np.diff(t)
    apart = (steps > longest_step(float(np.median(steps)))) | still[1:] | still[:-1]
    return np.asarray(np.append(0, np.cumsum(apart)))


def _clock(
    recording: Recording, rough: Roughness, stretch: Index, errors: float,
) -> tuple[SampleClock | None, Array]:
    """
    Find the clock by which the motion is smoothest, None for the stamps, and its times, s.

    Other times must be smoother by so many standard errors over parts of the recording.
    """
    stamps = times = recording.t
    kind, period, usual = '', 0.0, float(np.median(np.diff(stamps)))
    apart = stamp_checks.OFF_GRID_PERIODS * usual
    even = None if _even(stamps, stretch, apart) else even_times(stamps, rough, stretch)
    if even is not None and np.std(stamps - even[0]) > apart and (
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
    start = max(0, min(fastest - DRAWN // 2, len(stamps) - DRAWN))
    shown = slice(start, start + DRAWN)
    centre = 0.0 if kind == 'newest' else float(np.median(late))
    return SampleClock(
        recording.source, kind, 1 / period, float(np.std(late)),
        tuple((stamps[shown] - stamps[start]).round(DECIMALS).tolist()),
        tuple((late[shown] - centre).round(DECIMALS).tolist()),
        usual), times


def _even(stamps: Array, stretch: Index, apart: float) -> bool:
    """Whether the stamps of a single stretch are even but for as much, so that none are sought."""
    even = np.linspace(stamps[0], stamps[-1], len(stamps))
    return not stretch[-1] and bool(np.abs(stamps - even).max() <= apart)


def _smoother(rough: Roughness, times: Array, others: Array, errors: float) -> bool:
    """Whether a motion is smoother by other times, by much and in most of its parts."""
    gained = (rough.by_part(times) - rough.by_part(others)).mean(axis=1)
    if len(gained) < FEWEST_PARTS:
        return False
    error = gained.std(ddof=1) / np.sqrt(len(gained))
    return bool(gained.mean() > max(-np.log(1 - SMOOTHER), errors * error))


def _repeated(recording: Recording, keep: Mask, clock: SampleClock | None) -> Defect:
    published = float(np.median(np.diff(recording.t)))
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
        'samples_republished', 'info', f'{text}.', None, count, first - float(recording.t[0]),
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
    # A loop that comes by at random has no beat.
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
