# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The controller of the simulated arm in lockstep with a test, and a way for it."""

from control_msgs.action import FollowJointTrajectory
import numpy as np
from rclpy.action import ActionClient
from rclpy.duration import Duration
from ros.motion.pace import LED, Pace
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import quintic_step

ARM = load_arm('panda')
START = planning_limits(ARM).middle
WAY = np.linspace(0.1, 0.4, ARM.n)
CONTROLLER = 'joint_trajectory_controller'
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


def quintic(way=WAY, seconds=1.0, points=20):
    """Trajectory in reverse order of the joints, and time stamps that begin at acceptance."""
    message = JointTrajectory(joint_names=ARM.joint_names[::-1])
    for u in np.linspace(0, 1, points + 1)[1:]:
        step, slope, curve = quintic_step(np.array(u))
        message.points.append(JointTrajectoryPoint(
            positions=(START + step * way)[::-1].tolist(),
            velocities=(slope / seconds * way)[::-1].tolist(),
            accelerations=(curve / seconds**2 * way)[::-1].tolist(),
            time_from_start=Duration(seconds=u * seconds).to_msg()))
    return message


class Controlled(Pace):
    """The arm in lockstep with the test, and a client of its controller."""

    def __init__(self, start, talker):
        super().__init__(talker)
        self.arm = start('simulated_arm', arm='panda', rate=250.0, **LED)
        self.client = ActionClient(
            talker.node, FollowJointTrajectory, f'{CONTROLLER}/follow_joint_trajectory')
        self.until(lambda: self.client.server_is_ready() and self.states, 'the arm')

    def send(self, trajectory, **fields):
        """Send a goal; return its handle once it is accepted."""
        future = self.client.send_goal_async(
            FollowJointTrajectory.Goal(trajectory=trajectory, **fields))
        self.talker.until(future.done, 'acceptance')
        assert future.result().accepted
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.until(future.done, 'the result')
        return future.result()

    def positions(self):
        return np.array([state.position for state in self.states])

    def moving(self, speed=0.1):
        return self.speed() > speed
