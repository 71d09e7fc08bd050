# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Standard parameters against Pinocchio's spatial inertia."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from oracles import random_link, random_rotation
import pinocchio as pin
import pytest

from dynid_ros.arm.parameters import (
    inertia_matrix,
    inertial_from_com,
    inertial_to_com,
    is_physical,
    ParameterLayout,
    pseudo_inertia,
)

seeds = st.integers(0, 2**32 - 1)
# A few roundings of numbers up to about thirty.
CLOSE = {'rtol': 0, 'atol': 1e-12}


def body(seed):
    rng = np.random.default_rng(seed)
    turn = random_rotation(rng)
    # Any three second moments give an inertia that a body can have.
    moments = rng.uniform(0.01, 1.0, 3)
    inertia = turn @ np.diag(moments.sum() - moments) @ turn.T
    return rng.uniform(0.1, 10), rng.uniform(-1, 1, 3), (inertia + inertia.T) / 2


@given(seeds)
def test_parameters_about_the_origin_equal_pinocchios(seed):
    mass, com, inertia = body(seed)
    m, mx, my, mz, xx, xy, yy, xz, yz, zz = pin.Inertia(mass, com, inertia).toDynamicParameters()
    ours = inertial_from_com(mass, com, inertia)
    np.testing.assert_allclose(ours, [m, mx, my, mz, xx, xy, xz, yy, yz, zz], **CLOSE)


@given(seeds)
def test_centre_of_mass_and_back_changes_nothing(seed):
    mass, com, inertia = body(seed)
    back = inertial_to_com(inertial_from_com(mass, com, inertia))
    assert back[0] == mass
    np.testing.assert_allclose(back[1], com, **CLOSE)
    np.testing.assert_allclose(back[2], inertia, **CLOSE)


def test_a_link_without_mass_has_no_centre_of_mass():
    with pytest.raises(ValueError, match='without mass'):
        inertial_to_com(np.zeros(10))


@given(seeds)
def test_pseudo_inertia_is_the_second_moment_of_the_masses(seed):
    rng = np.random.default_rng(seed)
    masses, points = rng.uniform(0.1, 1, 8), rng.uniform(-1, 1, (8, 3))
    parameters = sum(
        inertial_from_com(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True))
    homogeneous = np.column_stack([points, np.ones(8)])
    expected = (homogeneous * masses[:, None]).T @ homogeneous
    np.testing.assert_allclose(pseudo_inertia(parameters), expected, **CLOSE)


@given(seeds)
def test_bodies_of_positive_mass_are_physical(seed):
    assert is_physical(random_link(np.random.default_rng(seed)))
    assert is_physical(inertial_from_com(*body(seed)))


@given(seeds)
def test_inertia_that_breaks_the_triangle_inequality_is_not_physical(seed):
    rng = np.random.default_rng(seed)
    small = rng.uniform(0.1, 1, 2)
    turn = random_rotation(rng)
    inertia = turn @ np.diag([*small, 1.01 * small.sum()]) @ turn.T
    assert not is_physical(inertial_from_com(1.0, rng.uniform(-1, 1, 3), inertia))


def test_negative_mass_is_not_physical():
    assert not is_physical(-random_link(np.random.default_rng(0)))


def test_inertia_matrix_has_each_product_on_both_sides():
    np.testing.assert_array_equal(
        inertia_matrix(np.arange(10)), [[4, 5, 6], [5, 7, 8], [6, 8, 9]])


def test_layout_names_every_column_once_and_finds_it():
    layout = ParameterLayout(3, True, ('Fv', 'Fc'), ('Iam3',))
    assert layout.size == len(layout.names) == len(set(layout.names)) == 3 * 13 + 1
    assert layout.names[layout.inertial(1)] == (
        'm2', 'mx2', 'my2', 'mz2', 'Ixx2', 'Ixy2', 'Ixz2', 'Iyy2', 'Iyz2', 'Izz2')
    assert layout.names[layout.rotors[2]] == 'Ia3'
    assert layout.names[layout.friction_columns('Fc')[0]] == 'Fc1'
    assert [layout.names[i] for i in layout.all_inertial()[10:20]] == list(
        layout.names[layout.inertial(1)])
    assert layout.names[-1] == 'Iam3'


def test_layout_without_rotor_inertia_has_no_such_column():
    layout = ParameterLayout(2, False)
    assert layout.size == 20
    assert not len(layout.rotors)
