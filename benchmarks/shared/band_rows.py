# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of thresholds.py on the cut-off, the delay of drive signals, and clocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from dynid_ros.data.recordings import measured_times, quality
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings, HIGHEST_CUTOFF
from dynid_ros.data.signals.segments import sample_rate
from dynid_ros.estimation.band import delay, ladder
from dynid_ros.estimation.band.trial_blocks import TrialMotions
from dynid_ros.estimation.estimate.folds import log_error_ratio

Array = np.ndarray
Plant = Callable[..., tuple[Array, Array, Array]]

#: What is planted: noise of the positions, rad, delays of the drive signals, below zero for early
#: ones, and errors of the stamps, s.
NOISE, LATE, JITTER = 3e-3, (0.02, 0.04, -0.03), 1e-3


def jittered(
    t: Array, q: Array, u: Array, rng: np.random.Generator, seconds: float,
) -> tuple[Array, Array, Array]:
    """Stamp samples when they are received, in their order, with Gaussian errors."""
    return np.sort(t + seconds * rng.normal(size=len(t))), q, u


def late(
    t: Array, q: Array, u: Array, _: np.random.Generator, seconds: float,
) -> tuple[Array, Array, Array]:
    """Report drive signals later than positions, or earlier."""
    keep = (t >= t[0] + seconds) & (t <= t[-1] + seconds)
    delayed = np.column_stack([np.interp(t[keep] - seconds, t, each) for each in u.T])
    return t[keep], q[keep], delayed


@contextmanager
def noting(module: ModuleType, name: str, note: Callable[..., None]) -> Iterator[None]:
    """Hand the value and the arguments of a function of a module on, while it is called there."""
    function = getattr(module, name)

    def noted(*args: Any, **options: Any) -> Any:
        value = function(*args, **options)
        note(value, *args)
        return value

    setattr(module, name, noted)
    try:
        yield
    finally:
        setattr(module, name, function)


def planted(log: Recording, plant: Plant, seconds: float) -> Recording:
    """Return a recording with another clock or with late drive signals."""
    t, q, u = plant(log.t, log.q, log.u, np.random.default_rng(1), seconds)
    return replace(log, t=t, q=q, u=u, qd=None)


def noisy(log: Recording) -> Recording:
    """Add white noise to the positions."""
    noise = NOISE * np.random.default_rng(1).normal(size=log.q.shape)
    return replace(log, q=log.q + noise, qd=None)


class Evidence:
    """What the choices of cut-off and delay go by."""

    def __init__(self, data: Any, spoil: Callable[[Recording], Recording] | None = None) -> None:
        # Samples that repeat would not repeat any more.
        log = quality.clean(data.log, data.arm)
        log = spoil(log) if spoil else log
        rate, arm = sample_rate(log), data.arm.memoryless
        motions, highest = TrialMotions(arm, [log], rate), HIGHEST_CUTOFF * rate
        settings = ConditioningSettings(highest, True, 'butterworth', rate, 1)
        self.left: dict[float, Array] = {}
        with noting(ladder, 'chosen', lambda *own: self.left.update(own[1])):
            _, self.lowest = ladder.climb(motions, settings, highest)
        self.followed = float(motions.share_below(np.array([min(self.left)]))[0])

    def worst(self) -> float:
        """Return the largest ratio of a cut-off up to the usual one, a standard error off."""
        pairs = [log_error_ratio(self.left[high], self.left[low]) for high in self.left
                 for low in self.left if low < high <= ladder.USUAL_HZ]
        return max((float(np.exp(mean - error)) for mean, error in pairs), default=np.nan)

    def higher(self) -> float:
        """Return the standard errors by which a higher cut-off is better by `WORSE`."""
        usual = min(each for each in self.left if each >= min(ladder.USUAL_HZ, max(self.left)))
        pairs = [log_error_ratio(own, self.left[usual])
                 for high, own in self.left.items() if high > usual]
        return max(((-np.log(ladder.WORSE_CUTOFF) - mean) / error for mean, error in pairs),
                   default=np.nan)

    def delayed(self) -> tuple[float, float]:
        """Return the ratio of errors without and with a delay, and its standard errors."""
        found = [(0.0, 1.0)]
        with noting(delay, 'log_error_ratio', lambda value, *_: found.append(value)):
            delay.estimate_delay(self.lowest)
        # Of late and of early delays, those that gain more.
        mean, error = min(found)
        return float(np.exp(-mean)), -mean / max(error, 1e-300)

    def rows_per_column(self) -> float:
        """Return the number of rows for each parameter in the lowest band."""
        sizes = [block.W.shape for block in self.lowest.rows.blocks(self.lowest.arm)]
        return sum(k * n for k, n, _ in sizes) / sizes[0][2]


