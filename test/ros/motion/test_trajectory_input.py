# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The simulated arm as a joint_trajectory_controller, in a process of its own."""

from control_msgs.msg import JointTolerance
import numpy as np
import pytest
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
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from dynid_ros.motion.execution.tracking_control import RigidArm

REFUSED = 'refused: torques are commanded while a trajectory moves the arm'


@pytest.fixture
def controlled(start, talker):
    rig = Controlled(start, talker)
    yield rig
    rig.client.destroy()


def test_goal_is_run_in_its_time_within_tolerance_and_held(controlled):
    begin = controlled.wait_rest()
    np.testing.assert_allclose(begin, START, atol=1e-3)
    result = controlled.result(controlled.send(quintic()))
    assert (result.status, result.result.error_code) == (SUCCEEDED, 0)
    # Coulomb friction by stiffness, and the encoder's step.
    np.testing.assert_allclose(controlled.wait_rest(), START + WAY, atol=2e-3)
    stamps = [stamp(state) for state in controlled.states if controlled.speed(state) > 0.02]
    # A quintic is that slow in its first and last twentieth.
    assert stamps[-1] - stamps[0] == pytest.approx(0.9, abs=0.1)
    controlled.after(0.5)
    np.testing.assert_allclose(controlled.wait_rest(), START + WAY, atol=2e-3)


def test_cancel_slows_the_arm_down_and_holds_it(controlled, talker):
    handle = controlled.send(quintic(3 * WAY, 3.0))
    controlled.until(lambda: controlled.moving(0.3), 'motion')
    cancelled = handle.cancel_goal_async()
    talker.until(cancelled.done, 'the answer to the cancel')
    assert len(cancelled.result().goals_canceling) == 1
    assert controlled.result(handle).status == CANCELED
    stopped = controlled.wait_rest()
    assert np.abs(stopped - START - 3 * WAY).max() > 0.1
    controlled.after(0.5)
    np.testing.assert_allclose(controlled.wait_rest(), stopped, atol=2e-3)


def test_bad_goals_end_with_code_and_reason_and_move_nothing(controlled):
    unknown = quintic()
    unknown.joint_names = ['elbow', *unknown.joint_names[1:]]
    backwards = quintic()
    backwards.points[3].time_from_start = backwards.points[1].time_from_start
    nan = quintic()
    nan.points[2].positions[0] = float('nan')
    fast = quintic()
    fast.points[-1].velocities = [0.5] * ARM.n
    short = quintic()
    short.points[0].accelerations = [0.0]
    efforts = quintic()
    efforts.points[1].effort = [0.0] * ARM.n
    old = quintic()
    # It lasts for a second from the beginning of the time.
    old.header.stamp.nanosec = 1
    controlled.after(1.2)
    for trajectory, code, said in (
            (unknown, -2, 'the trajectory is for elbow, fer_joint6'),
            (backwards, -1, 'times must increase'),
            (nan, -1, "positions of joint 'fer_joint7' in point 3 are nan"),
            (fast, -1, 'not at rest'), (short, -1, 'point 1 has 1 accelerations'),
            (JointTrajectory(joint_names=ARM.joint_names), -1, 'no points'),
            (efforts, -1, 'point 1 has no efforts, and others have'), (old, -3, 'has ended')):
        answer = controlled.result(controlled.send(trajectory))
        assert (answer.status, answer.result.error_code) == (ABORTED, code)
        assert said in answer.result.error_string
    assert np.abs(controlled.positions() - START).max() < 1e-3
    status, printed = controlled.arm.stop()
    assert status == 0
    assert '(OLD_HEADER_TIMESTAMP)' in printed


def test_new_goal_replaces_the_one_before_and_the_topic_too(controlled, talker):
    first = controlled.send(quintic(2 * WAY, 3.0))
    controlled.until(controlled.moving, 'motion')
    second = controlled.send(quintic(WAY, 3.0))
    replaced = controlled.result(first)
    assert (replaced.status, replaced.result.error_code) == (ABORTED, -1)
    assert 'replaced by another trajectory' in replaced.result.error_string
    topic = talker.node.create_publisher(JointTrajectory, f'{CONTROLLER}/joint_trajectory', 10)
    talker.until(lambda: topic.get_subscription_count() > 0, 'the subscription')
    topic.publish(quintic(-WAY, 1.0))
    assert controlled.result(second).status == ABORTED
    controlled.until(
        lambda: np.abs(controlled.states[-1].position - START + WAY).max() < 2e-3,
        'the goal of the topic')
    controlled.wait_rest()


def test_lost_trajectory_is_aborted_by_the_tolerance_of_its_goal(controlled):
    tolerance = JointTolerance(name='fer_joint7', position=1e-7)
    answer = controlled.result(controlled.send(quintic(), path_tolerance=[tolerance]))
    assert (answer.status, answer.result.error_code) == (ABORTED, -4)
    assert "joint 'fer_joint7' is" in answer.result.error_string
    controlled.wait_rest()


def test_torques_are_refused_while_a_trajectory_moves_the_arm(controlled, talker):
    torques = talker.node.create_publisher(Float64MultiArray, 'effort_commands', 10)
    talker.until(lambda: torques.get_subscription_count() > 0, 'the arm')
    handle = controlled.send(quintic())
    torques.publish(Float64MultiArray(data=[50.0] * ARM.n))
    # Until the arm has them, no time of the arm passes, and the trajectory does not end.
    talker.until(lambda: REFUSED in controlled.arm.printed, 'the refusal of the torques')
    assert controlled.result(handle).status == SUCCEEDED
    np.testing.assert_allclose(controlled.wait_rest(), START + WAY, atol=2e-3)
    assert controlled.arm.printed.count(REFUSED) == 1
    holding = RigidArm(ARM).gravity(START + WAY).tolist()
    refused, tries = None, 0

    def noticed():
        nonlocal refused, tries
        tries += 1
        torques.publish(Float64MultiArray(data=holding))
        refused = controlled.result(controlled.send(quintic())).result
        return 'torques are being commanded' in refused.error_string

    controlled.until(noticed, 'the refusal')
    assert refused.error_code == -1
    status, printed = controlled.arm.stop()
    assert status == 0
    # A goal that overtook the torques before it was accepted, and they were refused, too.
    assert printed.count(REFUSED) <= tries
