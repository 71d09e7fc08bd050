# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The relay between senders of trajectories and a controller that adds their effort."""

from control_msgs.action import FollowJointTrajectory
import numpy as np
import pytest
from rclpy.action import ActionClient, ActionServer, CancelResponse
from results import identification
from ros.motion.controller_rig import (
    ABORTED,
    ARM,
    CANCELED,
    Controlled,
    CONTROLLER,
    quintic,
    START,
    SUCCEEDED,
    WAY,
)
from ros.motion.pace import stamp

from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.result_files.result_file import write_result

SECONDS = 1.0


@pytest.fixture
def model(tmp_path):
    """Write the true model of the simulated arm."""
    base = base_parameters(ARM)
    found = identification(ARM, theta=base.grouping @ nominal_parameters(ARM))
    write_result(found, tmp_path / 'model')
    return found, tmp_path / 'model'


@pytest.fixture
def sender(talker):
    """Return a client of the relay."""
    client = ActionClient(
        talker.node, FollowJointTrajectory, '/feedforward/follow_joint_trajectory')
    yield client
    client.destroy()


def send(talker, client, trajectory, heard=None):
    """Send a goal through the relay; return its handle once it is accepted."""
    talker.until(client.server_is_ready, 'the relay')
    future = client.send_goal_async(
        FollowJointTrajectory.Goal(trajectory=trajectory),
        feedback_callback=None if heard is None else heard.append)
    talker.until(future.done, 'acceptance')
    assert future.result().accepted
    return future.result()


def refused(talker, client, trajectory, relay, said):
    """Send a goal that the relay rejects, with the reason in its log."""
    talker.until(client.server_is_ready, 'the relay')
    future = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
    talker.until(future.done, 'the answer')
    assert not future.result().accepted
    assert said in relay.printed


def result(talker, handle):
    future = handle.get_result_async()
    talker.until(future.done, 'the result')
    return future.result()


class Controller:
    """A controller that keeps its goals until the test ends them, at the name of the usual one."""

    def __init__(self, node):
        self.goals, self.cancelled = [], []
        self._end = FollowJointTrajectory.Result()
        self._server = ActionServer(
            node, FollowJointTrajectory, f'{CONTROLLER}/follow_joint_trajectory', self._execute,
            handle_accepted_callback=self.goals.append, cancel_callback=self._cancel)
        self._there = True

    def destroy(self):
        if self._there:
            self._server.destroy()
        self._there = False

    def _cancel(self, handle):
        self.cancelled.append(handle)
        return CancelResponse.ACCEPT

    def _execute(self, handle):
        (handle.canceled if self.cancelled else handle.succeed)()
        return self._end

    def end(self, **result):
        self._end = FollowJointTrajectory.Result(**result)
        self.goals[-1].execute()


@pytest.fixture
def controller(talker):
    made = Controller(talker.node)
    yield made
    made.destroy()


def farthest(states):
    """
    Largest distance of the arm from the quintic, which begins where that is least.

    The sender has its acceptance before the controller has the goal, and time goes on.
    """
    stamps = np.array([stamp(state) for state in states])
    positions = np.array([state.position for state in states])

    def away(begin):
        u = np.clip((stamps - begin) / SECONDS, 0, 1)[:, None]
        return np.abs(positions - START - WAY * (10 * u**3 - 15 * u**4 + 6 * u**5)).max()

    return min(map(away, stamps))


def test_an_arm_under_pd_control_follows_closely_by_the_effort_of_the_relay(
        start, talker, model, sender):
    rig = Controlled(start, talker)
    start('feedforward', model=model[1], use_sim_time=True)
    home, plain = quintic(way=0 * WAY, points=1), quintic()
    for point in plain.points:
        point.effort = [0.0] * ARM.n

    def follow(client, trajectory):
        rig.wait_rest()
        talker.until(client.server_is_ready, 'the action')
        before = len(rig.states)
        future = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
        talker.until(future.done, 'acceptance')
        return rig.result(future.result()), rig.states[before:]

    done, fed = follow(sender, quintic())
    assert done.status == SUCCEEDED, done.result
    assert follow(rig.client, home)[0].status == SUCCEEDED
    _, unfed = follow(rig.client, plain)
    # The model is true; what is left is the friction near standstill and the delay of the effort.
    assert farthest(fed) < 0.2 * farthest(unfed)
    rig.client.destroy()


