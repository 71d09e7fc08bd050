# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A design reaches its goal, repeats with its seed, stops when told and says what is wrong."""

from dataclasses import replace
import re

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.description.tree import JointLimits, LimitMargins
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import CouplingColumn
from dynid_ros.arm.surroundings import Box, Capsule, load_surroundings, Surroundings, Wall
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.descent import Descent
from dynid_ros.motion.excitation.design import design, validation_motion
from dynid_ros.motion.excitation.design_objective import (
    DesignObjective,
    parameters_sought,
    Task,
)
from dynid_ros.motion.excitation.information_criteria import smooth_condition
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.excitation.search import DESCENT_STAGES, Search
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.utilities.progress import listening

UR10_TARGET = JointLimits(
    np.full(6, -2.5), np.full(6, 2.5), np.array([2.0944, 2.0944, *[3.1416] * 4]), np.full(6, 6.0),
    np.full(6, np.inf))


def regressor_matrix(arm, motion, points=2000):
    t = np.arange(points) * (motion.period / points)
    Y = regressor(arm, *motion.evaluate(t))[:, :, base_parameters(arm).columns]
    return Y.reshape(-1, Y.shape[-1])


@pytest.mark.slow
def test_panda_on_its_data_sheet_reaches_the_target_with_five_harmonics():
    arm = replace(load_arm('panda'), margins=LimitMargins())
    designed = design(arm, Task(harmonics=5, starts=1))
    assert base_parameters(arm).count == 69
    # One start of some seconds; four SLSQP starts reached 35.5 to 42.5.
    assert np.linalg.cond(regressor_matrix(arm, designed.motion)) < 38
    assert designed.margins.kept


@pytest.mark.slow
def test_ur10_within_narrow_limits_reaches_the_target_with_five_harmonics():
    arm = replace(load_arm('ur10'), margins=LimitMargins(), limits=UR10_TARGET)
    designed = design(arm, Task(harmonics=5, starts=1))
    assert base_parameters(arm).count == 58
    assert np.linalg.cond(regressor_matrix(arm, designed.motion)) < 38
    assert designed.condition_number == pytest.approx(
        np.linalg.cond(regressor_matrix(arm, designed.motion)), rel=0.02)


def test_more_harmonics_do_better():
    arm = load_arm('two_axis')
    few, many = (design(arm, Task(harmonics=h, starts=2)) for h in (2, 6))
    assert many.condition_number < few.condition_number


def test_the_same_seed_gives_the_same_motion_and_another_seed_another():
    arm = load_arm('two_axis')
    first, again, other = (
        design(arm, Task(harmonics=3, starts=2, seed=seed)).motion for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.sine, again.sine)
    np.testing.assert_array_equal(first.offset, again.offset)
    assert not np.array_equal(first.sine, other.sine)


@pytest.mark.slow
def test_a_descent_that_learnt_a_wrong_curvature_learns_it_anew():
    arm = load_arm('ur10')
    search = Search(
        arm, Task(period=20.0), build_scene(arm, load_surroundings('ur10', arm)))
    descent = Descent(search.cost, search.first(0))
    sharpness, wall, steps = DESCENT_STAGES[0]
    descent.run(smooth_condition(sharpness), wall, steps, lambda: None)
    # A line search fails after 28 steps.
    assert descent.steps > 40


def test_the_better_half_of_the_starts_goes_on():
    arm = load_arm('two_axis')
    stages = []
    with listening(lambda stage, _share: stages.append(stage)):
        designed = design(arm, Task(harmonics=3, starts=5))
    assert designed.starts == 5 and designed.complete
    # The first motion, five starts, and three, two and one of them.
    assert len(stages) == 1 + 5 + 3 + 2 + 1


@pytest.mark.slow
@pytest.mark.parametrize('objective', [
    DesignObjective(), DesignObjective('volume'), DesignObjective(scale_columns=True),
    DesignObjective(sought=parameters_sought(load_arm('two_axis'), ('Ixx2', 'Izz2')))],
    ids=['condition', 'volume', 'scaled', 'chosen'])
