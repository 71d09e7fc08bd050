"""Steps and slopes of series: found where they are, and only there."""

import numpy as np
import pytest

from dynid_ros.fleet.drift import DAY, drifts, find_step

BAGS, SERIES = 40, 300
DATES = 1.7e9 + DAY * np.arange(BAGS)


def noise(seed, count=BAGS):
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize('outlier', [0.0, 50.0])
@pytest.mark.parametrize('first', [5, 20, 34])
def test_a_step_is_found_where_it_is_in_spite_of_outliers(first, outlier):
    values = noise(first)
    values[first:] += 5.0
    values[12] += outlier
    step = find_step(values, np.ones(BAGS), 3, 1.0)
    assert step.first == first
    assert step.change == pytest.approx(5.0, abs=1.5)


def test_noise_has_no_step_that_counts():
    # The largest of 35 moments in 300 series is a normal value of 1 in 10 000 or so: 4.
    found = [find_step(noise(seed), np.ones(BAGS), 3, 1.0).standard_errors
             for seed in range(SERIES)]
    assert max(found) < 5.5


def test_a_bag_that_tells_little_weighs_little():
    values, std = noise(3), np.ones(BAGS)
    std[30:33], values[30:33] = 1e3, 1e3
    assert find_step(values, std, 3, 1.0).standard_errors < 5.5


def test_a_drift_among_many_steady_series_is_the_only_one():
    series = {(f'arm{seed}', 'Fv1'): (DATES, 10 + 0.2 * noise(seed), np.full(BAGS, 0.1))
              for seed in range(SERIES)}
    date, values, std = series['arm7', 'Fv1']
    series['arm7', 'Fv1'] = (date, values + np.linspace(0, 3, BAGS), std)
    # A bag may leave a coefficient open, and odd ones are no drift.
    series['arm8', 'Fv1'][1][:] = np.where(np.arange(BAGS) % 3, series['arm8', 'Fv1'][1], np.nan)
    series['arm9', 'Fv1'][1][-1] += 40
    found = [each for each in drifts(series) if each.drifts]
    assert [each.arm for each in found] == ['arm7']
    assert found[0].slope.end - found[0].slope.start == pytest.approx(3, abs=0.5)


def test_a_drift_too_small_to_matter_is_none():
    values = 10 + 0.02 * noise(1) + np.linspace(0, 0.5, BAGS)
    [found] = drifts({('arm', 'Fv1'): (DATES, values, np.full(BAGS, 0.02))})
    assert not found.drifts
    assert found.slope.standard_errors > 10
