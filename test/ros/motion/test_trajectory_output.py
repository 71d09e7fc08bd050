# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The trajectory publisher moves the arm through a controller: the simulated one, and a silent."""

from concurrent.futures import Future
import re
import signal

from control_msgs.action import FollowJointTrajectory
from motion_rig import ARM, Rig, slow_file, slow_motion
import numpy as np
import pytest
from rclpy.action import ActionServer, CancelResponse
from ros.motion.pace import stamp
from scipy.optimize import minimize_scalar
from sensor_msgs.msg import JointState

from dynid_ros.motion.execution.motion_executor import MotionExecutor
from dynid_ros.motion.execution.motion_output import MotionState
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.ros.nodes.motion.motion_state import StateWatch
from dynid_ros.ros.nodes.motion.trajectory_output import (
    AHEAD_SECONDS,
    TrajectoryOutput,
)

CONTROLLER = 'joint_trajectory_controller'


def through_controller(start, talker, path, **parameters):
    return Rig(start, talker, path, output=CONTROLLER, **parameters)


def test_whole_motion_is_followed_and_the_process_ends_well(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path), once=True)
    status, printed = rig.end()
    assert status == 0
    assert 'ERROR' not in printed
    assert rig.at_rest()
    motion = slow_motion()
    t = np.array([stamp(state) for state in rig.states])
    q = np.array([state.position for state in rig.states])

    def distance(begin):
        ran = t > begin
        wanted = motion.evaluate(np.minimum(t[ran] - begin, motion.duration))[0]
        return np.sqrt(((q[ran] - wanted)**2).mean())

    moving = t[[rig.speed(state) > 0.05 for state in rig.states]]
    tracking = minimize_scalar(distance, method='bounded', bounds=(
        moving[-1] - motion.duration, moving[-1] - motion.duration + 0.3)).fun
    # Coulomb friction by stiffness is a fraction of 1 mrad.
    assert tracking < 1e-3
    np.testing.assert_allclose(q[-1], motion.start, atol=2e-3)
    # A goal begins when it is accepted, at most a period before or after the reference, of 4 ms
    # at up to 0.3 rad/s.
    assert np.sqrt((rig.away()**2).mean()) < 2e-3
    assert rig.arm.stop()[0] == 0


def test_stop_slows_down_through_a_new_goal_and_a_signal_does_so_too(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path, periods=5))
    rig.move()
    assert rig.stop() == 'stopping'
    rig.wait_rest(1.0)
    velocity = np.array([state.velocity for state in rig.states])
    # Encoder noise apart, no joint jumps; braking is within 2 rad/s² for this motion.
    assert np.abs(velocity[3:] - velocity[:-3]).max() < 0.1
    rig.move()
    status, printed = rig.end(signal.SIGINT)
    assert status == 0
    assert 'aborted' not in printed
    assert rig.at_rest()


def test_abort_cancels_the_goal_and_ends_the_process_with_its_reason(start, talker, tmp_path):
    rig = through_controller(start, talker, slow_file(tmp_path, periods=5), once=True)
    rig.until_it_moves()
    rig.inject('strain 0.1')
    rig.until(lambda: 'aborted: ' in rig.publisher.printed, 'the abort')
    held = rig.wait_rest(1.0)
    status, printed = rig.end()
    assert status == 1
    reasons = [line for line in printed.splitlines() if 'aborted: ' in line]
    assert len(reasons) == 1
    assert "joint 'fer_joint1' has a measured effort of 1e+04, more than its" in reasons[0]
    np.testing.assert_allclose(rig.states[-1].position, held, atol=1e-3)


@pytest.mark.parametrize(('real_time', 'said'), [
    (True, r'no usable joint state has come for \d+ ms'),
    (False, 'nobody publishes /joint_states any more')])
def test_controller_that_is_killed_with_its_arm_is_an_abort(
        start, talker, tmp_path, real_time, said):
    # Of a busy machine, too, states come within the longest timeout.
    rig = through_controller(
        start, talker, slow_file(tmp_path, periods=5), once=True, real_time=real_time,
        state_timeout=1.0, tracking_error=10.0)
    rig.until_it_moves()
    rig.arm.stop(signal.SIGKILL)
    status, printed = rig.end()
    assert status == 1
    assert re.search(f'aborted: {said}', printed), printed


class Silent:
    """A controller that accepts goals and does nothing about them."""

    def __init__(self, talker):
        self.goals, self.cancelled = [], []
        self.server = ActionServer(
            talker.node, FollowJointTrajectory, 'other/follow_joint_trajectory', self.end,
            handle_accepted_callback=self.accept,
            cancel_callback=self.cancel)

    def accept(self, handle):
        self.goals.append(handle)

    def cancel(self, handle):
        self.cancelled.append(handle)
        return CancelResponse.ACCEPT

    def leave(self):
        if self.server is not None:
            self.server.destroy()
        self.server = None

    def end(self, handle):
        handle.abort()
        return FollowJointTrajectory.Result(error_code=-4, error_string='path tolerance of a test')


class Watch:
    """Time of an arm that a test moves on."""

    seconds = 10.0
    simulated = True
    patience = 15.0

    def now(self):
        return self.seconds