def test_each_criterion_is_best_at_its_own(objective):
    arm = load_arm('two_axis')
    own = design(arm, Task(harmonics=4, starts=1, objective=objective))
    other = random_motion(arm, 0, harmonics=4)
    W, V = regressor_matrix(arm, own.motion), regressor_matrix(arm, other)
    score = [objective.score(A.T @ A / 2000) for A in (W, V)]
    assert score[0] == pytest.approx(own.score, rel=0.02)
    assert score[0] < score[1]


def test_scores_are_what_they_are_called():
    arm = load_arm('two_axis')
    W = regressor_matrix(arm, random_motion(arm, 0))
    G, names = W.T @ W, base_parameters(arm).names
    covariance = np.linalg.inv(G)
    scaled = W / np.linalg.norm(W, axis=0)
    chosen = (names[0], names[2])
    assert DesignObjective().score(G) == pytest.approx(np.linalg.cond(W), rel=1e-6)
    assert DesignObjective(scale_columns=True).score(G) == pytest.approx(
        np.linalg.cond(scaled), 1e-6)
    assert DesignObjective(sought=parameters_sought(arm, chosen)).score(G) == pytest.approx(
        np.sqrt(covariance[0, 0] + covariance[2, 2]), rel=1e-6)
    assert DesignObjective('volume').score(G) == pytest.approx(
        np.linalg.det(covariance) ** (1 / (2 * len(G))), rel=1e-6)


def scene_of(arm):
    hulls = tuple(
        Capsule(name, j, np.zeros(3), np.array([0.1, 0.05, 0.0]), 0.02)
        for j, name in enumerate(arm.joint_names))
    far = Box('box', np.array([1.2, 0.0, 0.3]), np.full(3, 0.2), np.eye(3))
    wall = Wall('wall', np.array([0.0, 0.0, -0.6]), np.array([0.0, 0.0, 1.0]))
    return build_scene(arm, Surroundings(hulls, (wall,), (far,)))


@pytest.mark.parametrize('objective', [
    DesignObjective(), DesignObjective('volume'), DesignObjective(scale_columns=True), None],
    ids=['condition', 'volume', 'scaled', 'chosen'])
def test_gradient_agrees_with_finite_differences(objective):
    """With a prismatic joint, coupling, torque limits and obstacles."""
    rng = np.random.default_rng(5)
    arm = random_arm(rng, 4, prismatic=False, branched=False)
    arm = replace(
        arm.with_tree(prismatic=np.array([False, True, False, False])),
        friction=('viscous', 'coulomb', 'stribeck'),
        limits=replace(JointLimits.unknown(4), upper=np.array([2.0, 0.3, 2.0, 2.0]),
                       lower=-np.array([2.0, 0.3, 2.0, 2.0]), effort=np.full(4, 150.0)),
        coupling=(CouplingColumn('Iam', 'qdd', np.eye(4)[::-1]),
                  CouplingColumn('Fvm', 'qd', np.diag([1.0, -2, 0, 3]))))
    objective = objective or DesignObjective(sought=parameters_sought(arm, ('Izz3',)))
    search = Search(arm, Task(harmonics=3, objective=objective), scene_of(arm))
    sharpness, wall, _ = DESCENT_STAGES[0]
    criterion = objective.smoothed(sharpness)
    cost = search.cost
    X = search.first(0)
    value, slope = cost.at(X, criterion, wall)
    assert np.isfinite(value)
    gradient, step = slope(), 1e-5
    numeric = np.empty_like(X)
    for index in np.ndindex(X.shape):
        change = np.zeros_like(X)
        change[index] = step
        numeric[index] = (cost.at(X + change, criterion, wall)[0]
                          - cost.at(X - change, criterion, wall)[0]) / (2 * step)
    # Forward differences of 1e-6 inside, central ones of 1e-5 here.
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4 * np.abs(numeric).max())


