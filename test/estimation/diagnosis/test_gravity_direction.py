"""Where down is, on simulated arms in all positions and on a real one."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.signals.trial_samples import trial_samples, TrialSamples
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    motions,
)
from dynid_ros.estimation.diagnosis.gravity_direction import gravity_direction, GravityCheck
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

pytestmark = pytest.mark.slow


def check(arm, log):
    log, _ = checked_recording(log, arm)
    treatment = choose_conditioning(arm, [log])
    prepared = motions(arm, log, treatment)
    nothing = [np.zeros(motion.q.shape, dtype=bool) for motion in prepared]
    return gravity_direction(arm, trial_samples(prepared, treatment, nothing))


def recording(arm, rpy):
    """Record an arm whose gravity is tilted; return its true direction too."""
    real = replace(arm, gravity=rotation_rpy(rpy) @ arm.gravity)
    return simulated(real).log, real.gravity / np.linalg.norm(real.gravity)


def simulated(arm):
    return simulate(arm, random_motion(arm, 0, tries=10, periods=2), rate_hz=125)


@cache
def upright(name):
    arm = load_arm(name)
    return arm, simulated(arm)


def angle(first, second):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second))


@pytest.mark.parametrize('rpy', [(np.pi / 2, 0, 0), (0.5, 0.3, 0), (np.pi, 0, 0)])
def test_a_mounting_that_is_not_the_stated_one_is_noticed_and_named(rpy):
    arm = load_arm('panda')
    log, truth = recording(arm, rpy)
    found = check(arm, log)
    assert angle(found.direction, truth) < 1.0
    assert found.elsewhere and not found.removed


@pytest.mark.parametrize('name', ['panda', 'ur10', 'hand_leg', 'two_axis'])
def test_an_upright_arm_is_confirmed(name):
    arm, made = upright(name)
    found, truth = check(arm, made.log), np.array([0.0, 0.0, -1.0])
    assert not found.elsewhere
    # Four standard deviations, of at most 0.5 degrees with the usual torque noise.
    assert angle(found.direction, truth) < 4 * np.degrees(found.std) < 2.5
    assert 'agrees with the data' in found.sentence


def test_a_tilted_arm_that_states_its_tilt_is_confirmed():
    arm = load_arm('panda')
    log, truth = recording(arm, (0.5, 0.3, 0))
    found = check(replace(arm, gravity=9.81 * truth), log)
    assert not found.elsewhere
    assert np.degrees(found.angle) < 1.0


def test_a_small_arm_on_a_wall_is_noticed_though_its_answer_is_ambiguous():
    arm = load_arm('two_axis')
    log, truth = recording(arm, (np.pi / 2, 0, 0))
    found = check(arm, log)
    assert found.elsewhere and found.ambiguous
    assert min(angle(found.direction, truth), angle(-found.direction, truth)) < 2.0


def test_an_arm_without_gravity_in_its_joints_gets_no_verdict():
    arm = load_arm('two_axis')
    light = replace(arm, inertial=np.array([
        [0.6, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.02], [0.08, 0, 0, 0, 4e-4, 0, 0, 4e-4, 0, 4e-4]]))
    log, _ = recording(light, (0, 0, 0))
    found = check(light, log)
    assert not found.elsewhere
    assert not found.determined
    assert 'direction is unidentifiable' in found.sentence


def without_gravity(arm, simulation):
    """Take the torque of gravity out of a recording, as some controllers do."""
    standard = base_parameters(arm).grouping @ nominal_parameters(arm)
    gravity = gravity_load(arm, simulation.truth.q, standard)
    return replace(simulation.log, u=simulation.log.u - gravity)


@pytest.mark.parametrize('name', ['panda', 'ur10', 'hand_leg'])
def test_effort_without_gravity_is_noticed_and_named(name):
    arm, made = upright(name)
    found = check(arm, without_gravity(arm, made))
    assert found.removed
    assert not found.agrees
    assert 'effort holds no gravity torque' in found.sentence
    assert 'includes_gravity: false' in found.sentence
    plain = check(arm, made.log)
    assert plain.sentence.startswith('the stated gravity agrees')
    assert plain.agrees and plain.loaded and not plain.removed


def test_effort_without_gravity_is_named_in_the_verdict_and_so_is_the_reverse():
    arm, made = upright('ur10')
    told = replace(arm, drive=replace(arm.drive, includes_gravity=False))
    removed = without_gravity(arm, made)
    for described, log, word in (
            (arm, removed, 'no gravity torque'), (told, made.log, 'holds gravity torque'),
            (arm, made.log, None), (told, removed, None)):
        result = identify(described, [log], friction=arm.friction)
        assert result.verdict.trustworthy == (word is None)
        assert word is None or word in result.verdict.reasons[0]


def test_gravity_taken_out_of_real_torque_is_noticed(shared_data):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    model = identify(arm, [log], friction=arm.friction, holdout=0.0)
    gravity = gravity_load(model.arm, log.q, model.theta)
    assert check(arm, replace(log, u=log.u - gravity)).removed


def test_a_direction_that_is_far_off_never_agrees():
    down, aside = np.array([0, 0, -1.0]), np.array([np.sin(1.4), 0, -np.cos(1.4)])
    # Residuals as they were seen where gravity was taken out of noisy torque.
    vague = GravityCheck(aside, down, np.radians(8), False, 1.01, 0.001)
    assert not (vague.agrees or vague.removed)
    assert 'gravity cannot be checked with these data' in vague.sentence
    assert replace(vague, direction=down).agrees
    near = np.array([np.sin(0.2), 0, -np.cos(0.2)])
    # 11 ± 8 degrees off is no agreement.
    assert not replace(vague, direction=near, without=2.0).agrees


@pytest.mark.parametrize(('name', 'recording'), [
    ('panda', 'panda/panda_exciting_trajectory.db3'), ('tx40', 'tx40/pos_read_data.csv')])
def test_other_real_arms_stand_upright_and_hold_their_weight(shared_data, name, recording):
    arm = load_arm(name)
    found = check(arm, read_recording(shared_data / recording, arm))
    assert found.agrees and found.loaded and not found.removed


def test_the_real_ur10_stands_upright(shared_data):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    found = check(arm, log)
    assert found.determined
    assert not found.elsewhere
    assert np.degrees(found.angle) < 2.0


def test_a_single_sample_agrees_with_any_direction():
    """A live session asks as soon as it has one."""
    arm = load_arm('two_axis').with_friction(('viscous', 'offset'))
    still, once = np.array([[0.3, -0.2]]), np.ones((1, 2), dtype=bool)
    samples = TrialSamples(np.zeros(1), still, still, still, 0.1 * still, once,
                           np.zeros((1, 2, 5)), np.zeros(1))
    with np.errstate(all='raise', under='ignore'):
        check = gravity_direction(arm, samples)
    assert np.isfinite(check.direction).all()
    assert not check.elsewhere
