# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The bounds that an arm must keep while it moves, and their violations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.utilities.arrays import Array

#: Position, rad or m, and velocity that no joint reaches.
ABSURD = 1e6


class Bound(Enum):
    """Kind of a bound; decisions depend on it, never on the text of a message."""

    NUMBER = 'position and velocity are numbers'
    POSITION = 'position limits'
    VELOCITY = 'velocity limits'
    EFFORT = 'effort limits'
    TRACKING = 'distance from the reference'
    SILENCE = 'age of the last usable state'
    PUBLISHERS = 'one publisher of joint states'
    CONTROLLER = 'a controller or subscriber that takes the motion'


@dataclass(frozen=True)
class Violation:
    """
    A violated bound.

    Attributes
    ----------
    bound : Bound
        Which one.
    text : str
        A clause for the user, with joint and value if there are any.

    """

    bound: Bound
    text: str

    def __str__(self) -> str:
        """Return the clause."""
        return self.text


@dataclass(frozen=True)
class SafetyThresholds:
    """
    Thresholds beyond which an arm is not started, or is stopped.

    Measured figures come from benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    rest : float
        Speed up to which an arm is at rest, relative to its velocity limit. The noise of
        velocities at rest reaches 0.002.
    saturated : float
        Time for which a command may be at the effort limit, s.
    speed : float
        Measured speed above noise, as a multiple of the velocity limit. Good recordings reach
        0.91.
    effort : float
        Measured effort above noise, as a multiple of the effort limit. Good recordings reach 0.67.
    samples : int
        Samples in a row beyond `speed` or `effort` that stop the arm. A single one may err. Good
        recordings have none; five last 10 ms at 500 Hz.

    """

    rest: float = 0.02
    saturated: float = 0.05
    speed: float = 1.1
    effort: float = 1.05
    samples: int = 5


DEFAULT_THRESHOLDS = SafetyThresholds()


class SafetyMonitor:
    """
    Bounds of the measured motion of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm; limits of its hardware count.
    tracking : float
        Largest distance from where the arm should be, rad or m.

    """

    def __init__(self, arm: ArmModel, tracking: float) -> None:
        self._arm = arm
        self._tracking = tracking

    def violation(
        self, q: Array, qd: Array, wanted: Reference | None, ahead: float = 0.0,
    ) -> Violation | None:
        """
        Find the first bound that a state violates.

        Parameters
        ----------
        q, qd : (n,) ndarray
            Measured, rad and rad/s.
        wanted : Reference or None
            Desired position, if it is checked.
        ahead : float
            Time by which the arm may be ahead of it, s.

        Returns
        -------
        Violation or None
            None if all is well.

        """
        limits, names = self._arm.limits, self._arm.joint_names
        bad = ~((np.abs(q) < ABSURD) & (np.abs(qd) < ABSURD))
        if bad.any():
            joint = int(np.argmax(bad))
            value = q[joint] if not abs(q[joint]) < ABSURD else qd[joint]
            what = f'{value:.3g} as' if np.isfinite(value) else 'a NaN or infinite'
            return Violation(
                Bound.NUMBER, f"joint '{names[joint]}' reports {what} position or velocity")
        outside = (q < limits.lower) | (q > limits.upper)
        if outside.any():
            joint = int(np.argmax(outside))
            return Violation(
                Bound.POSITION,
                f"joint '{names[joint]}' is at {q[joint]:.4g}, outside its limits "
                f'{limits.lower[joint]:.4g} to {limits.upper[joint]:.4g}')
        return None if wanted is None else self._lost(q, wanted, ahead)

    def _lost(self, q: Array, wanted: Reference, ahead: float) -> Violation | None:
        later = wanted.q + ahead * wanted.qd
        away = np.abs(q - np.clip(q, np.minimum(wanted.q, later), np.maximum(wanted.q, later)))
        joint = int(np.argmax(away))
        if away[joint] <= self._tracking:
            return None
        return Violation(
            Bound.TRACKING,
            f"joint '{self._arm.joint_names[joint]}' is {away[joint]:.3g} from where it should "
            f'be, more than the allowed {self._tracking:g}')


class LimitWatch:
    """
    Detect measured velocities and efforts beyond the limits; a single sample may be wrong.

    Parameters
    ----------
    arm : ArmModel
        The arm; limits of its hardware count.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._arm = arm
        self._over = np.zeros((2, arm.n), dtype=int)

    def violation(self, qd: Array, tau: Array | None) -> Violation | None:
        """
        Take in one sample.

        Parameters
        ----------
        qd : (n,) ndarray
            Measured, rad/s (m/s for prismatic joints); NaN counts as within the limits.
        tau : (n,) ndarray or None
            Measured, Nm (N for prismatic joints), if it is; NaN counts as within the limits.

        Returns
        -------
        Violation or None
            None as long as all is well.

        """
        limits = self._arm.limits
        measured = np.abs([qd, np.zeros_like(qd) if tau is None else tau])
        allowed = np.array([limits.velocity, limits.effort])
        share = np.array([[DEFAULT_THRESHOLDS.speed], [DEFAULT_THRESHOLDS.effort]])
        self._over = np.where(measured > share * allowed, self._over + 1, 0)
        kind, joint = np.unravel_index(np.argmax(self._over), self._over.shape)
        if self._over[kind, joint] < DEFAULT_THRESHOLDS.samples:
            return None
        bound, does, limit = (
            (Bound.VELOCITY, 'moves at', 'faster than its limit'),
            (Bound.EFFORT, 'has a measured effort of', 'more than its limit'))[kind]
        return Violation(
            bound, f"joint '{self._arm.joint_names[joint]}' {does} {measured[kind, joint]:.3g}, "
            f'{limit} of {allowed[kind, joint]:.3g}')


class EffortLimiter:
    """
    Clip commands at the effort limits, and detect a joint that stays there.

    Parameters
    ----------
    arm : ArmModel
        The arm; limits of its hardware count.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._arm = arm
        self._since = np.full(arm.n, np.inf)

    def limit(self, now: float, tau: Array) -> tuple[Array, Violation | None]:
        """
        Cut a command off.

        Parameters
        ----------
        now : float
            Time of a steady clock, s.
        tau : (n,) ndarray
            Nm.

        Returns
        -------
        tau : (n,) ndarray
            Within the limits, Nm.
        violation : Violation or None
            Of a joint that has been at its limit for too long, if any.

        """
        limit = self._arm.limits.effort
        over = np.abs(tau) > limit
        self._since = np.where(over, np.minimum(self._since, now), np.inf)
        joint = int(np.argmin(self._since))
        violation = None
        if now - self._since[joint] >= DEFAULT_THRESHOLDS.saturated:
            violation = Violation(
                Bound.EFFORT,
                f"joint '{self._arm.joint_names[joint]}' needs {abs(tau[joint]):.3g}, more than "
                f'its effort limit of {limit[joint]:.3g}')
        return np.clip(tau, -limit, limit), violation

    def hold(self, tau: Array) -> Array:
        """Cut off a command (n,), Nm, that ends a motion; the time of a saturation ends, too."""
        self._since = np.full(self._arm.n, np.inf)
        return np.clip(tau, -self._arm.limits.effort, self._arm.limits.effort)
