# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gravity in another direction, missing, or unexpected, and what the data tell of it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recording
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.suspects.arm_suspects import other_gravity
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import as_recorded
from dynid_ros.estimation.suspects.table import likeliest_sizes, Nulls, table_of
from dynid_ros.estimation.suspects.variable_projection import step_of
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

pytestmark = pytest.mark.slow


def table(arm, log):
    return table_of(as_recorded(arm.as_measured, samples_of(arm, log)))


def recording(arm, rpy):
    """Record an arm whose gravity is tilted; return its true direction too."""
    real = replace(arm, gravity=rotation_rpy(rpy) @ arm.gravity)
    return moved(real), real.gravity / np.linalg.norm(real.gravity)


def moved(arm):
    return followed(arm, random_motion(arm, 0, tries=10, periods=2), 125.0)


@cache
def upright(name):
    """Record an arm that stands as it says: the smallest in MuJoCo, which takes seconds."""
    arm = load_arm(name)
    if name == 'two_axis':
        return arm, simulate(arm, random_motion(arm, 0, tries=10, periods=1), rate_hz=125).log
    return arm, moved(arm)


def angle(first, second):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second))


def tilt(found):
    (shown,) = [each for each in found.one_step if each.suspect.fault.code == 'gravity_direction']
    return shown


@pytest.mark.parametrize(('name', 'rpy'), [
    ('panda', (np.pi / 2, 0, 0)), ('hand_leg', (0.3, 0.2, 0)), ('hand_leg', (np.pi, 0, 0))])
def test_a_mounting_that_is_not_the_stated_one_is_named_with_its_direction(name, rpy):
    arm = load_arm(name)
    log, truth = recording(arm, rpy)
    best = table(arm, log).winners[0].suspect
    assert best.fault.code == 'gravity_direction'
    assert angle(best.arm.gravity, truth) < 1.5


@pytest.mark.parametrize('ahead', [-1.0, 0.0, 1.0])
def test_possible_masses_decide_between_a_direction_and_its_opposite(ahead):
    """Without limits of masses, the two explain the torque of a slow arm equally well."""
    arm, log = upright('hand_leg')
    base = as_recorded(replace(arm, gravity=arm.gravity[[2, 0, 1]]), samples_of(arm, log))
    likelihood = Likelihood(base)
    nulls = Nulls(likelihood, base)
    down = arm.gravity / np.linalg.norm(arm.gravity)
    both = {sign: next(each for each in other_gravity(base, [0, 1]) if each.size and angle(
        each.arm.gravity, sign * down) < 1) for sign in (1, -1)}
    most = likelihood.unconstrained(both[1]) - nulls.recorded.value
    ((line, _),) = likeliest_sizes(
        likelihood, [(most, both[1]), (most + ahead, both[-1])], nulls, 10.0)
    assert line.suspect is both[1]


@pytest.mark.parametrize('name', ['panda', 'hand_leg', 'two_axis'])
def test_an_upright_arm_is_confirmed(name):
    found = table(*upright(name))
    assert not found.winners
    shown = tilt(found)
    # Four standard deviations, of at most 0.5 degrees with the usual torque noise.
    assert np.degrees(np.linalg.norm(shown.step)) < 4 * np.degrees(shown.std) < 2.5


def test_a_tilted_arm_that_states_its_tilt_is_confirmed():
    arm = load_arm('hand_leg')
    log, truth = recording(arm, (0.5, 0.3, 0))
    found = table(replace(arm, gravity=9.81 * truth), log)
    assert not found.winners
    assert np.degrees(np.linalg.norm(tilt(found).step)) < 1.0


def test_a_small_arm_on_a_wall_is_noticed_though_its_answer_is_ambiguous():
    arm = load_arm('two_axis')
    log, truth = recording(arm, (np.pi / 2, 0, 0))
    directions = [line.suspect.arm.gravity for line in table(arm, log).winners
                  if line.suspect.fault.code == 'gravity_direction']
    apart = [angle(direction, truth) for direction in directions]
    assert min(apart) < 2.0 and max(apart) > 178.0


