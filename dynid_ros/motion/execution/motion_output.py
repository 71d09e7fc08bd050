# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Output of the commands of a motion, and that by torques of a PD control with feed-forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_executor import MotionExecutor, Reference
from dynid_ros.motion.execution.safety_monitor import EffortLimiter, Violation
from dynid_ros.motion.execution.tracking_control import Gains, RigidArm
from dynid_ros.utilities.arrays import Array


class MotionState(NamedTuple):
    """
    Position, velocity and torque of the joints, even if they are measured at the motors.

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


class Output:
    """
    Output of a motion to an arm.

    Attributes
    ----------
    sent : list of float
        Torques commanded since the last answer to a simulated arm, in their order, if any.

    """

    sent: Sequence[float] = ()

    @property
    def missing(self) -> str:
        """Reason why nothing can be commanded now; empty for none."""
        return ''

    @property
    def settled(self) -> bool:
        """Whether no request to a controller waits for its answer."""
        return True

    @property
    def following(self) -> bool:
        """Whether a controller has not yet reported the end of the motion."""
        return False

    @property
    def ahead(self) -> float:
        """Time by which the arm may be ahead of the motion, s."""
        return 0.0

    def clock(self, now: float) -> float:
        """Time of the motion, s, at a time of the steady clock, s."""
        return now

    def prepare(self, period: float, names: Sequence[str], /) -> None:
        """
        Get ready for a motion.

        Parameters
        ----------
        period : float
            Of the states, s.
        names : sequence of str
            Joints of the arm as the states name them.

        Raises
        ------
        InputError
            The arm cannot be controlled at that period.

        """

    def begin(self, executor: MotionExecutor, now: float) -> None:
        """Take over a motion, or its braking, at the time of the motion at which it starts."""

    def follow(
        self, now: float, state: MotionState, wanted: Reference, /,
    ) -> tuple[Array, Violation | None]:
        """Command the next moment; return the torques (if any) and the bound that they break."""
        raise NotImplementedError

    def hold(self, state: MotionState, /) -> None:
        """Hold the last known position, without a new state."""
        raise NotImplementedError


class TorqueOutput(Output):
    """
    PD control with feed-forward, cut off at the effort limits.

    With gravity compensated at the measured position, PD control is stable everywhere (Takegaki
    and Arimoto 1981, A new feedback method for dynamic control of manipulators).

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    gains : Gains or None
        Of the PD control; None until they are chosen, before the first motion.
    ahead : str
        Feed-forward: ``none`` for a driver that compensates gravity, ``gravity``, or ``model``
        (all rigid-body torques).
    send : callable
        Takes each torque (n,), Nm.

    """

    def __init__(
        self, arm: ArmModel, gains: Gains | None, ahead: str, send: Callable[[Array], None],
    ) -> None:
        self.gains = gains
        self._rigid = RigidArm(arm)
        self._kind = ahead
        self._limiter = EffortLimiter(arm)
        self._send = send

    def follow(
        self, now: float, state: MotionState, wanted: Reference, /,
    ) -> tuple[Array, Violation | None]:
        """Command the next moment; return the torques and which effort limit they exceed."""
        assert self.gains is not None, 'the caller chooses gains before a motion'
        tau, problem = self._limiter.limit(
            now, self._ahead(state.q, wanted) + self.gains.torque(
                state.q, state.qd, wanted.q, wanted.qd))
        self._send(tau)
        return tau, problem

    def hold(self, state: MotionState, /) -> None:
        """Command the arm to hold its last measured position."""
        rest = np.zeros_like(state.q)
        held = self._ahead(state.q, Reference(state.q, rest, rest))
        self._send(self._limiter.hold(held))

    def _ahead(self, q: Array, wanted: Reference) -> Array:
        """
        Feed-forward at a measured position.

        An upright arm falls away from the reference faster than soft gains hold it, unless gravity
        is compensated at its measured position.
        """
        if self._kind == 'none':
            return np.zeros_like(q)
        gravity = self._rigid.gravity(q)
        if self._kind == 'gravity':
            return gravity
        return gravity + self._rigid.torque(*wanted) - self._rigid.gravity(wanted.q)
