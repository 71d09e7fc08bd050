"""The trajectory publisher with the simulated arm: it follows, and every fault ends safely."""

import re
import signal

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.excitation.fourier import FourierMotion
from dynid_ros.excitation.motion_file import write_motion
from dynid_ros.excitation.room import room_of

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from control_msgs.action import FollowJointTrajectory
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from dynid_ros.simulation.rigid import RigidArm

ARM = load_arm('panda')
DEPTH = 2000
NODE = '/trajectory_publisher'


def slow_motion(amplitude=0.1, periods=1):
    """Around the position at which the simulated arm begins; all joints differ."""
    reduced = amplitude * np.linspace(0.5, 1.0, ARM.n)[:, None] * np.ones(4)
    return FourierMotion.at_rest(3.0, room_of(ARM).middle, reduced, periods)


@pytest.fixture
def excitation(tmp_path):
    path = tmp_path / 'excitation.yaml'
    write_motion(path, slow_motion(periods=5), ARM)
    return path


class Rig:
    """Simulated arm and publisher, and what they say."""

    def __init__(self, start, talker, path, **parameters):
        self.talker = talker
        self.states = talker.listen(JointState, 'joint_states', DEPTH)
        self.wanted = talker.listen(JointState, f'{NODE}/reference', DEPTH)
        self.commands = talker.listen(Float64MultiArray, 'effort_commands', DEPTH)
        start('simulated_arm', arm='panda', rate=500.0)
        self.publisher = start(
            'trajectory_publisher', arm='panda', excitation=path, output='effort', **parameters)
        talker.until(lambda: len(self.states) > 100, 'states')

    def begin(self):
        answer = None

        def begun():
            nonlocal answer
            answer = self.talker.call(Trigger, f'{NODE}/start')
            return answer.success or 'no states' not in answer.message

        self.talker.until(begun, 'the publisher to see states')
        return answer

    def move(self):
        """Begin, and wait until the arm is well on the move."""
        answer = self.begin()
        assert answer.success, answer.message
        self.talker.until(
            lambda: np.abs(self.states[-1].velocity).max() > 0.05, 'motion', 8.0)

    def inject(self, fault):
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        self.talker.call(
            SetParameters, '/simulated_arm/set_parameters',
            parameters=[Parameter(name='fault', value=value)])

    def spin(self, seconds):
        clock = self.talker.node.get_clock()
        end = clock.now().nanoseconds + seconds * 1e9
        self.talker.until(lambda: clock.now().nanoseconds > end, 'time', seconds + 5)

    def at_rest(self):
        return np.abs(self.states[-1].velocity).max() < 0.02


def test_motion_is_followed_to_its_end_and_held(start, talker, tmp_path):
    path = tmp_path / 'excitation.yaml'
    write_motion(path, slow_motion(), ARM)
    rig = Rig(start, talker, path)
    rig.move()
    motion = slow_motion()
    rig.spin(4.5)
    # Coulomb friction by stiffness is some 1 mrad; stalls of a busy machine add to it.
    np.testing.assert_allclose(rig.states[-1].position, motion.start, atol=5e-3)
    assert rig.at_rest()
    before = len(rig.commands)
    rig.spin(0.3)
    assert len(rig.commands) > before
    status, printed = rig.publisher.stop()
    assert status == 0
    assert 'torques are commanded by this node' in printed
    assert [phase for phase in re.findall(r'publisher\]: (\w+)', printed)
            if phase in ('moving', 'running', 'holding')] == ['moving', 'running', 'holding']
    stamps = {(s.header.stamp.sec, s.header.stamp.nanosec): s.position for s in rig.states}
    pairs = [(stamps[key], w.position) for w in rig.wanted
             if (key := (w.header.stamp.sec, w.header.stamp.nanosec)) in stamps]
    away = np.array([np.subtract(*pair) for pair in pairs])
    assert np.sqrt((away**2).mean()) < 5e-3


@pytest.mark.parametrize(('fault', 'said'), [
    ('nan 0.1', "joint 'fer_joint1' reports a position or velocity that is no number"),
    ('silent 0.3', r'no usable joint state has come for \d+ ms'),
])
def test_fault_of_the_states_is_named_and_the_arm_held_until_reset(
        start, talker, excitation, fault, said):
    rig = Rig(start, talker, excitation)
    rig.move()
    rig.inject(fault)
    rig.spin(1.5)
    assert rig.at_rest()
    refused = rig.begin()
    assert not refused.success
    assert re.search(f'aborted because {said}.*~/stop', refused.message)
    assert talker.call(Trigger, f'{NODE}/stop').message == 'reset after the abort'
    assert rig.begin().success
    status, printed = rig.publisher.stop()
    assert status == 0
    assert len(re.findall(f'aborted: {said}', printed)) == 1


