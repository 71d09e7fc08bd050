# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Viscous friction that falls while a joint moves: found, predicted, live and in batch."""

from dataclasses import replace

from estimates import without_suspects
from friction_rig import arm_with, check_found, log_of, motion, SECONDS, true_torque
import numpy as np
import pytest

from dynid_ros.applications.contact.monitor import Monitor
from dynid_ros.applications.export.standalone import python_of
from dynid_ros.arm.friction import JointHistory, WARM
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.execution.feed_forward import with_effort
from dynid_ros.motion.trajectory.trajectory_file import Trajectory

pytestmark = pytest.mark.slow
RATE = 200.0
TRUE = {'viscous': (2.0, 1.0), 'coulomb_smooth': (1.0, 0.6), 'offset': (0.2, -0.1),
        WARM: (-0.8, -0.5)}


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def model():
    arm = arm_with(TRUE)
    return identify(arm, [log_of(arm, RATE)], friction=arm.friction)


def test_it_is_found_where_it_is_true():
    check_found(WARM, TRUE, RATE)


def test_a_held_out_part_begins_as_warm_as_the_fitted_part_ended(model):
    assert model.validation.relative_error_percent < 0.1
    # The same samples by themselves, which begin in the midst of a motion, count as cold.
    alone = log_of(model.arm, RATE).part(round(0.67 * SECONDS * RATE), round(SECONDS * RATE))
    assert validate(model, alone)[0].relative_error_percent > 1.0


def test_another_recording_begins_cold(model):
    other = log_of(model.arm, RATE, seconds=10.0, seed=2)
    assert validate(model, other)[0].relative_error_percent < 0.2


def test_the_stream_gives_the_parameters_of_the_batch(model):
    found, _ = replay(model.arm, log_of(model.arm, RATE))
    # The causal filters are others: measured 0.13 % of the largest parameter.
    np.testing.assert_allclose(found.theta, model.theta, atol=0.005 * np.abs(model.theta).max())
    places = [k for k, name in enumerate(base_parameters(model.arm).names) if 'Fvw' in name]
    np.testing.assert_allclose(found.theta[places], TRUE[WARM], rtol=0.02)


def test_torque_is_predicted_for_cold_joints_and_for_warm_ones(model):
    t, q, qd, qdd = motion(model.arm, RATE, seconds=5.0, seed=3)
    history = history_of(t, q)
    warm = model.predict_torque(q, qd, qdd, history=history)
    scale = np.abs(warm).max()
    np.testing.assert_allclose(
        warm, true_torque(model.arm, t, q, qd, qdd), atol=2e-3 * scale)
    cold = model.predict_torque(q, qd, qdd)
    np.testing.assert_allclose(
        cold - warm, -history.warmth * qd * TRUE[WARM], atol=2e-3 * scale)
    np.testing.assert_allclose(
        model.predict_torque(q[-1], qd[-1], qdd[-1], history=history.part(slice(-1, None))),
        warm[-1])


def test_feed_forward_follows_the_warmth_of_its_trajectory(model):
    t, *states = motion(model.arm, RATE, seconds=5.0, seed=3)
    points = Trajectory(model.arm.joint_names, t, *states)
    expected = true_torque(model.arm, t, *states)
    np.testing.assert_allclose(
        with_effort(model, points).effort, expected, atol=2e-3 * np.abs(expected).max())


def test_the_monitor_takes_warm_friction_for_no_contact(model):
    log = log_of(model.arm, RATE / 2, seconds=30.0, seed=2)
    monitor = Monitor(model)
    seen = np.concatenate([block.torque for block in monitor.push(log.t, log.q, log.u)])
    friction = np.abs(warmth_of(log.t, log.q).at(log.t) * TRUE[WARM]).max(axis=0)
    # Of the half of the motion in which the joints are warm; 0.3 rad/s are slow there.
    assert (np.median(np.abs(seen[len(seen) // 2:]), axis=0) < 0.1 * 0.3 * friction).all()


def test_the_python_file_takes_the_warmth(model):
    arm = model.possible_arm
    space = {}
    exec(compile(python_of(arm), 'exported.py', 'exec'), space)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    warmth = np.array([0.5, 0.2])
    history = replace(JointHistory.unknown(qd[None]), warmth=warmth[None])
    expected = regressor(arm, q, qd, qdd, history=history)[0] @ nominal_parameters(arm)
    np.testing.assert_allclose(space['torque'](q, qd, qdd, warmth), expected)


def test_a_real_arm_of_which_only_half_is_fitted(shared_data):
    arm = load_arm('tx40')
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=16.0))
    log = read_recording(shared_data / 'tx40' / 'pos_read_data.csv', arm)
    result = identify(arm, [log], holdout=0.5)
    assert WARM in result.arm.friction
    # Measured 4.7 %; 6.2 % without it.
    assert result.validation.relative_error_percent < 5.0
