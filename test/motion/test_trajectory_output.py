"""The trajectory publisher moves the arm through a controller: the simulated one, and a silent."""

import signal
import time

from control_msgs.action import FollowJointTrajectory
from motion_rig import ARM, NODE, Rig, slow_file, slow_motion
import numpy as np
import pytest
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.action import ActionServer, CancelResponse
from scipy.optimize import minimize_scalar
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

CONTROLLER = 'joint_trajectory_controller'


def through_controller(start, talker, path, **parameters):
    return Rig(start, talker, path, output=CONTROLLER, **parameters)


def test_whole_motion_is_followed_and_the_process_ends_well(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path), once=True)
    talker.until(lambda: rig.publisher._process.poll() is not None, 'the end of the process')
    assert rig.at_rest()
    motion = slow_motion()
    t = np.array([s.header.stamp.sec + s.header.stamp.nanosec * 1e-9 for s in rig.states])
    t -= t[0]
    q = np.array([state.position for state in rig.states])

    def distance(begin):
        ran = t > begin
        wanted = motion.evaluate(np.minimum(t[ran] - begin, motion.duration))[0]
        return np.sqrt(((q[ran] - wanted)**2).mean())

    moving = t[[np.abs(state.velocity).max() > 0.05 for state in rig.states]]
    tracking = minimize_scalar(distance, method='bounded', bounds=(
        moving[-1] - motion.duration, moving[-1] - motion.duration + 0.3)).fun
    # Coulomb friction by stiffness is a fraction of 1 mrad.
    assert tracking < 1e-3
    np.testing.assert_allclose(q[-1], motion.start, atol=2e-3)
    # Messages are late by some ms, on a busy machine by some 10 ms, at up to 0.3 rad/s.
    assert np.sqrt((rig.away()**2).mean()) < 2e-2
    status, printed = rig.publisher.stop()
    assert status == 0
    assert 'ERROR' not in printed
    assert rig.arm.stop()[0] == 0


def test_stop_slows_down_through_a_new_goal_and_a_signal_does_so_too(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path, periods=5))
    rig.move()
    talker.call(Trigger, f'{NODE}/stop')
    rig.spin(1.0)
    assert rig.at_rest()
    velocity = np.array([state.velocity for state in rig.states])
    # Encoder noise apart, no joint jumps; braking is within 2 rad/s² for this motion.
    assert np.abs(velocity[5:] - velocity[:-5]).max() < 0.1
    rig.move()
    status, printed = rig.publisher.stop(signal.SIGINT)
    assert status == 0
    assert 'aborted' not in printed
    rig.spin(0.1)
    assert rig.at_rest()


def test_abort_cancels_the_goal_and_ends_the_process_with_its_reason(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path, periods=5), once=True)
    talker.until(lambda: np.abs(rig.states[-1].velocity).max() > 0.05, 'motion')
    rig.inject('strain 0.1')
    talker.until(lambda: rig.publisher._process.poll() is not None, 'the end of the process')
    status, printed = rig.publisher.stop()
    assert status == 1
    reasons = [line for line in printed.splitlines() if 'aborted: ' in line]
    assert len(reasons) == 1
    assert "joint 'fer_joint1' is measured to bear 1e+04, more than its effort" in reasons[0]
    rig.spin(0.5)
    assert rig.at_rest()
    held = rig.states[-1].position
    rig.spin(0.3)
    np.testing.assert_allclose(rig.states[-1].position, held, atol=1e-3)


def test_controller_that_is_killed_with_its_arm_is_an_abort(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path, periods=5), once=True)
    talker.until(lambda: np.abs(rig.states[-1].velocity).max() > 0.05, 'motion')
    rig.arm.stop(signal.SIGKILL)
    talker.until(lambda: rig.publisher._process.poll() is not None, 'the end of the process')
    status, printed = rig.publisher.stop()
    assert status == 1
    assert 'aborted: no usable joint state has come' in printed


class Silent:
    """A controller that accepts goals and does nothing about them."""

    def __init__(self, talker, joints):
        self.goals = []
        self.joints = ParameterValue(
            type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=list(joints))
        self.server = ActionServer(
            talker.node, FollowJointTrajectory, 'other/follow_joint_trajectory', self.end,
            handle_accepted_callback=self.accept,
            cancel_callback=lambda _: CancelResponse.ACCEPT)
        self.service = talker.node.create_service(
            GetParameters, 'other/get_parameters', self.answer)

    def accept(self, handle):
        self.goals.append(handle)

    def answer(self, _, response):
        response.values = [self.joints]
        return response

    def leave(self):
        if self.server is not None:
            self.server.destroy()
        self.server = None

    def end(self, handle):
        handle.abort()
        return FollowJointTrajectory.Result(error_code=-4, error_string='path tolerance of a test')


