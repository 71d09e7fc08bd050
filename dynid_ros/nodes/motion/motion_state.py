"""Parameters of the trajectory publisher, and the state of the arm that it moves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.nodes.common.joint_state_reader import JointOrder
from dynid_ros.nodes.common.runtime import Setting

Array = NDArray[np.float64]

SETTINGS = (
    Setting('arm', '', 'A shipped arm, or the path of an arm.yaml'),
    Setting('excitation', '', 'The excitation.yaml to run'),
    Setting('output', 'joint_trajectory_controller',
            'joint_trajectory_controller: a FollowJointTrajectory goal; effort: PD control in '
            'this node, for simulations and arms without such a controller'),
    Setting('controller', 'joint_trajectory_controller',
            'Relative name of the joint_trajectory_controller'),
    Setting('effort_joints', [], "Joints in the order of effort_commands; the arm's if empty"),
    Setting('feedforward', 'gravity',
            'Feed-forward of effort commands: gravity; none, for arms whose driver compensates '
            'gravity; or model, all rigid-body torques of the nominal parameters'),
    Setting('tracking_error', 0.1,
            'Tracking error at which the arm is stopped, rad or m', 1e-4, 10.0),
    Setting('state_timeout', 0.1,
            'Age of the last state at which the arm is stopped, s', 0.002, 1.0),
    Setting('start_speed', 0.2,
            'Share of the velocity and acceleration limits on the way to the start', 0.01, 1.0),
    Setting('dry_run', False, 'Publish the reference only, and command nothing'),
    Setting('listeners', [],
            'Nodes that must subscribe to the joint states before a motion begins'),
    Setting('once', False,
            'Start as soon as states come, and end when the motion has ended'),
)


class MotionState(NamedTuple):
    """
    Position, velocity and torque of the joints, also where they are measured at the motors.

    Attributes
    ----------
    q, qd : (n,) ndarray
        rad, rad/s (m for prismatic joints).
    tau : (n,) ndarray or None
        Nm (N for prismatic joints); None where no torques are measured.

    """

    q: Array
    qd: Array
    tau: Array | None = None


class MotionStateReader:
    """
    Find the joints of an arm by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, their aliases, and what lies between motors and joints.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._order = JointOrder(arm)
        self._drive = arm.drive
        self._direct = bool(
            np.array_equal(arm.drive.transmission, np.eye(arm.n)) and not arm.drive.offset.any())

    def read(self, message: Any) -> MotionState | None:
        """
        Read one message.

        Parameters
        ----------
        message : sensor_msgs.msg.JointState
            With positions and velocities of at least all joints of the arm.

        Returns
        -------
        MotionState or None
            None if joints, positions or velocities are missing.

        """
        order = self._order.of(tuple(message.name))
        p, pd = np.array(message.position), np.array(message.velocity)
        if order is None or min(len(p), len(pd)) <= order.max():
            return None
        tau = None
        measured = self._drive.signal == 'effort' and self._drive.topic is None
        if measured and len(message.effort) > order.max():
            tau = joint_torque(np.array(message.effort)[order], self._drive)
        if self._direct:
            return MotionState(p[order], pd[order], tau)
        return MotionState(
            np.linalg.solve(self._drive.transmission, p[order]) + self._drive.offset,
            np.linalg.solve(self._drive.transmission, pd[order]), tau)
