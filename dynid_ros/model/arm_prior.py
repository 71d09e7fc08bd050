"""The parameters of an arm before any motion, and how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia
from dynid_ros.dynamics.base import base_parameters, random_states
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_body import mass_matrix

Array = NDArray[np.float64]

#: Standard deviation relative to the value: of stated links and rotors, and of those that follow
#: from lengths alone, whose density may be several times another.
STATED, GUESSED = 1.0, 2.0
#: Radius of a link relative to its length, and relative to the mean length of the links at least.
SLENDER, STOUT = 0.25, 0.15
#: Length of a link where no joint or tool shows any, m.
LENGTH = 0.3
#: Density of a link before any data, kg/m³: some aluminium, some motor, some air.
DENSITY = 1500.0
#: Least eigenvalue of a stated pseudo-inertia, relative to the largest, that counts as a body.
BODY = 1e-9
#: States over which inertias about a joint and torques are averaged.
STATES = 20
#: Torque of a drive of which neither limit nor load is known, relative to the largest of the arm.
LEAST_DRIVE = 1e-2


@dataclass(frozen=True, eq=False)
class ArmPrior:
    """
    Independent Gaussian prior of the standard parameters, wide enough to yield to any motion.

    Attributes
    ----------
    values, std : (p,) ndarray
        Mean and standard deviation, in the order of ``arm.layout``, SI units.
    grouping : (b, p) ndarray
        From standard to base parameters.
    from_shape : (n,) ndarray of bool
        Links without a possible stated inertia, which are cylinders of their length.

    """

    values: Array
    std: Array
    grouping: Array
    from_shape: NDArray[np.bool_]

    @property
    def theta(self) -> Array:
        """Return the mean of the base parameters, (b,)."""
        return np.asarray(self.grouping @ self.values)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the base parameters, (b, b)."""
        spread = self.grouping * self.std
        return np.asarray(spread @ spread.T)

    def data_share(self, variance: Array) -> Array:
        """Share (b,) by which data have reduced the variance of each base parameter, 0 to 1."""
        return np.clip(1 - variance / np.diag(self.covariance), 0, 1)

    def rows(self, columns: NDArray[np.intp] | None = None, widening: float = 1.0) -> Array:
        """
        Return the prior as rows ``[w tau]`` of unit noise.

        Parameters
        ----------
        columns : (c,) ndarray of int, optional
            Base parameters to keep; the others are zero.
        widening : float
            Factor of all standard deviations.

        Returns
        -------
        (c, c + 1) ndarray
            Their squares are the information of the prior.

        """
        chosen = np.arange(len(self.grouping)) if columns is None else columns
        half = np.linalg.cholesky(self.covariance[np.ix_(chosen, chosen)])
        known = np.column_stack([np.eye(len(chosen)), self.theta[chosen]])
        return np.asarray(np.linalg.solve(widening * half, known))

    def widening(self, squares: Array, torque: float) -> float:
        """
        Factor of the standard deviations that lets the prior reach the torque of some rows.

        Signals without a known gain are in units of their own, in which parameters are larger
        than any arm has them.

        Parameters
        ----------
        squares : (b,) ndarray
            Sum of squares of each column of the rows.
        torque : float
            The same of the torque.

        """
        expected = float(squares @ (np.diag(self.covariance) + self.theta**2))
        return float(np.sqrt(max(1.0, torque / expected))) if expected > 0 else 1.0