@pytest.mark.slow
def test_obstacles_shape_the_motion():
    arm = load_arm('two_axis')
    tip = Capsule('tip', 1, np.zeros(3), np.array([0.15, 0.0, 0.0]), 0.01)
    floor = Wall('floor', np.array([0.0, 0.0, -0.05]), np.array([0.0, 0.0, 1.0]))
    scene = build_scene(arm, Surroundings((tip,), (floor,)))
    designed = design(arm, Task(harmonics=4, starts=1), scene)
    q, _, _ = designed.motion.evaluate(np.linspace(0, 10, 20001))
    # With q2 = 0 the pendulum of 0.15 m stands upright.
    lowest = 0.15 * np.cos(q[:, 1]).min() - 0.01
    assert lowest >= -0.05 + 0.01
    assert lowest < 0.0
    assert designed.margins.clearance['tip - floor'] == pytest.approx(lowest + 0.04, abs=2e-3)


def test_an_interrupt_keeps_the_best_so_far():
    arm = load_arm('two_axis')
    best = []

    def interrupt(stage, _):
        best.append(float(stage.rpartition(' ')[2]))
        if stage.startswith('start 2'):
            raise KeyboardInterrupt

    with listening(interrupt):
        designed = design(arm, Task(harmonics=3, starts=50))
    assert designed.starts == 2
    assert not designed.complete
    # The stage states four digits.
    assert designed.score == pytest.approx(min(best), rel=1e-3)
    assert designed.margins.kept


def test_progress_never_gets_worse():
    seen = []
    with listening(lambda stage, _: seen.append(re.match(r'start (\d), best (.*)', stage))):
        design(load_arm('two_axis'), Task(harmonics=3, starts=3))
    best = [float(each[2]) for each in seen]
    assert best == sorted(best, reverse=True)
    assert {each[1] for each in seen} == {'1', '2', '3'}


def test_the_time_limit_is_kept_and_said():
    designed = design(load_arm('panda'), Task(starts=100, seconds=1.0))
    # One step, its verification, and a busy machine.
    assert designed.seconds < 3.0
    assert not designed.complete


def test_designs_work_without_nominal_inertias():
    arm = replace(load_arm('two_axis'), inertial=None, rotor_nominal=None, friction_nominal={})
    designed = design(arm, Task(harmonics=3, starts=1))
    # Cylinders stand for the links.
    assert (designed.margins.joints['torque'] > 0).all()
    assert designed.margins.kept


def test_validation_motions_are_different_and_not_optimised():
    arm = load_arm('two_axis')
    task = Task(harmonics=4, starts=1)
    best, other = design(arm, task), validation_motion(arm, task)
    assert other.motion.period != best.motion.period
    assert other.margins.kept
    assert other.condition_number > best.condition_number


def limited(arm, **values):
    return replace(arm, limits=replace(arm.limits, **values))


@pytest.mark.parametrize(('change', 'words'), [
    ({'lower': np.array([4.0, -1.0])}, "'arm_joint' .* 4 and 3.14, 0.86 too little"),
    ({'velocity': np.array([1.0, 0.0])}, "'pendulum_joint' .* velocity limit of 0"),
    ({'effort': np.array([1.0, 1e-3])}, 'the effort limit of pendulum_joint'),
])
def test_limits_without_a_motion_are_named(change, words):
    with pytest.raises(InputError, match=words):
        design(limited(load_arm('two_axis'), **change), Task(harmonics=3))


def test_other_wrong_requests_are_named():
    arm = load_arm('two_axis')
    with pytest.raises(InputError, match='0 s leave no time for one iteration'):
        design(arm, Task(seconds=0.0))
    with pytest.raises(InputError, match="no parameter 'Izz9'"):
        parameters_sought(arm, ('Izz9',))
    with pytest.raises(InputError, match="'m2' of 'two_axis' is not a base parameter"):
        parameters_sought(arm, ('m2',))
    with pytest.raises(InputError, match='2 harmonics at least'):
        design(arm, Task(harmonics=1))
    everywhere = Box('block', np.zeros(3), np.full(3, 2.0), np.eye(3))
    tip = Capsule('tip', 1, np.zeros(3), np.array([0.15, 0.0, 0.0]), 0.01)
    scene = build_scene(arm, Surroundings((tip,), (), (everywhere,)))
    with pytest.raises(InputError, match='block'):
        design(arm, Task(), scene)
