# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The simulated arm in real time: commands move it, their absence holds it, faults are stated."""

import numpy as np
import pytest
from synthetic_recordings import PERFECT

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.loop_stability import proposed_gains
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.simulation.faults import Fault
from dynid_ros.simulation.live import LiveArm, PHYSICS_PERIOD, sensors_for
from dynid_ros.simulation.record import simulate

ARM = load_arm('panda')
START = planning_limits(ARM).middle


def steps(arm, seconds):
    return [arm.step() for _ in range(round(seconds / PHYSICS_PERIOD))]


def test_arm_without_commands_stays_where_it_is():
    arm = LiveArm(ARM, START, PERFECT)
    readings = steps(arm, 2.0)
    assert arm.held
    # Rounding of the torque against gravity only.
    np.testing.assert_allclose(readings[-1].q, readings[0].q, atol=1e-6)


def test_sensors_of_a_planned_motion_are_those_of_its_recording():
    motion = random_motion(ARM, 0, periods=1, tries=3)
    planned, recorded = sensors_for(ARM, motion), simulate(ARM, motion, rate_hz=100).sensors
    # The recording stands still for a second of eleven.
    np.testing.assert_allclose(planned.effort_noise, recorded.effort_noise, rtol=0.15)
    np.testing.assert_allclose(planned.velocity_noise, recorded.velocity_noise, rtol=0.1)
    np.testing.assert_array_equal(planned.encoder_counts, recorded.encoder_counts)


def test_arm_that_is_no_longer_commanded_comes_to_rest_after_the_timeout():
    arm = LiveArm(ARM, START, PERFECT, command_timeout=0.05)
    tau = RigidArm(ARM).gravity(arm.position) + 0.2 * ARM.limits.effort
    arm.command(tau)
    moving = steps(arm, 0.05)
    assert not arm.held
    assert np.abs(moving[-1].qd).max() > 0.5
    held = steps(arm, 1.0)
    assert arm.held
    assert np.abs(held[-1].qd).max() < 1e-3


def test_pd_control_through_the_delay_of_topics_settles():
    arm = LiveArm(ARM, START, PERFECT)
    gains, rigid = proposed_gains(ARM, PHYSICS_PERIOD), RigidArm(ARM)
    goal = arm.position + 0.1
    late = [rigid.gravity(arm.position)] * 2
    for _ in range(1000):
        reading = arm.step()
        late.append(
            rigid.gravity(goal) + gains.torque(reading.q, reading.qd, goal, np.zeros(ARM.n)))
        arm.command(late.pop(0))
    # Coulomb friction by stiffness is what is left.
    left = ARM.friction_nominal['coulomb'] / gains.stiffness
    assert (np.abs(reading.q - goal) <= 1.5 * left).all()


@pytest.mark.parametrize(('tau', 'said'), [
    ([1.0] * 6, 'needs 7 torques'), ([1.0] * 6 + [np.nan], "'fer_joint7' is commanded"),
])
def test_wrong_commands_are_refused_and_change_nothing(tau, said):
    arm = LiveArm(ARM, START, PERFECT)
    with pytest.raises(InputError, match=said):
        arm.command(tau)
    steps(arm, 0.01)
    assert arm.held


def test_voltage_of_the_two_axis_arm_is_its_torque_by_the_gain_of_its_drive():
    two_axis = load_arm('two_axis')
    arm = LiveArm(two_axis, np.array([0.0, 0.5]), PERFECT)
    arm.command([0.02, 0.01])
    reading = arm.step()
    np.testing.assert_allclose(reading.u, np.array([0.02, 0.01]) / two_axis.drive.gain)


def test_faults_change_a_message_as_they_say():
    q = np.array([1.0, 2.0])
    assert Fault('reorder').names(['a', 'b']) == ['b', 'a']
    np.testing.assert_array_equal(Fault('reorder').positions(q), [2.0, 1.0])
    assert Fault('gripper').names(['a', 'b']) == ['finger_joint', 'a', 'b']
    np.testing.assert_array_equal(Fault('gripper').positions(q), [0.0, 1.0, 2.0])
    assert np.isnan(Fault('nan 0.5').positions(q)).tolist() == [True, False]
    np.testing.assert_array_equal(Fault('slip').positions(q), [1.3, 2.0])
    np.testing.assert_array_equal(Fault('outside').positions(q), [100.0, 2.0])
    np.testing.assert_array_equal(Fault('degrees').positions(q), np.degrees(q))
    np.testing.assert_array_equal(Fault('short').positions(q), [1.0])
    np.testing.assert_array_equal(q, [1.0, 2.0])
    assert Fault('silent 0.2').seconds == 0.2


@pytest.mark.parametrize(('kind', 'expected'), [
    ('clock', [-1920, -1924, -1928]), ('ahead', [2080, 2076, 2072]), ('repeat', [80, 72, 72]),
    ('reverse', [120, 44, 48]), ('zero', [0, 0, 0]), ('none', [80, 76, 72])])
def test_faults_change_stamps_as_they_say(kind, expected):
    stamps = [Fault(kind).stamp(ms * 10**6) for ms in (80, 76, 72)]
    assert stamps == [ms * 10**6 for ms in expected]


@pytest.mark.parametrize(('kind', 'expected'), [
    ('strain', [1e4, 2.0]), ('clip', [9.0, 2.0]), ('dead', [0.0, 2.0]),
    ('weightless', [0.5, 1.0])])
def test_faults_change_efforts_as_they_say(kind, expected):
    efforts = Fault(kind).efforts(
        np.array([1.0, 2.0]), lambda: np.array([0.5, 1.0]), np.array([9.0, 9.0]))
    np.testing.assert_array_equal(efforts, expected)


def test_weight_is_what_the_drives_of_an_arm_at_rest_bear():
    arm = LiveArm(ARM, START, PERFECT)
    reading = steps(arm, 0.5)[-1]
    np.testing.assert_allclose(reading.u, arm.weight(), atol=1e-6)
    np.testing.assert_array_equal(arm.largest_signal, ARM.limits.effort)


@pytest.mark.parametrize('text', ['', 'explode', 'nan soon', 'nan -1', 'nan 1 2'])
def test_unknown_faults_are_refused(text):
    with pytest.raises(InputError):
        Fault(text)
