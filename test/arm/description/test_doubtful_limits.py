# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Limits that cannot be meant."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from urdf_files import chain, joint, link, robot, write

from dynid_ros.arm.description.doubtful_limits import plausible_limits
from dynid_ros.arm.description.urdf import read_urdf
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import ArmWarning


def two_joints(limit, mass=1.0):
    rng = np.random.default_rng(0)
    return robot(link('base'), link('a', rng, mass), link('b', rng, mass),
                 joint('j1', 'base', 'a'), joint('j2', 'a', 'b', extra=limit))


def test_an_absurd_effort_is_named_and_counts_as_unknown(tmp_path):
    path = write(tmp_path, two_joints('<limit lower="-1" upper="1" velocity="2" effort="50000"/>'))
    with pytest.warns(ArmWarning, match=r'no usable effort limit for j2 \(50000\); planned'):
        arm = load_arm(path)
    np.testing.assert_array_equal(arm.limits.effort, [5, np.inf])
    np.testing.assert_array_equal(arm.limits.velocity, [4, 2])


@pytest.mark.parametrize('velocity', ['velocity="0"', 'velocity="10000"', ''])
def test_a_velocity_of_zero_or_beyond_any_drive_is_named(tmp_path, velocity):
    path = write(tmp_path, two_joints(f'<limit lower="-1" upper="1" {velocity} effort="5"/>'))
    with pytest.warns(ArmWarning, match='no usable velocity limit for j2.*assume 2 rad/s'):
        arm = load_arm(path)
    np.testing.assert_array_equal(arm.limits.velocity, [4, np.inf])


def test_limits_in_degrees_are_taken_as_such_with_a_word(tmp_path):
    path = write(tmp_path, robot(
        link('base'), *map(link, 'abc'), joint('j1', 'base', 'a'),
        joint('j2', 'a', 'b', extra='<limit lower="-90" upper="170" velocity="2" effort="5"/>'),
        joint('rail', 'b', 'c', 'prismatic',
              extra='<limit lower="0" upper="40" velocity="2" effort="5"/>')))
    with pytest.warns(ArmWarning, match=r'limits of j2 \(-90 to 170\) look like degrees'):
        limits = load_arm(path).limits
    np.testing.assert_allclose(limits.lower, [-2, -np.pi / 2, 0])
    np.testing.assert_allclose(limits.upper, [3, np.radians(170), 40])


def test_limits_without_masses_cannot_be_doubted(tmp_path):
    path = write(tmp_path, robot(
        link('base'), link('a'),
        joint('j', 'base', 'a', extra='<limit lower="0" upper="1" velocity="1" effort="9e9"/>')))
    limits, doubts = plausible_limits(read_urdf(path))
    assert doubts == ()
    assert limits.effort[0] == 9e9


@settings(max_examples=30)
@given(st.floats(1e-3, 1e3), st.floats(0.1, 200))
def test_the_judgement_of_an_effort_does_not_depend_on_the_size_of_the_arm(
        tmp_path_factory, scale, share):
    limit = f'<limit lower="-1" upper="1" velocity="2" effort="{share * scale!r}"/>'
    reference = f'<limit lower="-1" upper="1" velocity="2" effort="{share!r}"/>'
    folder = tmp_path_factory.getbasetemp()
    # Twice the mass and twice the effort is the same arm in other units.
    scaled = read_urdf(write(folder, two_joints(limit, mass=scale)))
    scaled = plausible_limits(scaled)[0].effort[1]
    plain = plausible_limits(read_urdf(write(folder, two_joints(reference))))[0].effort[1]
    assert np.isfinite(scaled) == np.isfinite(plain)


def test_joints_of_a_chain_with_usual_ratings_are_left_alone(tmp_path):
    read = read_urdf(write(tmp_path, robot(link('base'), *chain('arm', 'base', 3))))
    limits, doubts = plausible_limits(read)
    assert doubts == ()
    np.testing.assert_array_equal(limits.effort, read.limits.effort)
