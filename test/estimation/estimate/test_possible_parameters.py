# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Physically possible parameters, against Clarabel, Pinocchio and what must come back."""

from dataclasses import replace

import conic_program
from hypothesis import example, given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import CURVE
from dynid_ros.arm.parameters import inertial_from_com, is_physical
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.barrier_newton import closest_possible
from dynid_ros.estimation.estimate.physical_cone import PhysicalCone, SCALAR
from dynid_ros.estimation.estimate.possible_parameters import possible_parameters, SHAPE_STD


def root_of(arm):
    """Square root of the information of many random states."""
    base = base_parameters(arm)
    return np.linalg.qr(random_regressor(arm)[:, base.columns], mode='r')


def possible_from(arm, theta, root, prior=None):
    """Possible parameters nearest to base parameters, by the information of `root`."""
    torque = random_regressor(arm)[:, base_parameters(arm).columns] @ theta
    prior = prior or arm_prior(arm).scaled_to(
        np.nan_to_num(np.sqrt((torque.reshape(-1, arm.n)**2).mean(axis=0))))
    with np.errstate(all='ignore'):
        covariance = np.linalg.pinv(root.T @ root + np.linalg.inv(prior.covariance))
    return possible_parameters(arm, prior, root, root @ theta, covariance)


def arms(seed):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, int(rng.integers(1, 5)))
    return replace(arm, rotor_nominal=rng.uniform(0.1, 1.0, arm.n), friction_nominal={
        name: rng.uniform(0.1, 1.0, arm.n) for name in ('viscous', 'coulomb')})


def links_of(arm, values):
    return values[arm.layout.all_inertial()].reshape(arm.n, 10)


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), size=st.floats(0.01, 1e3), bare=st.booleans())
@example(seed=240, size=767.0, bare=False)
def test_any_estimate_becomes_possible(seed, size, bare):
    arm = arms(seed)
    if bare:
        arm = replace(arm, inertial=None, rotor_nominal=None, friction_nominal={})
    theta = size * np.random.default_rng(seed).normal(size=base_parameters(arm).count)
    found = possible_from(arm, theta, root_of(arm))
    assert all(map(is_physical, links_of(arm, found.values)))
    for name, value in zip(found.names, found.values, strict=True):
        if name.startswith(('m', 'Ia', 'Fv', 'Fc')) and name[1] not in 'xyz':
            assert value > 0
    assert np.isfinite(found.std).all()
    assert (found.data_share >= 0).all()
    assert (found.data_share <= 1).all()


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_possible_parameters_come_back_when_the_prior_weighs_nothing(seed):
    """Where all are determined, whatever the prior, itself possible, says."""
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 3, prismatic=False).rigid
    true, other = (np.concatenate(random_arm(rng, 3).inertial) for _ in range(2))
    cone = PhysicalCone(
        arm.layout.all_inertial().reshape(3, 10), np.zeros((0, 30)), np.zeros(0), other)
    A = rng.normal(size=(60, 30))
    np.testing.assert_allclose(
        closest_possible(A.T @ A, A.T @ A @ true, cone, 1e-12), true,
        atol=1e-6 * np.abs(true).max())


@pytest.mark.parametrize('seed', range(3))
def test_single_terms_of_a_friction_curve_have_either_sign(seed):
    arm = random_arm(np.random.default_rng(seed), 3).with_friction(('viscous', *CURVE))
    falls = {'Fv': 1.0, 'Fta': 8.0, 'Fcs': 4.0, 'Ftb': -9.0, 'Ftc': 2.0}
    true = nominal_parameters(arm)
    for symbol, value in falls.items():
        true[arm.layout.friction_columns(symbol)] = value
    found = possible_from(arm, base_parameters(arm).grouping @ true, 1e3 * root_of(arm))
    for symbol, value in falls.items():
        columns = arm.layout.friction_columns(symbol)
        np.testing.assert_allclose(found.values[columns], value, rtol=0.02)


@pytest.mark.parametrize('seed', range(3))
def test_planted_parameters_that_are_the_prior_come_back_each_by_itself(seed):
    """Inertias about another point, or those of the next link, would not."""
    arm = arms(seed)
    true = nominal_parameters(arm)
    found = possible_from(arm, base_parameters(arm).grouping @ true, root_of(arm))
    np.testing.assert_allclose(found.values, true, rtol=1e-6, atol=1e-9)
    assert found.impossible == ()
    assert found.from_shape == ()
    # Pinocchio has them, too.
    model = pinocchio_model(replace(arm, inertial=links_of(arm, found.values)))
    state = np.random.default_rng(seed).uniform(-1, 1, (3, arm.n))
    rigid = pinocchio.rnea(model, model.createData(), *state)
    np.testing.assert_allclose(
        rigid, pinocchio.rnea(pinocchio_model(arm), model.createData(), *state), rtol=1e-6)