def ladder_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what cut-offs gain and lose in the lowest band."""
    fine = [Evidence(data) for data in good]
    noise = [Evidence(data, noisy) for data in good]
    what = f'white noise of {NOISE:g} rad'
    yield (ladder, 'WORSE_CUTOFF', [each.worst() for each in fine],
           [each.worst() for each in noise],
           f'cut-offs up to the usual one; {what}')
    yield (ladder, 'STANDARD_ERRORS', [each.higher() for each in fine],
           [each.higher() for each in noise], f'for a cut-off above the usual one; {what}')
    yield (ladder, 'ENERGY_SHARE', [each.followed for each in fine], [],
           'share of the energy of the velocities in the lowest band')


def delay_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what the best delay gains in the lowest band."""
    def delayed(data: Any, seconds: float) -> Evidence:
        return Evidence(data, lambda log: planted(log, late, seconds))

    fine = [Evidence(data) for data in good]
    gains = [each.delayed() for each in fine]
    slow = [delayed(data, seconds).delayed() for data in good for seconds in LATE]
    what = ', '.join(f'{1000 * each:g}' for each in LATE)
    for k, name in enumerate(('BETTER', 'DELAY_STANDARD_ERRORS')):
        yield (delay, name, [each[k] for each in gains], [each[k] for each in slow],
               f'torque {what} ms late')
    yield (delay, 'ROWS_PER_COLUMN', [each.rows_per_column() for each in fine], [1.0],
           'as many rows as parameters: any delay fits')


def clock_of(data: Any, log: Recording) -> tuple[float, float, float]:
    """Return by what share and standard errors another clock is smoother, and the timing error."""
    gains, shares = [(0.0, 0.0)], [np.nan]

    def compared(_: bool, rough: Any, times: Array, others: Array, __: float) -> None:
        gained = (rough.by_part(times) - rough.by_part(others)).mean(axis=1)
        error = gained.std(ddof=1) / np.sqrt(len(gained))
        gains.append((1 - np.exp(-gained.mean()), gained.mean() / error))

    def sought(_: Any, once: Recording, rough: Any, *__: Any) -> None:
        shares.append(rough.timing_error(once.t) / float(np.median(np.diff(once.t))))

    with noting(measured_times, '_smoother', compared), noting(measured_times, '_clock', sought):
        quality.clean(log, data.arm)
    return *max(gains), shares[-1]


def measured_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield how much smoother a motion is by another clock than its stamps."""
    # The real recording of the Panda has the clock of its node.
    true = [data for data in good if data.friction or data.arm.name != 'panda']
    fine = [clock_of(data, data.log) for data in true]
    received = [clock_of(data, planted(data.log, jittered, JITTER)) for data in true]
    what = f'stamps of even samples wrong by {1000 * JITTER:g} ms'
    names = ('SMOOTHER', 'TIMES_STANDARD_ERRORS', 'SOUGHT_SHARE', 'REPORTED_SHARE')
    for k, name in zip((0, 1, 2, 2), names, strict=True):
        yield (measured_times, name, [each[k] for each in fine], [each[k] for each in received],
               what)
