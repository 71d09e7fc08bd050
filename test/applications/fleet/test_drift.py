# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Series over date: those that drift are found, and only those."""

import numpy as np
import pytest

from dynid_ros.applications.fleet.drift import DAY, drifts

BAGS, SERIES = 40, 300
DATES = 1.7e9 + DAY * np.arange(BAGS)


def noise(seed, count=BAGS):
    return np.random.default_rng(seed).normal(size=count)


def test_a_drift_among_many_steady_series_is_the_only_one():
    series = {(f'arm{seed}', 'Fv1'): (DATES, 10 + 0.2 * noise(seed)) for seed in range(SERIES)}
    date, values = series['arm7', 'Fv1']
    series['arm7', 'Fv1'] = (date, values + np.linspace(0, 3, BAGS))
    # A bag may leave a coefficient open, and odd ones are no drift.
    series['arm8', 'Fv1'][1][:] = np.where(np.arange(BAGS) % 3, series['arm8', 'Fv1'][1], np.nan)
    series['arm9', 'Fv1'][1][-1] += 40
    found = [each for each in drifts(series) if each.drifts]
    assert [each.arm for each in found] == ['arm7']
    assert found[0].line[1] - found[0].line[0] == pytest.approx(3, abs=0.5)


def test_outliers_hide_no_drift():
    values = 10 + 0.2 * noise(2) + np.linspace(0, 3, BAGS)
    values[::8] += 50 * np.sign(noise(3))[::8]
    [found] = drifts({('arm', 'Fv1'): (DATES, values)})
    assert found.drifts
    assert found.line[1] - found.line[0] == pytest.approx(3, abs=1)


def test_a_drift_too_small_to_matter_is_none():
    values = 10 + 0.02 * noise(1) + np.linspace(0, 0.5, BAGS)
    [found] = drifts({('arm', 'Fv1'): (DATES, values)})
    assert not found.drifts
    assert found.probability < 1e-9


def test_a_drift_below_the_scatter_of_single_bags_is_none_however_many_there_are():
    count = 4000
    values = noise(1, count) + np.linspace(0, 1, count)
    [found] = drifts({('arm', 'Fo1'): (DATES[0] + DAY * np.arange(count), values)})
    assert not found.drifts
    assert found.probability < 1e-9


def test_steady_values_of_one_date_do_not_drift():
    found = drifts({('arm', 'Fv1'): (DATES[:1].repeat(6), noise(1, 6)),
                    ('arm', 'Fv2'): (DATES[:6], np.ones(6)),
                    ('arm', 'Fv3'): (DATES[:6], np.full(6, np.nan))})
    assert [each.drifts for each in found] == [False, False]
    assert found[1].line == (1.0, 1.0)