@pytest.mark.parametrize('factor', [100.0, 1e4])
@pytest.mark.parametrize('seed', range(4))
def test_signals_in_a_smaller_unit_give_the_same_model_in_that_unit(factor, seed):
    """Torque in raw counts asks for bodies of any mass, but of the same shapes."""
    arm = arms(seed)
    unstated = replace(arm, inertial=None, rotor_nominal=None, friction_nominal={})
    # Few rows, which leave much to the prior.
    root, grouping = root_of(arm)[-arm.n:], base_parameters(arm).grouping
    theta = 10 * grouping @ nominal_parameters(arm)
    plain, scaled = (possible_from(unstated, k * theta, root / k) for k in (1.0, factor))
    np.testing.assert_allclose(scaled.values / factor, plain.values, rtol=1e-8, atol=1e-8)


def test_only_what_the_motion_excites_counts_as_the_data_s():
    arm = load_arm('ur10')
    found = possible_from(
        arm, base_parameters(arm).grouping @ nominal_parameters(arm), 1e3 * root_of(arm))
    share = dict(zip(found.names, found.data_share, strict=True))
    std = dict(zip(found.names, found.std, strict=True))
    mass = arm.inertial[:, 0]
    # The first link turns about an upright axis, and nothing tells its mass.
    assert share['m1'] < 1e-6
    assert std['m1'] == pytest.approx(mass[0], rel=0.05)
    assert share['my6'] > 0.99
    assert std['my6'] < 0.01 * mass[5]


def test_a_link_of_unknown_inertia_starts_as_a_cylinder_to_the_next_joint():
    arm = replace(load_arm('two_axis'), inertial=None)
    prior = arm_prior(arm)
    assert prior.guessed[arm.layout.all_inertial()].all()
    link = links_of(arm, prior.values)[0]
    end = arm.translation[1]
    length = np.linalg.norm(end)
    radius = max(0.25 * length, 0.15 * length)
    body = pinocchio.Inertia.FromCylinder(link[0], radius, length)
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), end).matrix()
    np.testing.assert_allclose(
        link, inertial_from_com(link[0], end / 2, turn @ body.inertia @ turn.T), rtol=1e-9,
        atol=1e-12)


def test_next_to_no_gravity_leaves_every_link_its_mass():
    arm = replace(load_arm('two_axis'), inertial=None, gravity=np.array([1e-310, 0, 0]))
    with np.errstate(all='raise', under='ignore'):
        weightless = links_of(arm, arm_prior(arm).values)
    heavy = replace(arm, gravity=np.array([9.81, 0, 0]))
    assert (weightless >= links_of(heavy, arm_prior(heavy).values))[:, 0].all()


def test_friction_that_no_motion_shows_is_little_of_the_drive_or_what_arm_yaml_states():
    arm = replace(load_arm('ur10').with_friction(('viscous', 'coulomb')), friction_nominal={})
    nothing = np.zeros((base_parameters(arm).count,) * 2)
    for stated in (None, np.full(arm.n, 7.0)):
        own = arm if stated is None else replace(arm, friction_nominal={'coulomb': stated})
        found = possible_parameters(
            own, arm_prior(own), nothing, nothing[0], arm_prior(own).covariance)
        coulomb = found.values[arm.layout.friction_columns('Fc')]
        # With x by the drive's effort, x² + 0.1 x = 0.01 where both parts of the prior balance.
        root = (np.sqrt(0.1**2 + 4 * 0.01) - 0.1) / 2
        expected = root * arm.limits.effort if stated is None else stated
        np.testing.assert_allclose(coulomb, expected, rtol=1e-3)


@pytest.mark.parametrize('sign', [1, -1])
@pytest.mark.parametrize(('joints', 'information'), [(3, 1.0), (7, 1.0), (3, 15.0), (7, 30.0)])
def test_minimum_is_that_of_clarabel(joints, information, sign):
    """Also of data of the wrong sign, which no body explains, however well they are known."""
    pytest.importorskip('clarabel', reason='clarabel is not installed')
    A, b, cone = conic_program.problem(conic_program.many_joints(joints))
    A, b = information * A, sign * information * b
    own = closest_possible(A.T @ A, A.T @ b, cone, 1.0)
    other = conic_program.by_clarabel(A, b, cone, 1.0)
    values = [conic_program.objective(A, b, cone, 1.0, x) for x in (own, other)]
    assert np.linalg.eigvalsh(cone.bodies(own)).min() > 0
    assert values[0] == pytest.approx(values[1], rel=2e-6)


