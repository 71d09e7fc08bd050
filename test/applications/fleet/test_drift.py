"""Steps and slopes of series: found where they are, and only there."""

import numpy as np
import pytest
from scipy.stats import t

from dynid_ros.applications.fleet.drift import DAY, drifts, find_slope, find_step

BAGS, SERIES, RUNS = 40, 300, 1000
DATES = 1.7e9 + DAY * np.arange(BAGS)


def noise(seed, count=BAGS):
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize('outlier', [0.0, 50.0])
@pytest.mark.parametrize('first', [5, 20, 34])
def test_a_step_is_found_where_it_is_in_spite_of_outliers(first, outlier):
    values = noise(first)
    values[first:] += 5.0
    values[12] += outlier
    found, step = find_step(values, np.ones(BAGS), 1.0)
    assert found == first
    assert step.end - step.start == pytest.approx(5.0, abs=1.5)


def test_noise_has_no_step_that_counts():
    # The largest of 35 moments in 300 series is a normal value of 1 in 10 000 or so: 4.
    found = [find_step(noise(seed), np.ones(BAGS), 1.0)[1].standard_errors
             for seed in range(SERIES)]
    assert max(found) < 5.5


def test_a_bag_that_tells_little_weighs_little():
    values, std = noise(3), np.ones(BAGS)
    std[30:33], values[30:33] = 1e3, 1e3
    assert find_step(values, std, 1.0)[1].standard_errors < 5.5


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


@pytest.mark.slow
@pytest.mark.parametrize(('share', 'size'), [(0.0, 0.0), (0.1, 10.0), (0.2, 10.0), (0.1, 50.0)],
                         ids=['clean', 'a tenth', 'a fifth', 'far off'])
def test_intervals_of_slope_and_step_hold_the_truth_as_often_as_stated(share, size):
    rng, slopes, steps = np.random.default_rng(3), [], []
    truth = 20 / np.ptp(DATES)
    for _ in range(RUNS):
        values = rng.normal(size=BAGS) + (rng.random(BAGS) < share) * size * rng.normal(size=BAGS)
        slope = find_slope(DATES, values + truth * (DATES - DATES[0]), np.ones(BAGS))
        found = (slope.end - slope.start) / np.ptp(DATES)
        slopes.append((found - truth) / (found / slope.standard_errors))
        _, step = find_step(values + 20.0 * (np.arange(BAGS) >= BAGS // 2), np.ones(BAGS), 1.0)
        change = step.end - step.start
        steps.append((change - 20) / (change / step.standard_errors))
    for ratios in (slopes, steps):
        inside = np.mean(np.abs(ratios) < t.isf(0.025, BAGS - 2))
        # Of 95 %, three standard deviations of the share of 1000 are 2 %; the noise is at least
        # that of neighbours, which errs to the safe side.
        assert 0.93 <= inside <= 0.98
