"""How a motion leaves the trajectory publisher; and as torques."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.execution.motion_executor import MotionExecutor, Reference
from dynid_ros.execution.safety_monitor import EffortLimiter, Violation
from dynid_ros.execution.tracking_control import live_gains, RigidArm
from dynid_ros.nodes.motion.motion_state import MotionState

Array = NDArray[np.float64]

#: Kinds of feed-forward.
FEEDFORWARD = ('none', 'gravity', 'model')


class Output:
    """
    Way of a motion to the arm.

    Attributes
    ----------
    sent : list of float
        Torques that were commanded last, in their order; empty if none were.

    """

    def __init__(self) -> None:
        self.sent: list[float] = []

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""
        return ''

    @property
    def settled(self) -> bool:
        """Whether nothing that was asked of a controller waits for its answer."""
        return True

    @property
    def following(self) -> bool:
        """Whether a controller has not said yet how the motion ended."""
        return False

    @property
    def ahead(self) -> float:
        """Time by which the arm may be ahead of the motion, s."""
        return 0.0

    def clock(self, now: float) -> float:
        """Time of the motion, s, at a time of the steady clock, s."""
        return now

    def look(self) -> str:
        """Look for the controller before a motion; return its problem, or an empty text."""
        return ''

    def begin(self, executor: MotionExecutor, now: float) -> None:
        """Take over a motion, or its braking, at the time of the motion at which it begins."""

    def follow(
        self, now: float, state: MotionState, wanted: Reference, /,
    ) -> tuple[Array, Violation | None]:
        """Command the next moment; return the torques (if any) and the bound that they break."""
        raise NotImplementedError

    def hold(self, state: MotionState, /) -> None:
        """Hold the arm where it was last seen, without looking at it."""
        raise NotImplementedError


class EffortOutput(Output):
    """
    PD control with feed-forward in this process, on ``effort_commands``.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm, with physical nominal inertial parameters, which give the gains.
    order : sequence of str
        Joints in the order of the commands.
    ahead : str
        Feed-forward: ``none`` for an arm whose driver compensates gravity, which no torque holds,
        ``gravity``, or ``model`` (all rigid-body torques).
    silent : bool
        Whether nothing is commanded: a dry run.

    """

    def __init__(
        self, node: Node, arm: ArmModel, order: Sequence[str], ahead: str, silent: bool,
    ) -> None:
        if sorted(order) != sorted(arm.joint_names):
            raise InputError(
                f'effort_joints must be the joints {", ".join(arm.joint_names)} in the order of '
                f'the controller, not {", ".join(order)}')
        if ahead not in FEEDFORWARD:
            raise InputError(
                f"the parameter 'feedforward' must be one of {', '.join(FEEDFORWARD)}, "
                f"not '{ahead}'")
        super().__init__()
        self._order = np.array([arm.joint_names.index(name) for name in order])
        self._gains = live_gains(arm)
        self._rigid = RigidArm(arm)
        self._kind = ahead
        self._limiter = EffortLimiter(arm)
        self._silent = silent
        self._publisher = node.create_publisher(Float64MultiArray, 'effort_commands', 10)

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""
        if self._silent or self._publisher.get_subscription_count():
            return ''
        return f'nobody listens to {self._publisher.topic_name}'

    def follow(
        self, now: float, state: MotionState, wanted: Reference,
    ) -> tuple[Array, Violation | None]:
        """Command the next moment; return the torques and which effort limit they exceed."""
        tau, problem = self._limiter.limit(
            now, self._ahead(wanted) + self._gains.torque(
                state.q, state.qd, wanted.q, wanted.qd))
        self._send(tau)
        return tau, problem

    def hold(self, state: MotionState) -> None:
        """Command only what holds the arm where it was last seen."""
        rest = np.zeros_like(state.q)
        self._send(self._limiter.limit(0.0, self._ahead(Reference(state.q, rest, rest)))[0])

    def _ahead(self, wanted: Reference) -> Array:
        if self._kind == 'none':
            return np.zeros_like(wanted.q)
        if self._kind == 'gravity':
            return self._rigid.gravity(wanted.q)
        return self._rigid.torque(*wanted)

    def _send(self, tau: Array) -> None:
        if not self._silent:
            self.sent = tau[self._order].tolist()
            self._publisher.publish(Float64MultiArray(data=self.sent))
