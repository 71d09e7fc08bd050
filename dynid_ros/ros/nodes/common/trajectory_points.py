"""Points of trajectory messages, from arrays and back."""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectoryPoint

from dynid_ros.ros.nodes.common.lockstep import nanoseconds
from dynid_ros.utilities.arrays import Array

#: Fields of a point, in the order of the arguments of `trajectory_points`.
FIELDS = ('positions', 'velocities', 'accelerations')


def doubles(values: NDArray[np.float64]) -> array.array[float]:
    """Return values as messages take them without a check of each."""
    return array.array('d', values.tobytes())


def trajectory_points(t: Array, *rows: Array) -> list[JointTrajectoryPoint]:
    """Make points at times (N,), s, with as many of `FIELDS` as there are rows (N, n)."""
    return [
        JointTrajectoryPoint(
            time_from_start=Duration(seconds=time).to_msg(),
            **{name: doubles(values) for name, values in zip(FIELDS, point, strict=False)})
        for time, *point in zip(t.tolist(), *rows, strict=True)]


def times_of(points: Sequence[Any]) -> Array:
    """Return the times (N,) of points, s."""
    return np.array([nanoseconds(point.time_from_start) * 1e-9 for point in points])