def test_time_of_the_motion_stands_still_until_its_controller_answers(talker, silent_controller):
    controller, watch, failed = silent_controller(), Watch(), []
    output = TrajectoryOutput(talker.node, ARM, 'other', failed.append, False, watch)
    talker.until(lambda: not output.missing, 'the controller')
    # The controller has the names of the states.
    states = StateWatch(talker.node, ARM, watch, print)
    zeros = [0.0] * ARM.n
    assert states.read(JointState(name=ARM.aliases[0][::-1], position=zeros, velocity=zeros))
    output.prepare(0.004, states.names)
    executor = MotionExecutor(slow_motion(), planning_limits(ARM), 0.2)
    executor.start(watch.now(), slow_motion().start)
    output.begin(executor, output.clock(watch.now()))
    for late, ahead in ((0.15, 0.15), (0.5, AHEAD_SECONDS)):
        # The controller may have begun by now: by so much the arm may be ahead.
        watch.seconds = 10.0 + late
        assert output.clock(watch.now()) == 10.0
        assert output.ahead == pytest.approx(ahead)
    talker.until(lambda: output.settled, 'the answer')
    assert len(controller.goals) == 1
    assert tuple(controller.goals[0].request.trajectory.joint_names) == ARM.aliases[0]
    assert output.clock(watch.now()) == pytest.approx(10.0)
    watch.seconds += 1.0
    assert output.clock(watch.now()) == pytest.approx(11.0)
    assert failed == []


def failed_future():
    """Return a future as the middleware leaves it where a context ends or a service goes."""
    future = Future()
    future.set_exception(RuntimeError('the context is gone'))
    return future


@pytest.fixture
def following(talker, silent_controller):
    """Return a controller that follows a goal, the output that sent it, and what failed."""
    controller, failed = silent_controller(), []
    output = TrajectoryOutput(talker.node, ARM, 'other', failed.append, False, Watch())
    talker.until(lambda: not output.missing, 'the controller')
    begin(output)
    talker.until(lambda: output.following, 'acceptance')
    return controller, output, failed


def begin(output):
    executor = MotionExecutor(slow_motion(), planning_limits(ARM), 0.2)
    executor.start(10.0, slow_motion().start)
    output.begin(executor, 10.0)


@pytest.mark.parametrize(('method', 'reason'), [
    ('send_goal_async', 'has not answered the motion'),
    ('get_result_async', 'has not reported how the motion ended')])
def test_controller_without_an_answer_ends_the_motion_with_its_reason(
        talker, following, monkeypatch, method, reason):
    controller, output, failed = following
    kind = type(output._client if method == 'send_goal_async' else output._handle)
    monkeypatch.setattr(kind, method, lambda *_: failed_future())
    begin(output)
    talker.until(lambda: failed and output.settled, 'the failure')
    assert failed == [f'other/follow_joint_trajectory {reason}: the context is gone']
    assert not output.following
    # The controller may still follow the goal that it has.
    talker.until(lambda: controller.cancelled == controller.goals[-1:], 'the request to cancel')


def test_cancelling_that_fails_is_told_and_nothing_waits_for_it(following, monkeypatch):
    _, output, failed = following
    monkeypatch.setattr(type(output._handle), 'cancel_goal_async', lambda _: failed_future())
    output.hold(MotionState(slow_motion().start, np.zeros(ARM.n)))
    assert output.settled and not output.following
    assert failed == ['other/follow_joint_trajectory has not confirmed that it gave the motion '
                      'up: the context is gone']


@pytest.fixture
def silent_controller(talker):
    """Return a function that makes a controller."""
    made = []

    def make():
        made.append(Silent(talker))
        return made[-1]

    yield make
    for controller in made:
        controller.leave()


@pytest.fixture
def silent(start, talker, tmp_path, silent_controller):
    """Return a function that makes controller and rig."""
    def make(periods=5, **parameters):
        return silent_controller(), through_controller(
            start, talker, slow_file(tmp_path, periods), controller='other',
            tracking_error=5.0, **parameters)

    return make


def test_motion_is_one_goal_and_the_controller_giving_it_up_is_an_abort(silent):
    controller, rig = silent()
    assert rig.begin().success
    rig.until(lambda: controller.goals, 'a goal')
    motion, goal = slow_motion(periods=5), controller.goals[0].request.trajectory
    assert tuple(goal.joint_names) == ARM.joint_names
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
    rig.wait_refusal('aborted the motion: path tolerance of a test')


def test_controller_that_goes_while_it_moves_the_arm_is_an_abort(silent):
    controller, rig = silent(once=True)
    rig.until(lambda: controller.goals, 'a goal')
    controller.leave()
    status, printed = rig.end()
    assert status == 1
    assert 'aborted: the action other/follow_joint_trajectory is not there' in printed


def test_goal_that_fails_at_its_end_is_an_abort_too(silent):
    controller, rig = silent(periods=1, once=True)
    rig.until(lambda: controller.goals, 'a goal')
    # The arm itself stands still: only the time of the motion passes.
    rig.wait_end()
    rig.after(0.2)
    controller.goals[0].execute()
    status, printed = rig.end()
    assert status == 1
    assert 'aborted the motion: path tolerance of a test' in printed


def test_states_that_do_not_come_are_missed_by_name(start, talker, tmp_path):
    process = start('trajectory_publisher', arm='panda', excitation=slow_file(tmp_path))
    missed = "not ready: no states of all joints of 'panda'"
    talker.until(lambda: missed in process.printed, 'the message')
    status, printed = process.stop()
    assert status == 0
    assert 'waiting for states of panda on /joint_states' in printed and ']: ready' not in printed