@pytest.mark.parametrize('seed', [16, 36, 58])
def test_search_for_what_is_a_thousand_times_its_prior_ends_at_the_minimum(seed):
    arm = arms(seed)
    theta = 1e3 * base_parameters(arm).grouping @ nominal_parameters(arm)
    root = 1e4 * root_of(arm) / np.sqrt((root_of(arm) @ theta).var())
    found = possible_from(arm, theta, root)
    x, cone, weight = found.values, found.cone.resized(found.values), 1 / SHAPE_STD**2
    G, tie = found.prior.grouping, 1 / found.prior.std**2
    tie[cone.links] = 0.0
    H = G.T @ found.information @ G + np.diag(tie)
    barrier = cone.adjoint(np.linalg.inv(cone.bodies(x)), SCALAR / cone.scalars(x))
    slope = H @ x - G.T @ found.score - tie * found.prior.values + weight * (cone.pull - barrier)
    # Newton's decrement; sizes of the prior's links have settled within 10 %.
    left = slope @ np.linalg.solve(H + weight * cone.hessian(x), slope)
    assert left < 0.1**2 * weight * 16 * len(cone.links)


def test_estimates_that_are_not_finite_are_refused():
    arm = load_arm('two_axis')
    theta = np.full(base_parameters(arm).count, np.nan)
    with pytest.raises(InputError, match='finite'):
        possible_from(arm, theta, root_of(arm))


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), power=st.sampled_from([-3.0, -1.5, 1.5, 3.0]))
@example(seed=128, power=-3.0)
@example(seed=342, power=3.0)
@example(seed=34079, power=3.0)
def test_a_truth_far_from_the_centre_of_the_prior_is_found_where_the_motion_shows_it(seed, power):
    """Links, rotors and friction a thousand times as large as stated, or as small."""
    arm, factor = arms(seed), 10.0**power
    true = factor * nominal_parameters(arm)
    grouping = base_parameters(arm).grouping
    # Noise of 1e-4 of the torque.
    root = 1e4 * root_of(arm) / np.sqrt((root_of(arm) @ grouping @ true).var())
    found = possible_from(arm, grouping @ true, root)
    off = root @ (found.theta - grouping @ true)
    assert np.linalg.norm(off) < 0.01 * np.linalg.norm(root @ grouping @ true)
    # Of single parameters: viscous friction is a base parameter of its own. A joint that turns a
    # light link beside heavy ones shows its own to some per cent of its size only.
    viscous = arm.layout.friction_columns('Fv')
    error = np.abs(found.values - true)[viscous]
    assert (error < np.maximum(0.02 * true[viscous], found.std[viscous])).all()


def test_a_boundary_does_not_narrow_an_error_bar():
    """A rotor inertia that is negative without bounds has the error bar of its data."""
    arm = load_arm('ur10')
    base, rotor = base_parameters(arm), arm.layout.rotors[5]
    true, root, prior = nominal_parameters(arm), root_of(arm), arm_prior(arm)
    alone = base.columns.tolist().index(rotor)
    true[rotor] = -1.0
    found = possible_from(arm, base.grouping @ true, root)
    covariance = np.linalg.inv(root.T @ root + np.linalg.inv(prior.covariance))
    assert 0 < found.values[rotor] < 0.1
    assert found.std[rotor] == pytest.approx(np.sqrt(covariance[alone, alone]), rel=1e-6)


@pytest.mark.parametrize('seed', range(10))
def test_a_link_much_heavier_than_stated_keeps_its_shape_not_its_size(seed):
    """The mass of the last link goes with what the motion shows of it, thirty times as much."""
    arm = arms(seed)
    true, prior, rotors = nominal_parameters(arm), arm_prior(arm), arm.layout.rotors
    true[arm.layout.all_inertial()] *= 30
    # Rotors that may be much larger, too, would take some of what the motion shows of a link.
    std = prior.std.copy()
    std[rotors] = 1e-3 * prior.values[rotors]
    grouping, root = base_parameters(arm).grouping, root_of(arm)
    root = 1e3 * root / np.sqrt((root @ grouping @ true).var())
    found = possible_from(arm, grouping @ true, root, replace(prior, std=std))
    # Only the logarithm of the size feels a pull to the stated one.
    assert 2 / 3 < links_of(arm, found.values)[-1, 0] / links_of(arm, true)[-1, 0] < 3


def test_a_mass_that_no_joint_feels_is_not_from_data():
    arm = load_arm('ur10')
    found = possible_from(
        arm, base_parameters(arm).grouping @ nominal_parameters(arm), 1e3 * root_of(arm))
    sources = dict(zip(found.names, found.from_data.tolist(), strict=True))
    assert sources['my6'] and sources['Ia6']
    assert not sources['m1']


def test_friction_that_nothing_shows_is_far_below_what_the_drive_can_give():
    """The bound above zero keeps it positive, and says no more of it than that."""
    arm = replace(load_arm('ur10').with_friction(('viscous', 'coulomb')), friction_nominal={})
    nothing = np.zeros((base_parameters(arm).count,) * 2)
    found = possible_parameters(
        arm, arm_prior(arm), nothing, nothing[0], arm_prior(arm).covariance)
    coulomb = found.values[arm.layout.friction_columns('Fc')]
    assert (coulomb > 0).all()
    assert (coulomb < 0.3 * arm.limits.effort).all()
