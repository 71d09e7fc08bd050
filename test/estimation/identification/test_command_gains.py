# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arms of which commands and positions alone are recorded."""

from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import BY_MASSES, Drive, OPEN, RELATIVE
from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.errors import ArmError, InputError, ResultError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.model.conditioning_words import lateness
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.excitation.random_motion import random_motion

FRICTION = ('viscous', 'coulomb', 'offset')
#: Of the simulated drives, Nm/rad and Nm s/rad: deviations of some 0.1 rad.
KP, KD = np.array([6.0, 4.0]), np.array([0.05, 0.03])
DELAY = 0.02


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def sensed():
    """Arm with torque in Nm, and its log."""
    arm = load_arm('two_axis')
    arm = replace(arm, drive=Drive.joint_torque(2), friction=FRICTION,
                  conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=None))
    return arm, followed(arm, random_motion(arm, 3, periods=2, tries=30), 200.0, seed=3)


@pytest.fixture(scope='module')
def told(sensed):
    """Log of the commands that make the drives give that torque, by the law of a servo."""
    _, log = sensed
    qd = np.gradient(log.q, log.t, axis=0)
    return replace(log, signal='command', u=log.q + (log.u + KD * qd) / KP)


def servo(arm, **drive):
    return replace(arm, drive=replace(arm.drive, signal='command', **drive))


def delayed(arm, delay):
    return replace(arm, conditioning=replace(arm.conditioning, delay=delay))


def coefficients(model, symbol):
    found = model.standard_parameters()
    columns = model.arm.layout.friction_columns(symbol)
    return found.values[columns], found.std[columns]


def error_of(model):
    return model.validation.relative_error_percent


def test_stated_gains_give_the_model_of_the_torque(sensed, told):
    arm, log = sensed
    expected = identify(arm, [log], friction=FRICTION)
    own = servo(arm, gain=KP, damping=KD)
    found = identify(own, [told], friction=FRICTION)
    # The velocity of the samples, and not of the low-passed positions, made the commands.
    assert (np.abs(found.theta - expected.theta) < 0.5 * expected.std).all()
    assert abs(error_of(found) - error_of(expected)) < 0.05
    assert found.verdict.trustworthy and not found.verdict.findings
    metrics, _ = validate(found, told.part(2000, 4000))
    assert metrics.relative_error_percent < 3.0


def test_unknown_damping_is_a_sum(sensed, told):
    arm, log = sensed
    viscous, std = coefficients(identify(arm, [log], friction=FRICTION), 'Fv')
    found = identify(servo(arm, gain=KP), [told], friction=FRICTION)
    assert (np.abs(coefficients(found, 'Fv')[0] - viscous - KD) < std).all()


def test_stated_masses_give_an_unknown_stiffness(sensed, told):
    arm, _ = sensed
    found = identify(servo(arm, scale=OPEN), [told], friction=FRICTION)
    # Intervals of ratios and of the common factor reach over some per cent.
    np.testing.assert_allclose(found.arm.drive.gain, KP, rtol=0.05)
    assert found.arm.drive.scale == BY_MASSES and error_of(found) < 3.0
    (finding,) = found.verdict.findings
    assert finding.code == 'torque_by_masses' and not finding.is_error and not finding.joints
    assert 'state kp' in finding.sentence
    assert any(note.startswith('stiffness kp by the masses') for note in found.treatment.notes)
    (masses,) = (use for use in found.uses if use.purpose == 'masses as such')
    assert not masses.serves and 'states no gains for the command' in masses.figure


def test_without_masses_torque_is_relative_and_predicts(sensed, told, tmp_path):
    arm, _ = sensed
    bare = servo(replace(arm, inertial=None, friction_nominal={}), scale=OPEN)
    found = identify(bare, [told], friction=FRICTION)
    assert found.arm.drive.scale == RELATIVE and error_of(found) < 3.0
    ratio = found.arm.drive.gain[1] / found.arm.drive.gain[0]
    np.testing.assert_allclose(ratio, KP[1] / KP[0], rtol=0.05)
    assert [each.code for each in found.verdict.findings] == ['torque_relative']
    write_result(found, tmp_path / 'result')
    again = read_result(tmp_path / 'result')
    assert again.arm.drive.scale == RELATIVE
    np.testing.assert_array_equal(again.arm.drive.gain, found.arm.drive.gain)


