# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Limits of drive signals where joints move."""

import numpy as np
import pytest

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.diagnosis.clipped_signals import (
    BAND_SHARE,
    BAND_STEPS,
    clip_levels,
    CLIPPED_SAMPLES,
    CLIPPED_SHARE,
    CROWDING,
    FEWEST_LEVELS,
    MOVING_SHARE,
)
from dynid_ros.utilities import in_blocks

LIMIT = 6.0


@pytest.mark.parametrize('fast_first', [True, False])
def test_a_joint_that_creeps_under_a_constant_torque_is_not_clipped(fast_first):
    """Speeds count relative to the fastest of all, in whichever part of a long recording."""
    t = np.arange(-15_000, 15_000) / 1000.0
    creeping = (t < 0) != fast_first
    q = np.where(creeping, 1e-3 * t, np.sin(2 * t))[:, None]
    u = np.where(creeping, 10.0, 9.0 * np.cos(3 * t))[:, None]
    # The speed of a sample is that between its neighbours.
    u[np.abs(t) < 0.01] = 0.0
    log = Recording(t, q, u, ('j1',), 'effort', 'log')
    assert clip_levels([log]).highest == [np.inf]
    u[~creeping] = np.minimum(u[~creeping], LIMIT)
    assert clip_levels([Recording(t, q, u, ('j1',), 'effort', 'log')]).highest == [LIMIT]


def recorded(seed):
    """Record signals that are clipped at either end, coarse, constant or smooth."""
    rng = np.random.default_rng(seed)
    samples = int(rng.integers(200, 2000))
    t = np.cumsum(rng.uniform(0.008, 0.012, samples))
    q = np.sin(0.7 * t[:, None] * np.arange(1, 7)) * [1, 1, 1, 1, 1, 1e-4]
    u = np.cos(0.9 * t[:, None] * np.arange(1, 7)) + 0.1 * rng.normal(size=q.shape)
    u[:, 0], u[:, 1] = np.minimum(u[:, 0], 0.6), np.maximum(u[:, 1], -0.7)
    u[:, 2], u[:, 3], u[:, 4] = np.round(u[:, 2]), 3.0, np.round(9 * u[:, 4]) / 9
    return Recording(t, q, u, tuple('abcdef'), 'effort', 'log')


def expected(recordings):
    """Find limits, shares, coarse signals and sizes joint by joint, with all values at once."""
    for j in range(6):
        u = []
        for log in recordings:
            speed = np.abs(np.gradient(log.q[:, j], log.t))
            moves = np.ptp(log.q[:, j]) > 0.01
            u.append(log.u[moves & (speed > MOVING_SHARE * speed.max()), j])
        u = np.concatenate(u)
        highest, lowest, shares = np.inf, -np.inf, [0.0, 0.0]
        coarse = 0 < len(np.unique(u)) < FEWEST_LEVELS
        if len(u) and not coarse:
            for k, x in enumerate((u, -u)):
                limit, span = x.max(), np.ptp(x)
                deep = min(limit - BAND_SHARE * span, np.unique(x)[-1 - BAND_STEPS])
                top, band = np.sum(x == limit), np.sum(x >= deep)
                if top > max(CLIPPED_SHARE * len(x), CROWDING * (band - top), CLIPPED_SAMPLES):
                    shares[k] = top / len(x)
            highest, lowest = (u.max() if shares[0] else np.inf,
                               u.min() if shares[1] else -np.inf)
        yield (highest, lowest, sum(shares), coarse,
               np.median(np.abs(u)) if len(u) and not coarse else 0.0)


@pytest.mark.parametrize('seed', range(5))
def test_limits_are_those_of_all_values_at_once(seed, monkeypatch):
    monkeypatch.setattr(in_blocks, 'SAMPLES_PER_BLOCK', 61)
    logs = [recorded(10 * seed + k) for k in range(1 + seed % 3)]
    found = clip_levels(logs)
    for name, wanted in zip(('highest', 'lowest', 'share', 'coarse', 'usual'),
                            zip(*expected(logs), strict=True), strict=True):
        np.testing.assert_array_equal(getattr(found, name), wanted)
    assert found.share[:2].all() and found.coarse[2:4].all() and not found.share[2:].any()


def rounded(u, levels):
    """Round a signal so that its outermost levels span a complete step, as none does by more."""
    step = np.ptp(u) / levels
    return (np.floor((u - u.min()) / step * (1 - 1e-12)) + 0.5) * step + u.min()


def levels_of(u, t):
    return clip_levels([Recording(t, np.sin(t)[:, None], u[:, None], ('j1',), 'effort', 'log')])


@pytest.mark.parametrize('levels', range(FEWEST_LEVELS + 1, 80))
def test_a_quantised_sine_is_not_clipped(levels):
    """A sine is the smooth signal that stays longest near its peaks for its range."""
    t = np.arange(20_000) / 100.0
    assert not levels_of(rounded(np.sin(0.7 * t), levels), t).share.any()


@pytest.mark.parametrize('levels', [8, 15, 30, 100, 1000])
def test_a_quantised_sine_that_is_cut_off_is_clipped(levels):
    t = np.arange(20_000) / 100.0
    found = levels_of(rounded(np.clip(np.sin(0.7 * t), -0.5, 0.5), levels), t)
    assert found.share == pytest.approx(2 / 3, abs=0.15)