class Late(Silent):
    """A controller that has begun by the time at which it says so."""

    def __init__(self, talker):
        super().__init__(talker, ARM.joint_names)
        self.onward = talker.node.create_publisher(
            JointTrajectory, f'{CONTROLLER}/joint_trajectory', 10)

    def accept(self, handle):
        super().accept(handle)
        self.onward.publish(handle.request.trajectory)
        time.sleep(0.15)


@pytest.mark.skipif(type(rclpy).__module__ != 'dynid_ros.embedded',
                    reason='a server of rclpy answers before it begins')
def test_arm_that_moves_before_its_controller_answers_is_not_lost(start, talker, tmp_path):
    controller = Late(talker)
    rig = through_controller(
        start, talker, slow_file(tmp_path, amplitude=0.3), controller='other',
        tracking_error=0.06)
    talker.until(lambda: controller.onward.get_subscription_count() > 0, 'the arm')
    assert rig.begin().success
    rig.wait_end()
    # It was further away than what is allowed.
    assert np.abs(rig.away()).max() > 0.07
    assert 'aborted' not in rig.publisher.stop()[1]
    controller.leave()


@pytest.fixture
def silent(start, talker, tmp_path):
    """Return a function that makes controller and rig."""
    made = []

    def make(joints=ARM.joint_names, periods=5, **parameters):
        made.append(Silent(talker, joints))
        rig = through_controller(
            start, talker, slow_file(tmp_path, periods), controller='other',
            tracking_error=5.0, **parameters)
        return made[0], rig

    yield make
    made[0].leave()


def refusal(rig):
    return rig.talker.call(Trigger, f'{NODE}/start').message


def test_motion_is_one_goal_and_the_controller_giving_it_up_is_an_abort(silent, talker):
    controller, rig = silent(joints=ARM.aliases[0][::-1])
    assert rig.begin().success
    talker.until(lambda: bool(controller.goals), 'a goal')
    motion, goal = slow_motion(periods=5), controller.goals[0].request.trajectory
    # As the controller calls them.
    assert tuple(goal.joint_names) == ARM.aliases[0]
    assert (goal.header.stamp.sec, goal.header.stamp.nanosec) == (0, 0)
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9
                      for p in goal.points])
    np.testing.assert_allclose(np.diff(times), 0.04, atol=1e-6)
    np.testing.assert_allclose(goal.points[-1].positions, motion.start, atol=1e-9)
    assert not np.any(goal.points[-1].velocities)
    middle = goal.points[-26]
    # The motion begins and ends between two points: where is this one?
    t = motion.duration - 1.0 + np.linspace(-0.05, 0.05, 1001)
    q, qd, qdd = motion.evaluate(t)
    at = np.argmin(np.abs(q - np.array(middle.positions)).max(axis=1))
    np.testing.assert_allclose(middle.positions, q[at], atol=1e-3)
    np.testing.assert_allclose(middle.velocities, qd[at], atol=5e-3)
    np.testing.assert_allclose(middle.accelerations, qdd[at], atol=0.03)
    controller.goals[0].execute()
    talker.until(lambda: 'aborted the motion: path tolerance of a test' in refusal(rig), 'abort')


def test_controller_that_goes_while_it_moves_the_arm_is_an_abort(silent, talker):
    controller, rig = silent(once=True)
    talker.until(lambda: bool(controller.goals), 'a goal')
    controller.leave()
    talker.until(lambda: rig.publisher._process.poll() is not None, 'the end of the process')
    status, printed = rig.publisher.stop()
    assert status == 1
    assert 'aborted: the action other/follow_joint_trajectory is not there' in printed


def test_controller_of_other_joints_is_refused_by_their_names(silent):
    controller, rig = silent(joints=[*ARM.joint_names[:-1], 'finger'])
    answer = rig.begin()
    assert not answer.success
    assert 'other lacks fer_joint7 and also has finger; it must have just' in answer.message
    assert controller.goals == []


def test_goal_that_fails_at_its_end_is_an_abort_too(silent, talker):
    controller, rig = silent(periods=1, once=True)
    talker.until(lambda: len(controller.goals) == 1, 'a goal')
    # The arm itself stands still: only the time of the motion passes.
    rig.wait_end()
    rig.spin(0.2)
    controller.goals[0].execute()
    talker.until(lambda: rig.publisher._process.poll() is not None, 'the end of the process')
    status, printed = rig.publisher.stop()
    assert status == 1
    assert 'aborted the motion: path tolerance of a test' in printed


def test_states_that_do_not_come_are_missed_by_name(start, tmp_path):
    process = start(
        'trajectory_publisher', arm='panda', excitation=slow_file(tmp_path), once=True)
    time.sleep(5.0)
    status, printed = process.stop()
    assert status == 0
    assert "not started yet: no states of all joints of 'panda'" in printed
