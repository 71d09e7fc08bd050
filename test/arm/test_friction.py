# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction terms: what each column must do as a function of the velocity."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import dry_friction, friction_terms, FrictionShape, JointHistory, TERMS
from dynid_ros.errors import ArmError

SHAPE = FrictionShape(smooth_speed=0.03, stribeck_speed=0.1)
QD = np.linspace(-2.0, 2.0, 401)[:, None] * [1.0, 0.5]
LOAD = np.full_like(QD, -7.0)


WARMTH = np.full_like(QD, 1.5)


def column(name, qd=QD, load=LOAD):
    return TERMS[name].at(qd, load, JointHistory(WARMTH[:len(qd)], 0.5 * np.sign(qd)), SHAPE)


@pytest.mark.parametrize('name', sorted(set(TERMS) - {'offset'}))
def test_friction_opposes_the_motion_and_is_odd_in_velocity(name):
    value = column(name)
    assert (value * QD >= 0).all()
    np.testing.assert_array_equal(value, -column(name, -QD))
    assert not column(name, np.zeros_like(QD)).any()


@pytest.mark.parametrize('name', sorted(TERMS))
def test_every_column_has_the_shape_of_the_velocity_and_is_finite(name):
    value = column(name)
    assert value.shape == QD.shape
    assert np.isfinite(value).all()


def test_terms_take_their_defined_values():
    qd = np.array([[0.008, -1.0]])
    np.testing.assert_array_equal(column('viscous', qd), qd)
    np.testing.assert_array_equal(column('coulomb', qd), [[1, -1]])
    np.testing.assert_array_equal(column('offset', qd), [[1, 1]])
    # Cube roots are exact to rounding.
    np.testing.assert_allclose(column('viscous_cuberoot', qd), [[0.2, -1]], rtol=1e-15)


def test_smooth_coulomb_reaches_tanh_one_at_its_speed_and_coulomb_far_above():
    assert column('coulomb_smooth', np.array([[0.03]])) == pytest.approx(np.tanh(1.0))
    fast = np.array([[1.0, -1.0]])
    # tanh(1 / 0.03) is one to double precision.
    np.testing.assert_array_equal(column('coulomb_smooth', fast), column('coulomb', fast))


def test_dry_friction_is_the_sum_of_what_turns_over_with_the_velocity():
    speeds = np.array([1e-6, 0.02, 3.0])
    coefficients = {
        'viscous': np.array([5.0, 5.0]), 'load': np.array([5.0, 5.0]),
        'coulomb': np.array([2.0, 0.0]), 'sign_10': np.array([0.0, 30.0]),
        'coulomb_smooth': np.array([0.0, -40.0]), 'sign_1000': np.array([0.0, 12.0])}
    curve = 30 * np.tanh(speeds / 0.01) - 40 * np.tanh(speeds / 0.03) + 12 * np.tanh(speeds)
    np.testing.assert_allclose(
        dry_friction(coefficients, speeds, SHAPE), np.column_stack([[2.0, 2.0, 2.0], curve]),
        rtol=1e-9, atol=1e-14)
    assert dry_friction({}, speeds, SHAPE).shape == (3, 0)


def test_stribeck_dies_out_with_speed():
    value = column('stribeck', np.array([[0.05], [0.1], [0.5], [2.0]])).ravel()
    assert (np.diff(value) < 0).all()
    # exp(-20) at twenty Stribeck speeds.
    assert value[-1] < 1e-8


def test_load_friction_grows_with_the_size_of_the_load_whatever_its_sign():
    up, down = column('load', load=LOAD), column('load', load=-LOAD)
    np.testing.assert_array_equal(up, down)
    # A power of two scales without rounding.
    np.testing.assert_array_equal(column('load', load=4 * LOAD), 4 * up)
    assert TERMS['load'].needs_load


def test_symbols_are_unique_so_that_columns_can_be_named():
    symbols = [term.symbol for term in TERMS.values()]
    assert len(set(symbols)) == len(symbols)


def test_terms_come_in_the_order_asked_for():
    assert [t.symbol for t in friction_terms(['coulomb', 'viscous'])] == ['Fc', 'Fv']


def test_unknown_and_repeated_terms_are_refused():
    with pytest.raises(ArmError, match="unknown friction term 'coulom'; known are viscous"):
        friction_terms(['coulom'])
    with pytest.raises(ArmError, match='repeated'):
        friction_terms(['viscous', 'viscous'])


def test_an_arm_knows_whether_its_friction_needs_the_load():
    arm = load_arm('two_axis').with_friction(('viscous', 'load', 'offset'))
    assert arm.needs_load
    assert arm.memoryless.friction == ('viscous', 'offset')
    assert not arm.memoryless.needs_load
    # One object, so that what is cached by arm is found again.
    assert arm.memoryless is arm.memoryless
    assert arm.memoryless.memoryless is arm.memoryless
