"""What the trajectory publisher tells others: its motion, before it begins, and its phase."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.duration import Duration
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.motion.trajectory.trajectory_file import sample_times
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer, doubles
from dynid_ros.ros.nodes.common.runtime import LATCHED

#: Points of the motion a second, and at most.
POINTS_HZ, MOST_POINTS = 25.0, 2000
#: Period of the status while nothing changes, s.
PERIOD = 0.5


class MotionReport:
    """
    Publishers of the motion, ``~/motion``, and of the phase, ``~/status``.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm.
    motion : Motion
        Its motion.
    values : dict
        Parameters of the node.

    """

    def __init__(
        self, node: Node, arm: ArmModel, motion: Motion, values: dict[str, Any],
    ) -> None:
        self._node, self._arm = node, arm
        self._facts = {name: values[name] for name in ('dry_run', 'command', 'start_speed')}
        self._phase, self._why, self._since = Phase.IDLE, '', 0.0
        self._status = node.create_publisher(DiagnosticArray, '~/status', LATCHED)
        # Kept, so that a page that is opened later gets it.
        self._motion = node.create_publisher(JointTrajectory, '~/motion', LATCHED)
        self._motion.publish(motion_message(arm, motion))
        create_steady_timer(node, PERIOD, self._publish)

    def enter(self, phase: Phase, why: str, since: float) -> None:
        """Tell of a phase, why it is that of an abort, and the stamp of its first state, s."""
        self._phase, self._why, self._since = phase, why, since
        self._publish()

    def _publish(self) -> None:
        aborted = self._phase is Phase.ABORTED
        text = f'{self._phase.value}: {self._why}' if aborted else self._phase.value
        values = {'phase': self._phase.value, 'since': str(self._since), **self._facts}
        self._status.publish(say.array(self._node.get_clock().now().nanoseconds, [say.status(
            f'{say.name_of(self._node)}: motion', self._arm.name,
            say.ERROR if aborted else say.OK, text, values)]))


def motion_message(arm: ArmModel, motion: Motion) -> JointTrajectory:
    """Sample a motion, in the coordinates of the joints, from its start to its end."""
    times = sample_times(motion, min(POINTS_HZ, MOST_POINTS / motion.duration))
    q, qd, _ = motion.evaluate(times)
    return JointTrajectory(joint_names=list(arm.joint_names), points=[
        JointTrajectoryPoint(
            positions=doubles(position),
            velocities=doubles(velocity),
            time_from_start=Duration(seconds=t).to_msg())
        for t, position, velocity in zip(times.tolist(), q, qd, strict=True)])
