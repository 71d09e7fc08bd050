# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drives of an arm that states none follow from its links and limits, and are stated."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest
import yaml

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.parameters import inertial_from_com, is_physical
from dynid_ros.arm.shipped import shipped_arms
from dynid_ros.data.files.plain_values import arm_from_plain
from dynid_ros.data.files.sidecar import sidecar_text
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.plausible_drive import (
    assumptions,
    ROTOR_BY_RATING,
    typical_speed,
    typical_torque,
    with_plausible_drives,
)
from dynid_ros.simulation.record import simulate, simulation_notes


def pendulum(effort=np.inf, acceleration=10.0, velocity=1e5):
    """Hang a point mass of 2 kg 0.5 m below a horizontal axis that turns by 2 rad."""
    limits = JointLimits(*(np.array([x]) for x in (-1.0, 1.0, velocity, acceleration, effort)))
    return replace(
        random_arm(np.random.default_rng(0), 1, prismatic=False).with_tree(
            rotation=np.eye(3)[None], translation=np.zeros((1, 3)),
            axis=np.array([[0.0, 1.0, 0.0]])),
        limits=limits, gravity=np.array([0.0, 0.0, -9.81]), rotor_nominal=None,
        friction_nominal={}, friction=('viscous', 'coulomb'),
        inertial=np.array([[2.0, 0, 0, -1.0, 0.5, 0, 0, 0.5, 0, 0]]))


@pytest.mark.parametrize('name', shipped_arms())
def test_shipped_arms_state_their_drives(name):
    arm = load_arm(name)
    plausible, assumed = with_plausible_drives(arm)
    assert plausible is arm
    assert (assumed, assumptions(arm, assumed)) == ({}, '')


@pytest.mark.parametrize(('effort', 'rotor'), [
    (np.inf, 0.5), (5e4, 0.5), (0.0, 0.5), (20.0, ROTOR_BY_RATING * 20.0 / 10.0)])
def test_rotor_inertia_is_that_of_the_links_or_what_the_rating_bears(effort, rotor):
    arm, _ = with_plausible_drives(pendulum(effort))
    np.testing.assert_allclose(arm.rotor_nominal, rotor, rtol=1e-12)


def test_friction_is_a_share_of_the_torque_at_the_speed_that_the_range_allows():
    stated = pendulum()
    arm, _ = with_plausible_drives(replace(stated, rotor_nominal=np.zeros(1)))
    # Gravity is 9.81 sin(q) Nm over ±1 rad, inertia 0.5 kg m² times up to 10 rad/s².
    torque = np.sqrt(9.81**2 * (0.5 - np.sin(2.0) / 4) + (0.5 * 10.0)**2 / 3)
    # 50 random states: three deviations of their mean square are 30 %.
    assert typical_torque(arm) == pytest.approx(torque, rel=0.15)
    # Half of 2 rad at 10 rad/s².
    np.testing.assert_allclose(typical_speed(arm), np.sqrt(2 * 10.0 * 1.0))
    np.testing.assert_allclose(typical_speed(pendulum(velocity=0.3)), 0.3)
    np.testing.assert_allclose(arm.friction_nominal['coulomb'], 0.1 * typical_torque(arm))
    np.testing.assert_allclose(
        arm.friction_nominal['viscous'] * typical_speed(arm), 0.1 * typical_torque(arm))
    weak, _ = with_plausible_drives(pendulum(effort=2.0))
    np.testing.assert_allclose(weak.friction_nominal['coulomb'], 0.1 * 2.0)


def test_terms_that_are_not_identified_or_stated_are_left_alone():
    arm = replace(pendulum(), rotor_inertia=False, friction=('viscous',))
    assert set(with_plausible_drives(arm)[1]) == {'viscous'}
    stated = replace(pendulum(), friction_nominal={'coulomb': np.ones(1)})
    assert set(with_plausible_drives(stated)[1]) == {'rotor_inertia'}


@pytest.mark.parametrize('stated', [0, 1])
def test_links_without_mass_are_those_of_the_prior_and_are_stated(stated):
    arm = random_arm(np.random.default_rng(1), 2, prismatic=False)
    arm = replace(arm, inertial=arm.inertial * [[stated], [0]] if stated else None)
    plausible, assumed = with_plausible_drives(arm)
    assert all(is_physical(link) for link in plausible.inertial)
    np.testing.assert_array_equal(assumed['mass'][stated:], plausible.inertial[stated:, 0])
    assert not assumed['mass'][:stated].any()
    if stated:
        np.testing.assert_array_equal(plausible.inertial[0], arm.inertial[0])
    mass = assumed['mass'][stated:]
    ends = ' to '.join(dict.fromkeys(f'{end:.2g}' for end in (mass.min(), mass.max())))
    assert f'cylinders of {ends} kg' in assumptions(arm, assumed)


def test_a_mass_without_extent_gets_one_unless_it_is_off_the_axis():
    arm = random_arm(np.random.default_rng(1), 2, prismatic=False)
    points = np.array([inertial_from_com(2.0, center, np.zeros((3, 3)))
                       for center in ([0, 0, 0], [0.1, 0.2, 0.3])])
    plausible, assumed = with_plausible_drives(replace(arm, inertial=points))
    assert is_physical(plausible.inertial[0])
    np.testing.assert_array_equal(plausible.inertial[1], points[1])
    np.testing.assert_allclose(assumed['mass'], [2.0, 0.0])


def test_sidecar_states_the_arm_and_its_sensors():
    arm, assumed = with_plausible_drives(pendulum())
    simulation = simulate(arm, random_motion(arm, 0, periods=1, tries=2), rate_hz=100)
    content = yaml.safe_load(sidecar_text(simulation_notes(arm, assumed, simulation, seed=7)))
    told = content['simulation']
    assert told['seed'] == 7
    assert set(told['assumed']) == {'rotor_inertia', 'viscous', 'coulomb'}
    np.testing.assert_array_equal(told['torque_noise'], simulation.sensors.effort_noise)
    np.testing.assert_array_equal(told['encoder_counts'], [65536.0])
    np.testing.assert_array_equal(
        arm_from_plain(content['arm']).rotor_nominal, told['assumed']['rotor_inertia'])


def test_sentence_tells_what_is_assumed_in_one_line():
    sentence = assumptions(*with_plausible_drives(pendulum()))
    assert '\n' not in sentence
    assert 'rotor inertia of 0.5 kg m²' in sentence
    assert 'viscous friction' in sentence and 'Coulomb friction' in sentence


def test_assumptions_on_joints_that_turn_and_slide_have_units_of_their_own():
    arm = random_arm(np.random.default_rng(0), 3).with_tree(
        prismatic=np.array([False, True, False]))
    sentence = assumptions(arm, {'viscous': np.array([1.0, 50.0, 3.0])})
    assert 'viscous friction of 1 to 3 Nm s/rad, viscous friction of 50 N s/m' in sentence