@pytest.mark.parametrize('fault', ['reorder', 'gripper', 'silent 0.03', 'clock'])
def test_what_a_stream_may_do_does_not_disturb_the_motion(start, talker, excitation, fault):
    rig = Rig(start, talker, excitation)
    rig.move()
    rig.inject(fault)
    rig.spin(1.5)
    assert talker.call(Trigger, f'{NODE}/stop').message == 'stopping'
    status, printed = rig.publisher.stop()
    assert status == 0
    assert 'aborted' not in printed


def test_second_publisher_of_states_stops_the_motion_and_prevents_a_start(
        start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    second = talker.states()
    zeros = [0.0] * ARM.n
    for _ in range(40):
        second.publish(JointState(name=ARM.joint_names, position=zeros, velocity=zeros))
        rig.spin(0.02)
    rig.spin(0.5)
    # Nothing follows the zeros: the arm moves no faster than before.
    assert np.abs([state.velocity for state in rig.states]).max() < 0.6
    assert rig.at_rest()
    talker.call(Trigger, f'{NODE}/stop')
    refused = rig.begin()
    assert not refused.success
    assert 'several publishers: /simulated_arm, /talker' in refused.message
    talker.node.destroy_publisher(second)


def test_lost_arm_is_noticed_by_its_tracking_error(start, talker, excitation):
    rig = Rig(start, talker, excitation, effort_joints=[
        'fer_joint2', 'fer_joint1', *ARM.joint_names[2:]])
    assert rig.begin().success
    rig.spin(2.0)
    assert re.search(r"aborted: joint 'fer_joint\d' (is .* from where it should be|moves at)",
                     rig.publisher.stop()[1])


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_brings_the_arm_to_rest_and_leaves_a_safe_command(
        start, talker, excitation, number):
    rig = Rig(start, talker, excitation)
    rig.move()
    status, _ = rig.publisher.stop(number)
    assert status == 0
    rig.spin(0.05)
    holding = RigidArm(ARM).gravity(rig.states[-1].position)
    # The arm creeps by 0.02 rad at most until it is seen here.
    np.testing.assert_allclose(rig.commands[-1].data, holding, atol=0.5)
    assert rig.at_rest()


def test_stop_slows_down_and_another_start_is_possible(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    assert talker.call(Trigger, f'{NODE}/stop').message == 'stopping'
    rig.spin(1.5)
    assert rig.at_rest()
    assert rig.begin().success


def test_dry_run_shows_the_reference_and_commands_nothing(start, talker, excitation):
    rig = Rig(start, talker, excitation, dry_run=True)
    assert 'dry run' in rig.begin().message
    rig.spin(1.5)
    assert len(rig.wanted) > 50
    assert rig.commands == []
    assert rig.at_rest()


def test_motion_for_another_arm_ends_in_one_line(start, tmp_path):
    path = tmp_path / 'excitation.yaml'
    write_motion(path, slow_motion(), ARM)
    process = start('trajectory_publisher', arm='ur10', excitation=path)
    process._process.wait(timeout=15)
    status, printed = process.stop()
    assert status == 2
    assert 'choose the arm that it was made for' in printed
    assert printed.count('\n') == 1


def test_controller_gets_the_whole_motion_as_one_goal_and_its_loss_is_an_abort(
        start, talker, excitation):
    goals = []

    def take(handle):
        goals.append(handle.request.trajectory)
        handle.abort()
        return FollowJointTrajectory.Result(error_code=-4, error_string='path tolerance of a test')

    server = ActionServer(
        talker.node, FollowJointTrajectory, 'arm_controller/follow_joint_trajectory', take,
        cancel_callback=lambda _: CancelResponse.ACCEPT)
    states = talker.listen(JointState, 'joint_states', DEPTH)
    start('simulated_arm', arm='panda', rate=500.0)
    publisher = start(
        'trajectory_publisher', arm='panda', excitation=excitation, controller='arm_controller')
    talker.until(lambda: len(states) > 500, 'states')
    talker.until(lambda: talker.call(Trigger, f'{NODE}/start').success, 'a start')
    talker.until(lambda: bool(goals), 'a goal')
    motion, (goal,) = slow_motion(periods=5), goals
    assert tuple(goal.joint_names) == ARM.joint_names
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9
                      for p in goal.points])
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-6)
    np.testing.assert_allclose(goal.points[-1].positions, motion.start, atol=1e-9)
    assert not np.any(goal.points[-1].velocities)
    move = times[-1] - motion.duration
    q, qd, qdd = motion.evaluate(2.0)
    middle = goal.points[round((move + 2.0) / 0.01) - 1]
    # The motion begins between two points.
    np.testing.assert_allclose(middle.positions, q, atol=0.01)
    np.testing.assert_allclose(middle.velocities, qd, atol=0.05)
    np.testing.assert_allclose(middle.accelerations, qdd, atol=0.3)
    refused = None

    def noticed():
        nonlocal refused
        refused = talker.call(Trigger, f'{NODE}/start')
        return 'gave the motion up: path tolerance of a test' in refused.message

    talker.until(noticed, 'the loss of the controller')
    assert not refused.success
    publisher.stop()
    server.destroy()
