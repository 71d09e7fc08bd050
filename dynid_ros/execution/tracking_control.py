"""Tracking control of an arm: PD with gains from its mass matrix, and feed-forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.rigid_parameters import check_physical, pinocchio_arm

Array = NDArray[np.float64]

#: Natural frequency of each joint under control, rad/s, and damping ratio.
NATURAL_FREQUENCY = 60.0
DAMPING_RATIO = 1.0
#: Largest product of the fastest damping rate and the reaction time of the loop.
STABLE_RATE = 0.5
#: Random positions at which the mass matrix is looked at.
POSITIONS = 50
#: Reaction time of a controller behind topics on a busy machine, s.
REACTION = 0.005


class RigidArm:
    """
    Mass matrix and torques of the nominal arm without friction; rotor inertia included.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.

    Raises
    ------
    ArmError
        The arm cannot be controlled; see `check_physical`.

    """

    def __init__(self, arm: ArmModel) -> None:
        import pinocchio

        check_physical(arm)
        known = pinocchio_arm(arm)
        self._rnea, self._gravity = pinocchio.rnea, pinocchio.computeGeneralizedGravity
        self._model = pinocchio.Model(known.model)
        # Whether rnea adds the armature differs between versions of Pinocchio.
        self._rotor = np.array(self._model.armature)
        self._model.armature = np.zeros(arm.n)
        self._data = self._model.createData()
        self._order, self._place = known.order, known.place
        self.n = arm.n

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Inverse dynamics.

        Parameters
        ----------
        q, qd, qdd : (n,) array_like
            rad, rad/s, rad/s² (m for prismatic joints).

        Returns
        -------
        (n,) ndarray
            Nm (N for prismatic joints).

        """
        states = [np.asarray(x, dtype=float)[self._order] for x in (q, qd, qdd)]
        tau = self._rnea(self._model, self._data, *states) + self._rotor * states[2]
        return np.asarray(tau[self._place])

    def gravity(self, q: ArrayLike) -> Array:
        """Torque (n,) that holds the arm at rest at a position (n,)."""
        position = np.asarray(q, dtype=float)[self._order]
        tau = self._gravity(self._model, self._data, position)
        return np.array(tau[self._place])

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix (n, n) at a position (n,), kg m²."""
        gravity = self.gravity(q)
        rest = np.zeros(self.n)
        return np.array([self.torque(q, rest, unit) - gravity for unit in np.eye(self.n)])


@dataclass(frozen=True)
class Gains:
    """
    Gains of the PD control of each joint.

    Attributes
    ----------
    stiffness, damping : (n,) ndarray
        Nm/rad and Nm s/rad.

    """

    stiffness: Array
    damping: Array

    def torque(self, q: Array, qd: Array, wanted_q: Array, wanted_qd: Array) -> Array:
        """Torque (n,) of the PD control towards the reference."""
        return np.asarray(self.stiffness * (wanted_q - q) + self.damping * (wanted_qd - qd))


def tracking_gains(arm: ArmModel, reaction: float) -> Gains:
    """
    Gains that give each joint the same natural frequency.

    With d the mean diagonal of the mass matrix, the stiffness is d w² and the damping 2 z w d.
    Coupled joints are faster than this: where a discrete loop is unstable at the largest
    eigenvalue of M⁻¹ diag(d), all joints get a lower frequency.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    reaction : float
        Period of the control and delay of the command, together, s.

    Returns
    -------
    Gains
        The same in every run.

    """
    rigid = RigidArm(arm)
    rng = np.random.default_rng(0)
    lower = np.maximum(arm.limits.lower, -np.pi)
    upper = np.minimum(arm.limits.upper, np.pi)
    masses = [rigid.mass_matrix(q) for q in rng.uniform(lower, upper, (POSITIONS, arm.n))]
    typical = np.mean([np.diag(M) for M in masses], axis=0)
    # Similar to M⁻¹ diag(d), but symmetric.
    root = np.sqrt(np.outer(typical, typical))
    coupling = max(1 / np.linalg.eigvalsh(M / root)[0] for M in masses)
    frequency = min(NATURAL_FREQUENCY, STABLE_RATE / (2 * DAMPING_RATIO * coupling * reaction))
    return Gains(typical * frequency**2, 2 * DAMPING_RATIO * frequency * typical)


def feedforward(arm: ArmModel, kind: str, q: Array, qd: Array, qdd: Array) -> Array:
    """
    Feed-forward torque from the nominal model without friction.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    kind : str
        ``none``, ``gravity`` or ``model`` (all rigid-body torques).
    q, qd, qdd : (N, n) ndarray
        The reference: rad, rad/s, rad/s².

    Returns
    -------
    (N, n) ndarray
        Nm.

    """
    if kind == 'none':
        return np.zeros_like(q)
    rigid = RigidArm(arm)
    if kind == 'gravity':
        return np.array([rigid.gravity(row) for row in q])
    return np.array([rigid.torque(*rows) for rows in zip(q, qd, qdd, strict=True)])


def live_gains(arm: ArmModel) -> Gains:
    """Gains of a PD control that reaches the arm through topics."""
    return tracking_gains(arm, REACTION)
