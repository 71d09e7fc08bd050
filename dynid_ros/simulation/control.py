"""Tracking control of a simulated arm: PD with gains from its mass matrix, and feed-forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.simulation.rigid import RigidArm

Array = NDArray[np.float64]

#: Natural frequency of each joint under control, rad/s, and damping ratio.
NATURAL_FREQUENCY = 60.0
DAMPING_RATIO = 1.0
#: Largest product of the fastest damping rate and the reaction time of the loop.
STABLE_RATE = 0.5
#: Random positions at which the mass matrix is looked at.
POSITIONS = 50


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
        """Torque (n,) that draws the joints to where they should be."""
        return np.asarray(self.stiffness * (wanted_q - q) + self.damping * (wanted_qd - qd))


def tracking_gains(arm: ArmModel, reaction: float) -> Gains:
    """
    Gains that give each joint the same natural frequency.

    With d the mean diagonal of the mass matrix, the stiffness is d w² and the damping 2 z w d.
    Coupled joints move faster than this says: where a discrete loop would not bear the largest
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
    Torque ahead of the control, from the nominal model without friction.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    kind : str
        ``none``, ``gravity`` or ``model`` (all rigid-body torques).
    q, qd, qdd : (N, n) ndarray
        The motion wanted: rad, rad/s, rad/s².

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
