# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The action of the trajectory publisher: feedback, preemption, and what ends a goal."""

import signal

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState, InterfaceValue
from diagnostic_msgs.msg import DiagnosticArray
from motion_rig import ARM, NODE, Rig, slow_file
import numpy as np
import pytest
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

from dynid_ros.ros.nodes.common.qos import LATCHED

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
#: Error codes of the action.
SUCCESSFUL, INVALID_GOAL, PATH_TOLERANCE_VIOLATED = 0, -1, -4


class Excited(Rig):
    """A rig with a client of the action, and the status."""

    def __init__(self, start, talker, path, **parameters):
        super().__init__(start, talker, path, **parameters)
        self.client = ActionClient(talker.node, FollowJointTrajectory, f'{NODE}/excite')
        self.told = []
        self.statuses = talker.listen(DiagnosticArray, f'{NODE}/status', LATCHED)
        self.until(self.client.server_is_ready, 'the action')
        # A status is latched with depth one: on a slow machine the next phase would replace it.
        self.until(lambda: self.statuses, 'the first status')

    def send(self, points=()):
        """Send a goal, and return its handle and the future of its result."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.points = list(points)
        future = self.client.send_goal_async(
            goal, feedback_callback=lambda heard: self.told.append(heard.feedback))
        self.talker.until(future.done, 'acceptance')
        assert future.result().accepted
        return future.result(), future.result().get_result_async()

    def ended(self, future):
        self.until(future.done, 'the result', 30.0)
        answer = future.result()
        return answer.status, answer.result.error_code, answer.result.error_string

    def begun(self):
        """Begin once the publisher knows the period of the states, and wait for motion."""
        self.after(0.3)
        handle, future = self.send()
        self.until(lambda: self.speed() > 0.05, 'motion')
        return handle, future

    def values(self, name):
        """Return a value of all statuses, without repetitions."""
        pairs = [pair for message in self.statuses for pair in message.status[0].values]
        return list(dict.fromkeys(pair.value for pair in pairs if pair.key == name))


@pytest.fixture
def rig(start, talker, tmp_path):
    return Excited(start, talker, slow_file(tmp_path, periods=2))


def test_feedback_and_status_tell_where_the_arm_is_and_where_it_should_be(
        start, talker, tmp_path):
    rig = Excited(start, talker, slow_file(tmp_path))
    summary = rig.talker.node.create_publisher(DynamicJointState, 'identifier/summary', LATCHED)
    summary.publish(DynamicJointState(joint_names=['panda'], interface_values=[
        InterfaceValue(interface_names=['condition_number'], values=[37.5])]))
    _, future = rig.begun()
    assert rig.ended(future) == (SUCCEEDED, SUCCESSFUL, 'the motion has ended')
    measured, wanted = ({(each.header.stamp.sec, each.header.stamp.nanosec): each
                         for each in heard} for heard in (rig.states, rig.wanted))
    assert len(rig.told) > 2
    for told in rig.told:
        stamp = told.header.stamp.sec, told.header.stamp.nanosec
        assert list(told.joint_names) == list(ARM.joint_names)
        for point, state in ((told.actual, measured[stamp]), (told.desired, wanted[stamp])):
            np.testing.assert_allclose(point.positions, state.position, atol=1e-12)
            np.testing.assert_allclose(point.velocities, state.velocity, atol=1e-12)
        np.testing.assert_allclose(told.error.positions, np.subtract(
            told.desired.positions, told.actual.positions), atol=1e-12)
    since = [each.actual.time_from_start for each in rig.told]
    assert (np.diff([each.sec + 1e-9 * each.nanosec for each in since]) >= 0).all()
    assert any(np.abs(each.error.positions).max() > 0 for each in rig.told)
    rig.talker.until(lambda: rig.values('phase')[-1] == 'holding', 'the last status')
    assert rig.values('phase') == ['idle', 'moving to the start', 'running', 'holding']
    share = np.array(rig.values('share'), dtype=float)
    assert (np.diff(share) >= 0).all() and share[0] == 0 < share[-1] <= 1
    # The panda has capsules; the middle of its limits is clear of them.
    clearance = np.array(rig.values('least_clearance')[1:], dtype=float)
    assert (np.diff(clearance) <= 0).all() and clearance[-1] > 0
    assert rig.values('condition_number')[-1] == '37.5'


def test_a_goal_with_points_of_its_own_is_refused_and_nothing_moves(rig):
    rig.after(0.3)
    _, future = rig.send([JointTrajectoryPoint(positions=[0.0] * ARM.n)] * 2)
    status, code, why = rig.ended(future)
    assert (status, code) == (ABORTED, INVALID_GOAL)
    assert 'the goal has 2 points' in why and 'send a goal without points' in why
    rig.after(0.3)
    assert rig.at_rest() and rig.values('phase') == ['idle']


def test_a_path_that_is_left_has_the_code_of_controllers(start, talker, tmp_path):
    rig = Excited(start, talker, slow_file(tmp_path), tracking_error=1e-4)
    rig.after(0.3)
    _, future = rig.send()
    status, code, why = rig.ended(future)
    assert (status, code) == (ABORTED, PATH_TOLERANCE_VIOLATED)
    assert 'from where it should be' in why


def test_the_result_of_a_dry_run_says_so(start, talker, tmp_path):
    rig = Excited(start, talker, slow_file(tmp_path), dry_run=True)
    rig.after(0.3)
    _, future = rig.send()
    assert rig.ended(future) == (
        SUCCEEDED, SUCCESSFUL, 'the motion has ended (dry run: nothing was commanded)')
    assert rig.speed() < 0.01


def test_a_goal_that_is_given_up_slows_down_and_a_second_one_disturbs_nothing(rig):
    handle, future = rig.begun()
    _, second = rig.send()
    status, code, message = rig.ended(second)
    assert (status, code) == (ABORTED, INVALID_GOAL) and 'call ~/stop first' in message
    assert not future.done()
    handle.cancel_goal_async()
    assert rig.ended(future) == (CANCELED, SUCCESSFUL, 'slowed down, and holding')
    assert 'stopping' in rig.values('phase')
    rig.wait_rest(1.5)


def test_the_service_and_a_fault_end_a_goal_with_their_reason(rig):
    _, future = rig.begun()
    assert rig.stop() == 'stopping'
    assert rig.ended(future) == (ABORTED, INVALID_GOAL, '~/stop was called')
    rig.wait_rest(1.5)
    _, future = rig.begun()
    rig.inject('nan 0.1')
    status, code, message = rig.ended(future)
    assert (status, code) == (ABORTED, INVALID_GOAL) and 'reports a NaN' in message


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP])
def test_the_sender_of_a_goal_learns_that_the_node_ends(rig, number):
    _, future = rig.begun()
    rig.publisher.send(number)
    assert rig.ended(future) == (ABORTED, INVALID_GOAL, 'the node is shutting down')
    assert rig.end()[0] == 0
    assert rig.at_rest()
