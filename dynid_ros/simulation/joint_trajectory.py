# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint trajectories as a joint_trajectory_controller reads and interpolates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from scipy.interpolate import BPoly

from dynid_ros.errors import InputError
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.utilities.arrays import Array

Rows = Sequence[Sequence[float]]

#: Velocity up to which a trajectory counts as ending at rest, rad/s, as in ros2_controllers.
AT_REST = float(np.finfo(np.float32).eps)


class Code(IntEnum):
    """Error codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class TrajectoryError(InputError):
    """A rejected trajectory: the reason, and its error code."""

    def __init__(self, reason: str, code: Code = Code.INVALID_GOAL) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """
    Points of a trajectory and the interpolation between them.

    Between two points it is cubic if both have velocities, quintic if both have accelerations,
    too, and linear otherwise.

    Attributes
    ----------
    t : (N,) ndarray
        Times, increasing, s.
    q, qd, qdd : (N, n) ndarray
        rad, rad/s, rad/s² (m for prismatic joints); rows of velocities and accelerations are NaN
        where not given.
    tau : (N, n) ndarray or None
        Feed-forward torque, Nm (N for prismatic joints), linear between points; None without.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array | None = None

    @property
    def end(self) -> float:
        """Time of the last point, s."""
        return float(self.t[-1])

    def joined(self, time: float, q: Array, qd: Array) -> JointTrajectory:
        """Begin at a time and a state (n,), (n,) unless the first point has passed."""
        if time >= self.t[0]:
            return self
        return JointTrajectory(
            np.insert(self.t, 0, time), np.vstack([q, self.q]), np.vstack([qd, self.qd]),
            np.vstack([np.zeros_like(q), self.qdd]),
            None if self.tau is None else np.vstack([self.tau[:1], self.tau]))

    def feed_forward(self, time: float) -> Array | None:
        """Torque (n,) at a time, constant beyond the first and the last point; None without."""
        if self.tau is None:
            return None
        return np.array([np.interp(time, self.t, tau) for tau in self.tau.T])

    def sample(self, time: float) -> Reference:
        """
        Interpolate at a time, s.

        After the last point its position is held.

        Returns
        -------
        Reference
            Position, velocity and acceleration, (n,) each.

        """
        k = int(np.searchsorted(self.t, time, side='right')) - 1
        if k < 0:
            raise ValueError('the trajectory has not begun')
        if k == len(self.t) - 1:
            rest = np.zeros(self.q.shape[1])
            return Reference(self.q[-1], rest, rest)
        segment = self._segment(k)
        return Reference(*(segment(time, nu=order) for order in range(3)))

    @lru_cache(maxsize=2)  # noqa: B019 - two segments of a trajectory may outlive it
    def _segment(self, k: int) -> BPoly:
        """Polynomial from point k to the next one, by the derivatives of both."""
        known = [self.q[k:k + 2]]
        for rates in (self.qd[k:k + 2], self.qdd[k:k + 2]):
            if not np.isfinite(rates).all():
                break
            known.append(rates)
        return BPoly.from_derivatives(self.t[k:k + 2], np.stack(known, axis=1))


def read_trajectory(
    joints: Sequence[str], names: Sequence[str], t: Sequence[float], positions: Rows,
    velocities: Rows, accelerations: Rows, efforts: Rows,
) -> JointTrajectory:
    """
    Check a trajectory, and sort it into the order of the joints.

    Parameters
    ----------
    joints : sequence of str
        Joints of the controller; all of them must be in the trajectory.
    names : sequence of str
        Joints in the order of the values.
    t : sequence of float
        Time of each point, s.
    positions, velocities, accelerations, efforts : sequences of sequences of float
        Values of each point; all but positions may be empty.

    Returns
    -------
    JointTrajectory
        In the order of `joints`.

    Raises
    ------
    TrajectoryError
        A joint_trajectory_controller would refuse it, or a value is not finite.

    """
    if sorted(names) != sorted(joints):
        raise TrajectoryError(
            f'the trajectory is for {", ".join(names) or "no joints"}, but the controller has '
            f'{", ".join(joints)}', Code.INVALID_JOINTS)
    times = np.array(t, dtype=float)
    if not len(times):
        raise TrajectoryError('the trajectory has no points')
    later = np.diff(times, prepend=-np.inf if times[0] >= 0 else np.inf) > 0
    if not later.all():
        point = int(np.argmin(later))
        raise TrajectoryError(
            f'point {point + 1} of {len(times)} is at {times[point]:g} s, but times must '
            'increase from zero')
    order = [names.index(name) for name in joints]
    q, qd, qdd, tau = (_rows(names, field, rows)[:, order] for field, rows in (
        ('positions', positions), ('velocities', velocities), ('accelerations', accelerations),
        ('efforts', efforts)))
    fast = np.abs(qd[-1]) > AT_REST
    if fast.any():
        joint = int(np.argmax(fast))
        raise TrajectoryError(
            f"the trajectory ends with joint '{joints[joint]}' at a velocity of "
            f'{qd[-1, joint]:.3g}, not at rest')
    given = np.isfinite(tau).all(axis=1)
    if given.any() and not given.all():
        raise TrajectoryError(
            f'point {int(np.argmin(given)) + 1} has no efforts, and others have')
    return JointTrajectory(times, q, qd, qdd, tau if given.any() else None)


def _rows(names: Sequence[str], field: str, rows: Rows) -> Array:
    """Read values (N, n) of a field; missing rows are NaN, but positions are required."""
    table = np.full((len(rows), len(names)), np.nan)
    for point, row in enumerate(rows):
        if not len(row) and field != 'positions':
            continue
        if len(row) != len(names):
            raise TrajectoryError(
                f'point {point + 1} has {len(row)} {field} for {len(names)} joints')
        table[point] = row
        for name, value in zip(names, row, strict=True):
            if not np.isfinite(value):
                raise TrajectoryError(f"{field} of joint '{name}' in point {point + 1} are "
                                      f'{value}, which is not finite')
    return table
