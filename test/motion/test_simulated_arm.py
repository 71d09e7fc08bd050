"""The simulated arm in a process of its own: its topics, its timeout and its faults."""

from nodes.conftest import PATIENCE
import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm import load_arm
from dynid_ros.execution.tracking_control import RigidArm

ARM = load_arm('panda')
DEPTH = 2000


def stamps(messages):
    return np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages])


def inject(talker, fault):
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
    answer = talker.call(
        SetParameters, '/simulated_arm/set_parameters',
        parameters=[Parameter(name='fault', value=value)])
    return answer.results[0]


def test_states_come_at_the_stated_rate_without_a_gap_and_hold_still(start, talker):
    start('simulated_arm', arm='panda', rate=1000.0)
    states = talker.listen(JointState, 'joint_states', DEPTH)
    talker.until(lambda: len(states) > 1000, '1000 states')
    # Nanoseconds of a period in floating point.
    np.testing.assert_allclose(np.diff(stamps(states)), 10**6, atol=2)
    assert tuple(states[0].name) == ARM.joint_names
    np.testing.assert_allclose(states[-1].position, states[0].position, atol=1e-3)
    # Noise of 1 % of the rating, at 4 standard deviations.
    away = np.array(states[-1].effort) - RigidArm(ARM).gravity(states[-1].position)
    assert (np.abs(away) < 0.05 * ARM.limits.effort).all()


def test_commands_move_the_joint_they_are_for_and_silence_holds_it(start, talker):
    order = ARM.joint_names[::-1]
    process = start('simulated_arm', arm='panda', rate=500.0, joints=list(order))
    states = talker.listen(JointState, 'joint_states', DEPTH)
    commands = talker.node.create_publisher(Float64MultiArray, 'effort_commands', 10)
    talker.until(lambda: states and commands.get_subscription_count() > 0, 'the arm')
    tau = RigidArm(ARM).gravity(states[-1].position)
    tau[6] += 1.0

    def turns():
        commands.publish(Float64MultiArray(data=tau[::-1].tolist()))
        return abs(states[-1].velocity[6]) > 0.3

    talker.until(turns, 'motion of the last joint')
    assert np.argmax(np.abs(states[-1].velocity)) == 6
    talker.until(lambda: np.abs(states[-1].velocity).max() < 0.01, 'standstill', 5.0)
    status, printed = process.stop()
    assert status == 0
    assert 'no commands: the arm is held' in printed


def test_wrong_commands_are_refused_by_name(start, talker):
    process = start('simulated_arm', arm='panda')
    states = talker.listen(JointState, 'joint_states', DEPTH)
    commands = talker.node.create_publisher(Float64MultiArray, 'effort_commands', 10)
    talker.until(lambda: states and commands.get_subscription_count() > 0, 'the arm')
    commands.publish(Float64MultiArray(data=[1.0, 2.0]))
    talker.until(lambda: len(states) > 1500, 'time for the throttled log')
    commands.publish(Float64MultiArray(data=[0.0] * 6 + [float('nan')]))
    talker.until(lambda: len(states) > 1800, 'the second command')
    status, printed = process.stop()
    assert status == 0
    assert 'needs 7 torques' in printed
    assert "joint 'fer_joint7' is commanded a torque of nan" in printed
    assert np.abs(states[-1].velocity).max() < 0.01


def test_faults_are_injected_for_their_time(start, talker):
    start('simulated_arm', arm='panda', rate=500.0)
    states = talker.listen(JointState, 'joint_states', DEPTH)
    talker.until(lambda: len(states) > 10, 'states')
    assert inject(talker, 'nan 0.2').successful
    talker.until(lambda: np.isnan(states[-1].position[0]), 'a NaN position')
    talker.until(lambda: np.isfinite(states[-1].position[0]), 'the end of the fault')
    inject(talker, 'silent 0.3')
    before = len(states)
    talker.until(lambda: len(states) > before + 100, 'states again')
    assert np.diff(stamps(states)).max() == pytest.approx(0.3e9, abs=0.1e9)
    inject(talker, 'reorder')
    talker.until(lambda: states[-1].name[0] == 'fer_joint7', 'another order')
    refused = inject(talker, 'explode')
    assert not refused.successful
    assert "no fault 'explode'" in refused.reason


def test_voltage_arm_publishes_its_signal_apart(start, talker):
    start('simulated_arm', arm='two_axis')
    signals = talker.listen(JointState, 'drive_signal', DEPTH)
    talker.until(lambda: len(signals) > 10, 'drive signals')
    assert list(signals[0].name) == ['arm_joint', 'pendulum_joint']
    assert len(signals[0].effort) == 2


def test_unknown_arm_ends_in_one_line(start):
    process = start('simulated_arm', arm='nowhere')
    process._process.wait(timeout=PATIENCE)
    status, printed = process.stop()
    assert status == 2
    assert printed.startswith('dynid: ')
    assert printed.count('\n') == 1
