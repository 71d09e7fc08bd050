# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of contacts that bend before they slide: found, predicted, live and in batch."""

from dataclasses import replace

from estimates import estimated, without_suspects
from friction_rig import arm_with, check_found, log_of, motion, true_torque
import numpy as np
import pytest

from dynid_ros.applications.contact.monitor import Monitor
from dynid_ros.applications.export.standalone import python_of
from dynid_ros.arm.friction import PRESLIDING
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.history import history_of
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.execution.feed_forward import with_effort
from dynid_ros.motion.trajectory.trajectory_file import Trajectory

pytestmark = pytest.mark.slow
RATE = 500.0
TRUE = {'viscous': (2.0, 1.0), 'coulomb_smooth': (0.4, 0.3), 'offset': (0.2, -0.1),
        PRESLIDING: (0.8, 0.5)}


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def model():
    arm = arm_with(TRUE)
    return identify(arm, [log_of(arm, RATE)], friction=arm.friction)


def test_it_is_found_where_it_is_true():
    check_found(PRESLIDING, TRUE, RATE)


def test_held_out_torque_is_predicted_and_without_the_term_it_is_not(model):
    own = model.validation.relative_error_percent
    arm = model.arm.with_friction(tuple(set(TRUE) - {PRESLIDING}))
    without = estimated(arm, [log_of(model.arm, RATE)], friction=arm.friction)
    assert own < 0.3
    assert without.validation.relative_error_percent > 4 * own


def test_the_stream_gives_the_parameters_of_the_batch(model):
    found, _ = replay(model.arm, log_of(model.arm, RATE))
    np.testing.assert_allclose(found.theta, model.theta, atol=0.01 * np.abs(model.theta).max())
    places = [k for k, name in enumerate(base_parameters(model.arm).names) if 'Fp' in name]
    np.testing.assert_allclose(found.theta[places], TRUE[PRESLIDING], rtol=0.05)


def test_torque_is_that_of_the_bend_and_of_sliding_where_none_is_known(model):
    t, q, qd, qdd = motion(model.arm, RATE, seconds=5.0, seed=3)
    history = history_of(t, q)
    bent = model.predict_torque(q, qd, qdd, history=history)
    scale = np.abs(bent).max()
    np.testing.assert_allclose(bent, true_torque(model.arm, t, q, qd, qdd), atol=5e-3 * scale)
    sliding = model.predict_torque(q, qd, qdd)
    np.testing.assert_allclose(
        sliding - bent, (np.sign(qd) - history.presliding) * TRUE[PRESLIDING], atol=5e-3 * scale)


def test_feed_forward_follows_the_bend_of_its_trajectory(model):
    t, *states = motion(model.arm, RATE, seconds=5.0, seed=3)
    points = Trajectory(model.arm.joint_names, t, *states)
    expected = true_torque(model.arm, t, *states)
    np.testing.assert_allclose(
        with_effort(model, points).effort, expected, atol=5e-3 * np.abs(expected).max())


def test_the_monitor_takes_presliding_for_no_contact(model):
    log = log_of(model.arm, RATE / 2, seconds=10.0, seed=2)
    seen = list(Monitor(model).push(log.t, log.q, log.u))
    fast = np.concatenate([np.abs(block.qd) > 0.1 for block in seen])
    torque = np.abs(np.concatenate([block.torque for block in seen]))
    for joint, size in enumerate(TRUE[PRESLIDING]):
        assert np.median(torque[fast[:, joint], joint]) < 0.05 * size


def test_the_python_file_takes_the_bend(model):
    arm = model.possible_arm
    space = {}
    exec(compile(python_of(arm), 'exported.py', 'exec'), space)
    t, q, qd, qdd = motion(arm, RATE, seconds=1.0)
    history = history_of(t, q)
    expected = regressor(arm, q, qd, qdd, history=history) @ nominal_parameters(arm)
    sliding = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    for k in (0, 200, 499):
        np.testing.assert_allclose(
            space['torque'](q[k], qd[k], qdd[k], presliding=history.presliding[k]), expected[k])
        np.testing.assert_allclose(space['torque'](q[k], qd[k], qdd[k]), sliding[k])


def test_possible_friction_opposes_sliding_joints(shared_data):
    arm = load_arm('ur10')
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0))
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    result = identify(arm, [log])
    assert PRESLIDING in result.arm.friction
    # Measured 3.0 %.
    assert result.validation.relative_error_percent < 3.1
    assert (result.possible_arm.friction_nominal[PRESLIDING] > 0).sum() >= 4