def test_a_delay_of_commands_is_stated_and_never_sought(sensed, told):
    arm, _ = sensed
    # A drive that answers later was told earlier.
    early = replace(told, u=np.column_stack([
        np.interp(told.t + DELAY, told.t, column) for column in told.u.T]))
    own = servo(arm, gain=KP, damping=KD)
    right = identify(own, [told], friction=FRICTION)
    found = identify(delayed(own, DELAY), [early], friction=FRICTION)
    assert (np.abs(found.theta - right.theta) < right.std).all()
    sought = identify(own, [early], friction=FRICTION)
    assert sought.treatment.delay == found.treatment.delay == 0.0
    assert lateness(own, sought.treatment) == ''
    # A command that is early by a time adds kp times that time to the damping.
    viscous = [coefficients(each, 'Fv')[0] for each in (right, sought)]
    np.testing.assert_allclose(viscous[1] - viscous[0], KP * DELAY, rtol=0.1)


@pytest.mark.parametrize('delay', [0.0, DELAY])
def test_a_stream_learns_the_same_from_commands(sensed, told, delay):
    arm, log = sensed
    expected, _ = replay(arm, log, cutoff_hz=5.0, delay=0.0)
    own = delayed(servo(arm, gain=KP, damping=KD), delay)
    early = replace(told, u=np.column_stack([
        np.interp(told.t + delay, told.t, column) for column in told.u.T]))
    found, _ = replay(own, early, cutoff_hz=5.0)
    assert (np.abs(found.theta - expected.theta) < expected.std).all()
    with pytest.raises(InputError, match=r'conditioning\.delay'):
        replay(own, early, cutoff_hz=5.0, delay=0.01)


def test_a_stream_of_commands_goes_on_from_a_saved_state(sensed, told):
    own = delayed(servo(sensed[0], gain=KP, damping=KD), DELAY)
    whole, first, second = (OnlineIdentifier(own, cutoff_hz=5.0) for _ in range(3))
    half = len(told.t) // 2

    def take(session, part):
        session.take(told.t[part], told.q[part], told.u[part])

    take(whole, slice(None))
    take(first, slice(half))
    second.restore(first.state())
    take(second, slice(half, None))
    np.testing.assert_array_equal(second.estimate().theta, whole.estimate().theta)
    with pytest.raises(ResultError, match='belongs to another arm'):
        OnlineIdentifier(servo(own, damping=2 * KD), cutoff_hz=5.0).restore(first.state())


def test_a_stream_needs_gains(sensed, told):
    arm, _ = sensed
    with pytest.raises(ArmError, match='no stiffness kp of the drives is stated'):
        replay(servo(arm, scale=OPEN), told, cutoff_hz=5.0)
    start = identify(servo(arm, scale=OPEN), [told], friction=FRICTION)
    found, _ = replay(start.arm, told, cutoff_hz=5.0, start=start)
    assert found.arm.drive.scale == BY_MASSES


def test_torque_beyond_the_limit_and_copies_of_positions_are_reported(sensed, told):
    arm, log = sensed
    limits = replace(arm.limits, effort=np.array([0.8, 0.5]) * np.abs(log.u).max(axis=0))
    weak = servo(replace(arm, limits=limits), gain=KP)
    found = [each for each in check_recording(told, weak) if each.code == 'effort_saturated']
    assert {each.joint for each in found} == set(arm.joint_names)
    over = (np.abs(KP * (told.u - told.q)) >= 0.99 * limits.effort).sum(axis=0)
    assert [each.count for each in found] == over.tolist()
    # In units that nobody states, no limit in Nm holds.
    unstated = replace(weak, drive=replace(weak.drive, scale=OPEN))
    assert 'effort_saturated' not in {each.code for each in check_recording(told, unstated)}
    copied = check_recording(replace(told, u=told.q), weak)
    dead = [each for each in copied if each.severity == 'error']
    assert [each.code for each in dead] == 2 * ['effort_zero']
    assert 'is a copy of the position' in dead[0].message


def test_a_recording_is_cleaned_once(sensed, told):
    arm, _ = sensed
    own = servo(arm, gain=KP)
    once = clean(told, own)
    np.testing.assert_allclose(once.u, told.u - told.q)
    np.testing.assert_array_equal(clean(once, own).u, once.u)
