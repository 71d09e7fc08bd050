# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A second design determines what the first recording left weak."""

from dataclasses import replace

import numpy as np
import pytest
from results import identification

from dynid_ros.arm.load import load_arm
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import DesignObjective, parameters_sought, Task
from dynid_ros.motion.excitation.prior_information import objective_given
from dynid_ros.motion.trajectory.fourier import FourierMotion

RATE = 100.0
SIGMA = np.array([0.01, 0.02])


def known_from(arm, motion):
    """Give the result of a recording whose noise is white and of known size."""
    t = np.arange(0, motion.duration, 1 / RATE)
    W = regressor(arm, *motion.evaluate(t))[:, :, base_parameters(arm).columns]
    W = (W / SIGMA[:, None]).reshape(-1, W.shape[-1])
    covariance = np.linalg.inv(W.T @ W)
    treatment = ConditioningSettings(5.0, False, 'butterworth', RATE, 1)
    return identification(
        arm, covariance=covariance, std_white=np.sqrt(np.diag(covariance)), sigma=SIGMA,
        colour=1.0,        sources=('first',), treatment=treatment)


def lazy_motion(harmonics=3):
    """Only the first joint moves much."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 2 * harmonics - 2)) * np.array([[3.0], [0.02]])
    return FourierMotion.at_rest(5.0, np.array([0.0, 0.4]), x)


def both(arm, known, motion):
    return np.linalg.inv(np.linalg.inv(known.covariance)
                         + np.linalg.inv(known_from(arm, motion).covariance))


def test_the_second_motion_determines_what_the_first_left_weak():
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    task = Task(period=5.0, harmonics=3, periods=1, starts=3)
    alone = design(arm, task).motion
    objective = objective_given(DesignObjective('volume'), arm, [known], 5.0)
    given = design(
        arm, Task(period=5.0, harmonics=3, periods=1, starts=3, objective=objective)).motion
    volumes = [np.linalg.slogdet(both(arm, known, motion))[1] for motion in (given, alone)]
    assert volumes[0] < volumes[1]
    weak = np.argmax(np.diag(known.covariance) / np.diag(both(arm, known, given)))
    before = np.sqrt(known.covariance[weak, weak])
    assert np.sqrt(both(arm, known, given)[weak, weak]) < 0.05 * before


@pytest.mark.slow
def test_chosen_parameters_gain_most_from_their_own_design():
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    for name in ('Ixy2', 'Izz2'):
        k = base_parameters(arm).names.index(name)
        spread = []
        for sought in (parameters_sought(arm, [name]), None):
            objective = DesignObjective(sought=sought)
            task = Task(period=5.0, harmonics=3, periods=1, starts=3,
                        objective=objective_given(objective, arm, [known], 5.0))
            spread.append(both(arm, known, design(arm, task).motion)[k, k])
        assert spread[0] < spread[1]


def test_prior_is_the_information_of_the_result_per_sample_to_come():
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    objective = objective_given(DesignObjective(), arm, [known], 20.0)
    size = np.sqrt(np.diag(known.covariance))
    standard = known.covariance / np.outer(size, size)
    np.testing.assert_allclose(
        objective.prior * RATE * 20.0 * np.outer(size, size), np.linalg.inv(standard), rtol=1e-5,
        atol=1e-5)
    np.testing.assert_allclose(objective.weights, 1 / SIGMA**2)


def test_parameters_that_the_result_lacks_have_no_information():
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    more = arm.with_friction(('viscous', 'coulomb', 'offset'))
    prior = objective_given(DesignObjective(), more, [known], 5.0).prior
    names = base_parameters(more).names
    k = names.index('Fo1')
    assert not prior[k].any()
    assert prior[names.index('Fc1'), names.index('Fc1')] > 0


def test_results_of_another_arm_are_refused():
    known = known_from(load_arm('two_axis'), lazy_motion())
    with pytest.raises(InputError, match='the model of first has the joints arm_joint'):
        objective_given(DesignObjective(), load_arm('ur10'), [known], 5.0)


def test_a_covariance_that_rounding_left_indefinite_does_not_stop_a_design():
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    # Nothing known of the first, all of a difference but for rounding.
    size = np.geomspace(1e3, 1e-5, len(known.theta))
    alike = np.ones((len(size),) * 2) - 1e-9 * np.diag(np.arange(len(size)) % 2)
    found = replace(known, covariance=alike * np.outer(size, size))
    task = Task(period=5.0, harmonics=3, periods=1, starts=1,
                objective=objective_given(DesignObjective(), arm, [found], 5.0))
    assert np.isfinite(design(arm, task).condition_number)


@pytest.mark.parametrize('field', ['covariance', 'sigma'])
def test_results_without_errors_are_refused(field):
    arm = load_arm('two_axis')
    known = known_from(arm, lazy_motion())
    certain = replace(known, **{field: 0 * getattr(known, field)})
    with pytest.raises(InputError, match='the model of first states no standard deviation'):
        objective_given(DesignObjective(), arm, [certain], 5.0)


def test_a_motion_too_slow_to_tell_anything_is_refused():
    with pytest.raises(InputError, match=r'no motion .* determines all parameters; allow'):
        design(load_arm('two_axis'), Task(1e9, 2, 1, starts=1, seconds=20.0))
