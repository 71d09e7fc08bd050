# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bags compared with the others: the statistic by dense least squares, its limit by counting."""

from dataclasses import replace

from fleets import Bag, with_payload
import numpy as np
import pytest

from dynid_ros.applications.fleet.comparison import (
    compare,
    deviations,
    GAIN,
    merged,
    upper_limit,
)
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.dynamics.load_columns import friction_names, LOAD_STD
from dynid_ros.estimation.estimate.weights import solve

BAGS, DRAWS, CHANCE = 12, 4000, 0.01


@pytest.fixture(scope='module')
def parts(fleet):
    return [Bag(seed, own=0.02).factors(fleet) for seed in range(BAGS)]


def judged(fleet, parts):
    return compare(fleet.arm, parts.__getitem__, len(parts), CHANCE / len(parts))


def rows_of(part, sigma):
    """Return the rows of all joints, with the joint of each."""
    rows = (part.factors / sigma[:, None, None])
    return rows.reshape(-1, rows.shape[2]), np.repeat(np.arange(len(rows)), rows.shape[1])


def squares(*blocks):
    """Sum of squared residuals of the best parameters of stacked rows."""
    width = max(block.shape[1] for block in blocks)
    rows = np.vstack([np.hstack([block[:, :-1], np.zeros((len(block), width - block.shape[1])),
                                 block[:, -1:]]) for block in blocks])
    x, *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)
    return float(((rows[:, -1] - rows[:, :-1] @ x)**2).sum()), x


@pytest.mark.parametrize('fitted', [True, False])
@pytest.mark.parametrize('mass', [0.0, 0.8])
def test_drift_is_what_own_parameters_leave_less_than_common_ones(fleet, parts, fitted, mass):
    arm, base = fleet.arm, base_parameters(fleet.arm)
    bag = Bag(50, standard=with_payload(mass) | {'Fv2': 0.2, 'Fc2': 0.3}).factors(fleet)
    fit = solve(merged([*parts, bag] if fitted else parts), arm_prior(arm))
    own = friction_places(arm)
    rest = np.setdiff1d(np.arange(base.count), own)
    others, (rows, joint) = rows_of(merged(parts), fit.sigma)[0], rows_of(bag, fit.sigma)
    rubbing = np.zeros(base.count)
    for place, name in zip(own, friction_names(arm), strict=True):
        rubbing[place] = 0.0 if name.startswith('Fo') else fit.theta[place]
    levels = (rows[:, :-1] @ rubbing)[:, None] * (joint[:, None] == np.arange(arm.n))
    # The level of friction, which is inside of its bounds.
    tie = np.zeros((arm.n, base.count + arm.n + 1))
    tie[:, base.count:-1] = np.eye(arm.n) / GAIN
    _, x = squares(others, fit.prior, np.hstack([rows[:, :-1], levels, rows[:, -1:]]), tie)
    shift = levels @ x[base.count:]
    plain, _ = squares(others, fit.prior, np.column_stack([rows[:, :-1], rows[:, -1] - shift]))
    last = base.layout.inertial(arm.tool_link).start
    load = base.grouping[:, last:last + len(INERTIAL)]
    every = np.eye(base.count)
    change = np.hstack([every[:, own], load, every[:, rest]])
    known = fit.prior_information
    loose = np.zeros((change.shape[1], base.count + change.shape[1] + 1))
    f, stop = len(own), len(own) + len(INERTIAL)
    loose[:f, base.count:base.count + f] = np.linalg.cholesky(known[np.ix_(own, own)]).T
    loose[f:stop, base.count + f:base.count + stop] = np.eye(len(INERTIAL)) / LOAD_STD
    loose[stop:, base.count + stop:-1] = np.linalg.cholesky(known[np.ix_(rest, rest)]).T
    free, _ = squares(others, fit.prior, loose, np.column_stack(
        [rows[:, :-1], rows[:, :-1] @ change, rows[:, -1] - shift]))
    found = deviations([bag], arm, fit, [fitted])
    assert np.exp(found.drift[0]) == pytest.approx(plain - free, rel=1e-4)
    if mass:
        assert found.load[0, 0] == pytest.approx(mass * (1 - fitted / BAGS), abs=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(('count', 'most'), [(6, 0.027), (16, 0.017), (60, 0.017)])
def test_normal_values_exceed_their_limit_as_often_as_stated(count, most):
    rng = np.random.default_rng(count)
    exceeded = 0
    for _ in range(DRAWS):
        values = rng.normal(size=count)
        exceeded += values.max() > upper_limit(values, CHANCE / count, 0.0)
    # 1 % of 4000 draws has a standard deviation of 0.16 %; the limit is Rosner's for many values,
    # and that of six is exceeded twice as often.
    assert 0.002 < exceeded / DRAWS < most


@pytest.mark.parametrize('odd', [1, 4, 6])
def test_outliers_do_not_hide_each_other(odd):
    found = []
    for seed in range(200):
        values = np.random.default_rng(seed).normal(size=14)
        values[:odd] += 12.0
        found.append((values > upper_limit(values, CHANCE / 14, 0.0)).tolist())
    exact = [True] * odd + [False] * (14 - odd)
    assert np.mean([each == exact for each in found]) > 0.9


def test_values_that_agree_by_chance_accuse_no_other():
    values = np.array([1.0, 1.0, 1.0, 1.001, 1.0, 1.0])
    assert values.max() < upper_limit(values, CHANCE / 6, 0.2)


def test_friction_of_a_cold_joint_is_not_odd_and_a_reversed_signal_is(fleet, parts):
    cold = Bag(30, own=0.02, standard={'Fv1': 0.6, 'Fc1': 0.9, 'Fv3': 0.3, 'Fc3': 0.4})
    found = judged(fleet, [*parts, cold.factors(fleet)])
    assert not found.odd.any()
    turned = replace(cold, signs=(1.0, -1.0, 1.0))
    found = judged(fleet, [*parts, turned.factors(fleet)])
    assert np.flatnonzero(found.odd).tolist() == [BAGS]
    assert not found.loaded.any()
    assert 'of its torque, usually 1 %' in found.difference(BAGS)


@pytest.mark.parametrize('loaded', [[0, 1, 2, 3, 4], [1, 4, 5, 8, 11], [7, 8, 9, 10, 11]])
def test_loaded_bags_are_told_from_the_others_wherever_they_are(fleet, parts, loaded):
    bags = [Bag(seed, own=0.02, standard=with_payload(0.8)).factors(fleet) if seed in loaded
            else part for seed, part in enumerate(parts)]
    found = judged(fleet, bags)
    assert np.flatnonzero(found.odd).tolist() == loaded
    assert found.loaded[loaded].all()
    np.testing.assert_allclose(found.found.load[loaded, 0], 0.8, atol=0.25)


def test_copies_of_one_bag_are_not_odd(fleet, parts):
    assert not judged(fleet, [*parts[:4], *parts[:4], parts[4]]).odd.any()


def test_a_bag_of_a_joint_at_rest_leaves_its_friction_and_gain_to_the_prior(fleet, parts):
    fit = solve(merged(parts), arm_prior(fleet.arm))
    found = deviations([Bag(50, still=(2,)).factors(fleet)], fleet.arm, fit, [False])
    third = [name.endswith('3') for name in friction_names(fleet.arm)]
    assert np.isnan(found.coefficients[0]).tolist() == [*third, False, False, True]
    assert not judged(fleet, [*parts, Bag(50, own=0.02, still=(2,)).factors(fleet)]).odd.any()