def test_goal_gets_the_torque_of_the_model_and_the_sender_all_that_comes_back(
        start, talker, model, sender, controller):
    start('feedforward', model=model[1])
    heard = []
    talker.until(sender.server_is_ready, 'the relay')
    handle = send(talker, sender, quintic(), heard)
    talker.until(lambda: controller.goals, 'the goal')
    passed = controller.goals[0].request.trajectory
    assert passed.joint_names == list(ARM.joint_names[::-1])
    sent = quintic().points
    rows = ([getattr(point, name)[::-1] for point in sent]
            for name in ('positions', 'velocities', 'accelerations'))
    expected = model[0].predict_torque(*map(np.array, rows))[:, ::-1]
    np.testing.assert_allclose([point.effort for point in passed.points], expected, atol=1e-9)
    for before, after in zip(sent, passed.points, strict=True):
        np.testing.assert_array_equal(before.positions, after.positions)
    feedback = FollowJointTrajectory.Feedback(joint_names=['here'])

    def told():
        controller.goals[0].publish_feedback(feedback)
        return heard

    talker.until(told, 'feedback')
    assert heard[0].feedback.joint_names == ['here']
    controller.end(error_code=0, error_string='reached')
    found = result(talker, handle)
    assert (found.status, found.result.error_string) == (SUCCEEDED, 'reached')


def test_cancel_goes_on_to_the_controller(start, talker, model, sender, controller):
    start('feedforward', model=model[1])
    handle = send(talker, sender, quintic())
    talker.until(lambda: controller.goals, 'the goal')
    handle.cancel_goal_async()
    talker.until(lambda: controller.cancelled, 'the request to cancel')
    controller.end()
    assert result(talker, handle).status == CANCELED


def without_accelerations():
    trajectory = quintic()
    trajectory.points[2].accelerations = []
    return trajectory


def too_fast():
    trajectory = quintic()
    trajectory.points[3].accelerations = [1e4] * ARM.n
    return trajectory


def of_another_arm():
    trajectory = quintic()
    trajectory.joint_names = ['other', *trajectory.joint_names[1:]]
    return trajectory


@pytest.mark.parametrize(('wrong', 'said'), [
    (without_accelerations, 'point 3 of the trajectory lacks velocities or accelerations'),
    (too_fast, 'but its limit is'), (of_another_arm, 'are not the joints of the model')])
def test_trajectory_without_a_torque_is_refused_with_the_reason(
        start, talker, model, sender, controller, wrong, said):
    relay = start('feedforward', model=model[1])
    refused(talker, sender, wrong(), relay, said)
    assert not controller.goals


def test_a_controller_that_goes_ends_its_goals(start, talker, model, sender, controller):
    relay = start('feedforward', model=model[1])
    handle = send(talker, sender, quintic())
    talker.until(lambda: controller.goals, 'the goal')
    controller.destroy()
    found = result(talker, handle)
    assert found.status == ABORTED
    assert 'is gone' in found.result.error_string
    refused(talker, sender, quintic(), relay, 'is not there')


def test_a_model_that_is_not_trustworthy_commands_nothing(start, tmp_path):
    poor = identification(ARM, verdict=Verdict(
        False, (Finding('still', 'it moved too little', 'let it move'),), float('inf')))
    write_result(poor, tmp_path / 'poor')
    status, printed = start('feedforward', model=tmp_path / 'poor').end()
    assert status == 2
    assert 'the model is not trustworthy' in printed