@lru_cache(maxsize=32)
def arm_prior(arm: ArmModel) -> ArmPrior:
    """
    Find what an arm's description says about its parameters.

    Links have their stated inertia, else that of a cylinder from joint to joint. A mass is
    uncertain by a share of itself, first moments by this mass at the length of the link, and
    inertias by this mass at its square. Friction has its stated value, else zero, and each term
    alone may take all torque of its drive: the effort limit, or the torque that the links need.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms define the columns.

    Returns
    -------
    ArmPrior
        The same in every run.

    References
    ----------
    Leboutet et al. 2021, Inertial parameter identification in robotics: a survey, Applied
    Sciences 11(9), section 4.4 (Bayesian estimates with a prior from CAD).

    """
    layout, base = arm.layout, base_parameters(arm)
    links = layout.all_inertial().reshape(arm.n, -1)
    known = np.zeros((arm.n, len(INERTIAL))) if arm.inertial is None else arm.inertial
    guessed = np.array([not _is_body(link) for link in known])
    bodies = np.where(guessed[:, None], [cylinder(arm, j) for j in range(arm.n)], known)
    if arm.link_bounds is not None:
        bodies = arm.link_bounds.inside(bodies)
    values, std = np.zeros(layout.size), np.zeros(layout.size)
    values[links] = bodies
    std[links] = np.where(guessed, GUESSED, STATED)[:, None] * _scales(arm, bodies)
    bare = replace(arm.rigid(), inertial=bodies, rotor_nominal=None,
                   limits=JointLimits.unknown(arm.n))
    if layout.rotor_inertia:
        rotor = [layout.rotor(joint) for joint in range(arm.n)]
        stated = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
        # As a gear matches the inertia of the drive to that of the links.
        matched = np.mean([np.diag(M) for M in mass_matrix(bare, random_states(bare)[0][:STATES])],
                          axis=0)
        values[rotor] = np.where(stated > 0, stated, matched)
        std[rotor] = np.where(stated > 0, STATED, GUESSED) * values[rotor]
    torque = _drive_torque(arm, bare, bodies)
    sizes = base.sizes / np.sqrt(base.states)
    for joint in range(arm.n):
        for term in friction_terms(arm.friction):
            column = layout.friction_column(joint, term.symbol)
            values[column] = arm.friction_nominal.get(term.name, np.zeros(arm.n))[joint]
            std[column] = torque[joint] / (sizes[column] or 1.0)
    for column in range(arm.n * layout.block, layout.size):
        std[column] = torque.max() / (sizes[column] or 1.0)
    return ArmPrior(values, std, base.grouping, guessed)


def _is_body(parameters: Array) -> bool:
    eigenvalues = np.linalg.eigvalsh(pseudo_inertia(parameters))
    return bool(eigenvalues[0] > BODY * eigenvalues[-1])


def _scales(arm: ArmModel, bodies: Array) -> Array:
    """Uncertainty of the inertial parameters (n, 10) of links that may be as heavy again."""
    mass, first = bodies[:, 0], np.linalg.norm(bodies[:, 1:4], axis=1)
    gyration = np.sqrt(bodies[:, [4, 7, 9]].sum(axis=1) / 2 / mass)
    length = np.maximum.reduce([_lengths(arm), first / mass, gyration])
    order = np.repeat([0, 1, 2], [1, 3, 6])
    return np.asarray(mass[:, None] * length[:, None] ** order)


def _drive_torque(arm: ArmModel, bare: ArmModel, bodies: Array) -> Array:
    """Torque of each drive, (n,), Nm: its limit, or what the links need at random states."""
    q, qd, qdd, *_ = random_states(bare)
    needed = np.sqrt((regressor(bare, q, qd, qdd) @ bodies.ravel())**2).mean(axis=0)
    limit = np.where(np.isfinite(arm.limits.effort), arm.limits.effort, 0.0)
    torque = np.maximum(needed, limit)
    return np.asarray(np.maximum(torque, LEAST_DRIVE * torque.max()))


def _ends(arm: ArmModel, joint: int) -> Array:
    """Farthest place of the next joint, or of the tool, in the frame of a link, (3,), m."""
    ends = [arm.translation[child] for child in range(arm.n) if arm.parent[child] == joint]
    if not ends and arm.tool.joint % arm.n == joint:
        ends = [arm.tool.placement.translation]
    return max(ends, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))


def _lengths(arm: ArmModel) -> Array:
    """Length of each link, (n,), m; the mean one where two axes meet."""
    own = np.array([np.linalg.norm(_ends(arm, joint)) for joint in range(arm.n)])
    mean = float(own[own > 0].mean()) if own.any() else LENGTH
    return np.where(own > 0, own, mean)


def cylinder(arm: ArmModel, joint: int) -> Array:
    """Inertial parameters (10,) of a cylinder from a joint to the next, of `DENSITY`."""
    end = _ends(arm, joint)
    length = float(np.linalg.norm(end))
    lengths = np.linalg.norm(arm.translation, axis=1)
    mean = float(lengths[1:].mean()) if arm.n > 1 and lengths[1:].any() else length or LENGTH
    along = end / length if length else arm.axis[joint]
    radius = max(SLENDER * length, STOUT * mean)
    # As long as it is thick, where two axes meet.
    length = max(length, 2 * radius)
    mass = DENSITY * np.pi * radius**2 * length
    center = end / 2
    across = np.eye(3) - np.outer(along, along)
    second = (length**2 / 12 * np.outer(along, along) + radius**2 / 4 * across
              + np.outer(center, center)) * mass
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([mass, *(mass * center), *inertia[np.triu_indices(3)]])
