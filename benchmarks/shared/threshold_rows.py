# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of thresholds.py on cut-off signals, rotors, clocks, and samples that are given twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dynid_ros.data.recordings import clock
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.diagnosis import clipped_signals
from dynid_ros.estimation.identification import leakage_check as seen_data
from dynid_ros.estimation.identification.validation import validate

Array = np.ndarray


def clip_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what crowds at the largest value of a signal, and how many values it has."""
    def cut(log: Recording, share: float) -> Recording:
        limit = share * np.abs(log.u).max(axis=0)
        return replace(log, u=np.clip(log.u, -limit, limit))

    def few(log: Recording) -> Recording:
        step = np.ptp(log.u, axis=0) / 4
        return replace(log, u=np.round(log.u / step) * step)

    logs = [data.log for data in good]
    fine = np.concatenate([crowds(log) for log in logs])
    text = 'cut off at half of the largest value; the joint that is cut off most'
    halved = np.array([crowds(cut(log, 0.5)).max(axis=0) for log in logs])
    yield clipped_signals, 'CROWDING', fine[:, 0], halved[:, 0], text
    yield clipped_signals, 'CLIPPED_SHARE', fine[:, 1], halved[:, 1], text
    yield clipped_signals, 'CLIPPED_SAMPLES', fine[:, 2], halved[:, 2], text
    yield (clipped_signals, 'FEWEST_LEVELS', [values(log) for log in logs],
           [values(few(log)) for log in logs], 'rounded to a quarter of the range')


def crowds(log: Recording) -> Array:
    """
    Return samples at the largest value, and at the smallest, of each joint that moves.

    As (2 n, 3): by those in the band beside it, as a share, and their number.
    """
    found, moving = [], clipped_signals._in_motion(log)
    for way in (1.0, -1.0):
        for j in np.flatnonzero(moving.any(axis=0)):
            u = way * log.u[moving[:, j], j]
            top, steps = u == u.max(), clipped_signals.BAND_STEPS
            deep = min(u.max() - clipped_signals.BAND_SHARE * np.ptp(u),
                       *np.unique(u)[-1 - steps:])
            below = (u >= deep) & ~top
            found.append((top.sum() / max(below.sum(), 1), top.mean(), top.sum()))
    return np.array(found)


def values(log: Recording) -> int:
    """Count the values of the drive signal that has the fewest."""
    return min(len(np.unique(column)) for column in log.u.T)


def clock_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield steps of good clocks, and of clocks that were set or that alternate."""
    stamps = [data.log.t for data in good]
    steps = [np.diff(t) for t in stamps]
    usual = [float(np.median(step[step > 0])) for step in steps]
    yield clock, 'SET_SECONDS', [step.max() for step in steps], [3600.0], 'set by an hour, s'
    yield (clock, 'SET_STEPS', [step.max() / one for step, one in zip(steps, usual, strict=True)],
           [3600.0 / one for one in usual], 'set by an hour')
    yield (clock, 'MIXED_SHARE', [(step < 0).mean() for step in steps],
           [(np.diff(t + 60.0 * (np.arange(len(t)) % 2)) < 0).mean() for t in stamps],
           'two clocks that alternate')
    yield (clock, 'LATE_SAMPLES', [displaced(t) for t in stamps],
           [displaced(exchanged(t)) for t in stamps], 'each tenth sample behind the next one')
    yield (clock, 'SETTLED_SAMPLES', [clock.SETTLED_SECONDS / one for one in usual], [],
           'samples in the time that a clock must go on')


def displaced(t: Array) -> int:
    """Return by how many places a stamp is out of order, at most."""
    return int(np.abs(np.argsort(t, kind='stable') - np.arange(len(t))).max())


def exchanged(t: Array) -> Array:
    """Exchange each tenth stamp with the next one."""
    order = np.arange(len(t))
    first = np.arange(0, len(t) - 1, 10)
    order[first], order[first + 1] = first + 1, first
    return t[order]


def seen_rows(good: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what different recordings have in common, and what a copy of a part has."""
    usual = seen_data.SEEN_ROWS

    def common(one: Recording, other: Recording) -> tuple[float, int]:
        keys = [seen_data._Hashed(log).samples for log in (one, other)]
        both = len(np.intersect1d(*keys))
        return both / max(min(map(len, keys)), 1), both

    def halves(log: Recording) -> tuple[Recording, Recording]:
        middle = len(log.t) // 2
        return log.part(0, middle), log.part(middle, len(log.t))

    def apart(data: Any, other: Recording) -> float:
        """Median difference of conditioned samples of another recording, by their range."""
        _, parts = validate(data.model, other)
        old, new = data.own[0], parts[0]
        place = np.minimum(np.searchsorted(new.t, old.t), len(new.t) - 1)
        same = new.t[place] == old.t
        far = np.abs(new.q[place] - old.q)[same] / np.abs(old.q).max(axis=0)
        return float(np.median(far.max(axis=1))) if same.any() else np.nan

    halved = [common(*halves(data.log)) for data in good]
    copies = [common(data.log, data.log.part(0, len(data.log.t) // 2)) for data in good]
    text = 'the two halves of a recording; bad: its first half and all of it'
    yield seen_data, 'SEEN_SHARE', [x[0] for x in halved], [x[0] for x in copies], text
    yield seen_data, 'SEEN_KEYS', [x[1] for x in halved], [x[1] for x in copies], text
    seen_data.SEEN_ROWS = 1
    try:
        single = [common(*halves(data.log))[1] for data in good]
    finally:
        seen_data.SEEN_ROWS = usual
    text = 'single samples that both halves have, of one in sixteen'
    yield seen_data, 'SEEN_ROWS', single, [], text
    rng = np.random.default_rng(1)
    noisy = [replace(data.log, q=data.log.q + rng.normal(size=data.log.q.shape) * 1e-5)
             for data in good]
    others = [apart(data, log) for data, log in zip(good, noisy, strict=True)]
    yield (seen_data, 'SEEN_ROUNDING', others, [apart(data, data.log) for data in good],
           'good: encoder noise of 1e-5 added; bad: the samples that were fitted')
