# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tracking control of an arm: computed torque, or PD with feed-forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.kernel_arrays import tree
from dynid_ros.dynamics.regressor import fill_links, inertial_rows
from dynid_ros.dynamics.rigid_parameters import check_physical, rigid_parameters
from dynid_ros.utilities.arrays import Array

#: Natural frequency of each joint under PD control, rad/s, and damping ratio.
NATURAL_FREQUENCY = 60.0
DAMPING_RATIO = 1.0
#: Largest product of the fastest damping rate and the reaction time of the loop.
STABLE_RATE = 0.5
#: Random positions at which the mass matrix is evaluated.
MASS_POSITIONS = 50
# Each pass removes the excess at the worst position from the joints that contribute to it; the
# rest shrinks to a thousandth in 10 to 60 passes on arms of 2 to 17 joints.
_PASSES = 500
_EXCESS = 1.001


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
        check_physical(arm)
        self._known = rigid_parameters(arm)
        self._tree, self._inertial = tree(arm), self._known.inertial.ravel()

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
        # A simulation calls this a thousand times a second, where checks would dominate.
        known = self._known
        state = tuple(np.array((q, qd, qdd), dtype=float)[:, None])
        links = np.zeros((1, known.arm.n, known.inertial.size))
        fill_links(known.arm, inertial_rows, self._tree, state, len(INERTIAL), links)
        return np.asarray((links @ self._inertial + state[2] @ known.rotor.T)[0])

    def gravity(self, q: ArrayLike) -> Array:
        """Torque (n,) that holds the arm at rest at a position (n,)."""
        rest = np.zeros(self._known.arm.n)
        return self.torque(q, rest, rest)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix (n, n) at a position (n,), kg m²."""
        return np.asarray(self._known.mass_matrix(np.array([q], dtype=float))[0])


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


class ComputedTorque:
    """
    Computed-torque control: the joints follow the reference independently.

    The torque gives the rigid arm the acceleration ``qdd* + w² (q* - q) +
    2 z w (qd* - qd)`` (Luh, Walker and Paul 1980, resolved acceleration). It suits links of any
    mass, because the poles of the loop do not depend on the mass matrix; they are as fast as the
    reaction time allows.

    Parameters
    ----------
    rigid : RigidArm
        The arm.
    reaction : float
        Period of the control and delay of the command, together, s.

    """

    def __init__(self, rigid: RigidArm, reaction: float) -> None:
        self._rigid = rigid
        frequency = STABLE_RATE / (2 * DAMPING_RATIO * reaction)
        self._stiffness, self._damping = frequency**2, 2 * DAMPING_RATIO * frequency

    def torque(
        self, q: Array, qd: Array, wanted_q: Array, wanted_qd: Array, wanted_qdd: Array,
    ) -> Array:
        """Torque (n,) towards the reference."""
        qdd = wanted_qdd + self._stiffness * (wanted_q - q) + self._damping * (wanted_qd - qd)
        return self._rigid.torque(q, qd, qdd)


def tracking_gains(arm: ArmModel, reaction: float) -> Gains:
    """
    Compute gains of a PD control that keep the coupled, sampled loop stable.

    With d the mean diagonal of the mass matrix, the stiffness of a joint is d w² and its damping
    2 z w d. All joints start with the same natural frequency w. Coupled joints are faster than
    this, above all light ones at the end of the arm: if a discrete loop is unstable at the largest
    eigenvalue of M⁻¹ D, the joints of its eigenvector get a lower w.

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
    masses = [rigid.mass_matrix(q) for q in random_positions(arm)]
    typical = np.mean([np.diag(M) for M in masses], axis=0)
    inverses = np.array([np.linalg.inv(M) for M in masses])
    damping = _bearable_damping(
        inverses, 2 * DAMPING_RATIO * NATURAL_FREQUENCY * typical, STABLE_RATE / reaction)
    frequency = damping / (2 * DAMPING_RATIO * typical)
    return Gains(typical * frequency**2, damping)


def random_positions(arm: ArmModel) -> Array:
    """Positions (MASS_POSITIONS, n) between the limits and within half a turn, always the same."""
    lower = np.maximum(arm.limits.lower, -np.pi)
    upper = np.minimum(arm.limits.upper, np.pi)
    return np.random.default_rng(0).uniform(lower, upper, (MASS_POSITIONS, arm.n))


def _bearable_damping(inverses: Array, damping: Array, rate: float) -> Array:
    """
    Lower dampings (n,) until no eigenvalue of M⁻¹ D exceeds a rate.

    With v the unit eigenvector of D^½ M⁻¹ D^½, the logarithm of an eigenvalue grows by v_j² for
    each unit of the logarithm of the damping of joint j. The smallest change that removes the
    excess follows this gradient.
    """
    for _ in range(_PASSES):
        root = np.sqrt(damping)
        values, vectors = np.linalg.eigh(inverses * np.outer(root, root))
        worst = int(np.argmax(values[:, -1]))
        excess = values[worst, -1] / rate
        if excess <= _EXCESS:
            break
        part = vectors[worst, :, -1] ** 2
        damping = damping * excess ** (-part / (part @ part))
    return np.asarray(damping / max(excess, 1.0))