def test_an_arm_that_hangs_gets_one_direction_and_one_zero():
    arm, log = upright('ur10')
    found = table(replace(arm, gravity=-arm.gravity), log.part(0, 875)).winners
    (direction,) = [line for line in found if line.suspect.fault.code == 'gravity_direction']
    assert angle(direction.suspect.arm.gravity, arm.gravity) < 5.0
    assert np.degrees(direction.suspect.size.distance) == pytest.approx(180, abs=5)
    # Half a turn of the joint that lifts the arm is the same, this way or the other.
    assert len(found) <= 2


def test_an_arm_that_moves_level_tells_its_tilt_but_not_by_how_much():
    arm = load_arm('two_axis')
    light = replace(arm, inertial=np.array([
        [0.6, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.02], [0.08, 0, 0, 0, 4e-4, 0, 0, 4e-4, 0, 4e-4]]))
    assert not table(light, recording(light, (0, 0, 0))[0]).winners
    first, *others = table(light, recording(light, (np.radians(10), 0, 0))[0]).winners
    assert first.suspect.fault.code == 'gravity_direction'
    # A lighter arm that is tilted further has the same torque, as has one that is tilted back.
    assert others


def without_gravity(arm, log):
    """Take the torque of gravity out of a recording, as some controllers do."""
    standard = base_parameters(arm).grouping @ nominal_parameters(arm)
    return replace(log, u=log.u - gravity_load(arm, log.q, standard))


@pytest.mark.parametrize('stated', [True, False])
def test_one_fit_of_the_recording_serves_each_fault_of_size_zero(stated):
    """Gravity that the arm does not state is a fault at any tilt: it has a fit of its own."""
    arm, log = upright('hand_leg')
    found = table(arm if stated else replace(arm, gravity=np.zeros(3)), log)
    likelihood, codes = Likelihood(found.recorded), set()
    for each in found.one_step:
        step, covariance = step_of(likelihood, each.suspect)
        # Of the step of finite differences, 1e-4, rounding leaves twelve digits.
        np.testing.assert_allclose(each.step, step, rtol=1e-6, atol=1e-6 * each.std)
        assert each.std == pytest.approx(np.sqrt(np.linalg.eigvalsh(covariance)[-1]), rel=1e-6)
        codes.add(each.suspect.fault.code)
    assert {'effort_scale', 'position_zero'} < codes
    assert ('gravity_direction' if stated else 'gravity_missing') in codes


def test_effort_without_gravity_is_named():
    arm, log = upright('panda')
    assert table(arm, without_gravity(arm, log)).winners[0].suspect.fault.code == (
        'gravity_removed')


def test_effort_without_gravity_is_named_in_the_verdict_and_so_is_the_reverse():
    arm, made = upright('hand_leg')
    told = replace(arm, drive=replace(arm.drive, includes_gravity=False))
    removed = without_gravity(arm, made)
    for described, log, word in (
            (arm, removed, 'no gravity torque'), (told, made, 'holds gravity torque'),
            (arm, made, None), (told, removed, None)):
        result = identify(described, [log], friction=arm.friction)
        assert result.verdict.trustworthy == (word is None)
        assert word is None or word in result.verdict.reasons[0]
        notes = [note for note in result.treatment.notes if 'gravity agrees' in note]
        assert bool(notes) == (described is arm and log is made)


def test_gravity_taken_out_of_real_torque_is_named(shared_data):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    log, _ = checked_recording(log, arm)
    settings = choose_conditioning(arm, [log])
    theta = fit(arm, KeptRows(arm, condition_recording(arm, log, settings), settings)).theta
    gravity = gravity_load(arm, log.q, theta)
    assert table(arm, replace(log, u=log.u - gravity)).winners[0].suspect.fault.code == (
        'gravity_removed')
