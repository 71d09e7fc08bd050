# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Points of trajectory messages, from arrays and back."""

from __future__ import annotations

import array
from collections.abc import Sequence

from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynid_ros.ros.nodes.common.lockstep import nanoseconds
from dynid_ros.simulation import joint_trajectory as core
from dynid_ros.utilities.arrays import Array

#: Fields of a point, in the order of the arguments of `trajectory_points`.
POINT_FIELDS = ('positions', 'velocities', 'accelerations')


def doubles(values: Array) -> array.array[float]:
    """Return values in the type that messages do not check one by one."""
    return array.array('d', values.tobytes())


def trajectory_points(t: Array, *rows: Array) -> list[JointTrajectoryPoint]:
    """Make points at times (N,), s, with as many of `POINT_FIELDS` as there are rows (N, n)."""
    return [
        JointTrajectoryPoint(
            time_from_start=Duration(seconds=time).to_msg(),
            **{name: doubles(values) for name, values in zip(POINT_FIELDS, point, strict=False)})
        for time, *point in zip(t.tolist(), *rows, strict=True)]


def read_points(message: JointTrajectory, joints: Sequence[str]) -> core.JointTrajectory:
    """Read a trajectory in the order of `joints`; raise TrajectoryError where it is none."""
    points = message.points
    return core.read_trajectory(
        joints, list(message.joint_names),
        [nanoseconds(point.time_from_start) * 1e-9 for point in points],
        [p.positions for p in points], [p.velocities for p in points],
        [p.accelerations for p in points], [p.effort for p in points])
