# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A Furuta pendulum: no drive moves its second joint, whose torque is truly zero."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import ArmError, RecordingError
from dynid_ros.estimation.identification.gain_check import drive_defects
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

RATE, SECONDS = 250, 30
#: Closed form of ``config/arms/two_axis/arm.yaml``, and viscous friction of both joints.
TH1, TH2, TH3, TH4, TH5 = 0.0250, 0.00162, 0.00153, 0.00163, 0.1
FV = np.array([0.01, 0.0005])
UNITS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def closed_form(q, qd, qdd):
    """Torque of both joints, (N, 2), Nm."""
    s, c = np.sin(q[:, 1]), np.cos(q[:, 1])
    arm = ((TH1 + TH2 * s**2) * qdd[:, 0] + TH3 * c * qdd[:, 1]
           + 2 * TH2 * s * c * qd[:, 0] * qd[:, 1] - TH3 * s * qd[:, 1]**2)
    pendulum = TH3 * c * qdd[:, 0] + TH4 * qdd[:, 1] - TH2 * s * c * qd[:, 0]**2 - TH5 * s
    return np.column_stack([arm, pendulum]) + FV * qd


def motor(t, q, qd):
    """Torque of the motor of the arm, Nm: some sines, and a weak spring to the middle."""
    return (0.08 * sum(np.sin(2 * np.pi * f * t + f) for f in (0.23, 0.41, 0.67, 1.1, 1.7))
            - 0.3 * q[0] - 0.02 * qd[0])


def accelerations(t, q, qd):
    """Accelerations (2,) of the free pendulum, by the equations of motion."""
    # Without accelerations, and at one of each joint.
    at_rest, *units = closed_form(*np.tile([q, qd], (1, 3)).reshape(2, 3, 2), UNITS)
    return np.linalg.solve(
        np.transpose(units - at_rest), [motor(t, q, qd) - at_rest[0], -at_rest[1]])


def log_of(noise=1.0, seed=0):
    """Integrate the free pendulum by Runge and Kutta, and add the noise of sensors."""
    t, step = np.arange(RATE * SECONDS) / RATE, 1 / RATE
    x = np.empty((len(t), 4))
    x[0] = 0.0, 2.3, 0.0, 0.0

    def slope(time, state):
        return np.append(state[2:], accelerations(time, state[:2], state[2:]))

    for k in range(len(t) - 1):
        one = slope(t[k], x[k])
        two = slope(t[k] + step / 2, x[k] + step / 2 * one)
        three = slope(t[k] + step / 2, x[k] + step / 2 * two)
        four = slope(t[k] + step, x[k] + step * three)
        x[k + 1] = x[k] + step / 6 * (one + 2 * two + 2 * three + four)
    rng = np.random.default_rng(seed)
    torque = np.array([motor(*each) for each in zip(t, x[:, :2], x[:, 2:], strict=True)])
    u = np.column_stack([
        torque + noise * 2e-3 * rng.normal(size=len(t)), np.zeros(len(t))])
    return Recording(t, x[:, :2] + noise * 1e-4 * rng.normal(size=(len(t), 2)), u,
                     ('arm_joint', 'pendulum_joint'))


@pytest.fixture(scope='module')
def arm():
    arm = load_arm('two_axis')
    free = np.full(2, np.inf)
    return replace(arm, drive=replace(Drive.joint_torque(2), passive=np.array([False, True])),
                   limits=replace(arm.limits, lower=-free, upper=free))


@pytest.fixture(scope='module')
def log():
    return log_of()


@pytest.fixture(scope='module')
def model(arm, log):
    return identify(arm, [log])


def test_its_zero_torque_gives_the_torque_of_any_motion(model):
    """The rows of the free joint are rows like others: they give its own torque, too."""
    assert model.verdict.trustworthy and not model.verdict.findings
    rng = np.random.default_rng(1)
    q, qd, qdd = (rng.uniform(-x, x, (500, 2)) for x in (3.0, 5.0, 30.0))
    expected = closed_form(q, qd, qdd)
    error = np.linalg.norm(model.predict_torque(q, qd, qdd) - expected, axis=0)
    # The noise of 0.1 mrad and 2 mNm leaves some 2 % of the arm's and 1 % of the pendulum's.
    assert (error < 0.05 * np.linalg.norm(expected, axis=0)).all()
    assert model.validation.relative_error_percent < 2


def test_its_error_is_relative_to_nothing(model):
    _, pendulum = model.validation.joints
    assert 0 < pendulum.rmse < 1e-3
    assert np.isnan([pendulum.relative_error_percent, pendulum.r2]).all()


def test_nothing_accuses_it(arm, log, model):
    assert not model.defects and drive_defects(arm, log) == ()
    # Many drivers publish no effort of such a joint.
    u = log.u.copy()
    u[:, 1] = np.nan
    missing = identify(arm, [replace(log, u=u, as_logged=True)])
    np.testing.assert_array_equal(missing.theta, model.theta)
    assert missing.verdict == model.verdict and not missing.defects


@pytest.mark.parametrize('value', [0.0, np.nan])
def test_a_stream_takes_it_as_a_recording_does(arm, log, value):
    live, u = OnlineIdentifier(arm), log.u.copy()
    u[:, 1] = value
    live.push_ns(np.rint(log.t * 1e9).astype(np.int64), log.q, u)
    assert live.dead_signals == () and live.result().verdict.trustworthy


def test_a_signal_of_it_contradicts_the_statement(arm, log):
    u = log.u.copy()
    u[100:, 1] = 0.1
    with pytest.raises(RecordingError, match=(
            r'drive\.passive of arm\.yaml states that no drive moves pendulum_joint, but its '
            r'effort reaches 0\.1')):
        identify(arm, [replace(log, u=u)])
    live = OnlineIdentifier(arm)
    live.push_ns(np.rint(log.t * 1e9).astype(np.int64), log.q, u)
    (found,) = live.dead_signals
    assert (found.code, found.joints) == ('effort_of_passive', ('pendulum_joint',))


def test_without_the_statement_the_signal_is_dead_and_the_error_names_the_way_out(arm, log):
    driven = replace(arm, drive=Drive.joint_torque(2))
    with pytest.raises(RecordingError, match=(
            r'or state drive: \{passive: \[pendulum_joint\]\} in arm\.yaml if no drive moves')):
        identify(driven, [log])


def test_such_an_arm_follows_no_motion(arm):
    bounded = replace(arm, limits=load_arm('two_axis').limits)
    with pytest.raises(ArmError, match='pendulum_joint cannot follow a motion'):
        design(bounded)
    with pytest.raises(ArmError, match='pendulum_joint cannot follow a motion'):
        simulate(bounded, random_motion(bounded, 0, tries=2))
