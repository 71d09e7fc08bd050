# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Prior of the parameters of an arm, from its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia, states_body
from dynid_ros.dynamics.base import (
    base_parameters,
    COLUMN_ROUNDING,
    random_regressor,
    random_states,
)
from dynid_ros.dynamics.link_shapes import cylinder, link_scales
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_body import mass_matrix
from dynid_ros.utilities.arrays import Array, inverse_of

#: Least eigenvalue of the pseudo-inertia of a body, relative to the largest.
LEAST_BODY_EIGENVALUE = 1e-9
#: Largest share of the effort limit to hold links that are not stated.
HOLDING = 0.5
#: States over which inertias about a joint are averaged.
INERTIA_STATES = 20
#: Least torque of a drive relative to the largest, for drives with neither limit nor load.
LEAST_DRIVE = 1e-2


@dataclass(frozen=True, eq=False)
class ArmPrior:
    """
    Independent Gaussian prior of the standard parameters, wide enough for any data.

    Attributes
    ----------
    values, std : (p,) ndarray
        Mean and standard deviation, in the order of ``arm.layout``, SI units.
    grouping : (b, p) ndarray
        Maps standard to base parameters.
    guessed : (p,) ndarray of bool
        Means that nobody states: of links, a cylinder of their length; of rotors, their load.
    block : int
        Number of standard parameters of a joint.
    torque : (n,) ndarray
        Torque of each drive: its limit, or what the links need, Nm.
    shrunk : (p,) ndarray of bool
        Friction coefficients shrunk to zero, none by default; see `with_friction`.
    sigma : (n,) ndarray or None
        Standard deviation of the noise of each joint, if a model states it, Nm.
    known : (b, b + 1) ndarray or None
        Rows of the prior, if a model states them: they span more decades than `covariance` holds.

    """

    values: Array
    std: Array
    grouping: Array
    guessed: NDArray[np.bool_]
    block: int
    torque: Array
    shrunk: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, dtype=np.bool_))
    sigma: Array | None = None
    known: Array | None = None

    @property
    def theta(self) -> Array:
        """Return the mean of the base parameters, (b,)."""
        return np.asarray(self.grouping @ self.values)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the base parameters, (b, b)."""
        spread = self.grouping * self.std
        return np.asarray(spread @ spread.T)

    def rows(self, columns: NDArray[np.intp] | None = None) -> Array:
        """
        Return the prior as rows ``[w tau]`` of unit noise.

        Parameters
        ----------
        columns : (c,) ndarray of int, optional
            Base parameters to keep; the others are zero.

        Returns
        -------
        (c, c + 1) ndarray
            Their Gram matrix is the information of the prior.

        """
        if self.known is not None:
            return self.known
        chosen = np.arange(len(self.grouping)) if columns is None else columns
        half = np.linalg.cholesky(self.covariance[np.ix_(chosen, chosen)])
        rows = np.column_stack([np.eye(len(chosen)), self.theta[chosen]])
        return np.asarray(np.linalg.solve(half, rows))

    def data_share(self, information: Array) -> Array:
        """
        Share by which data reduce the variance of each base parameter, (b,), 0 to 1.

        Parameters
        ----------
        information : (b, b) ndarray
            Of the data alone, reduced by the autocorrelation factor.

        """
        half = np.linalg.cholesky(self.covariance)
        # In units in which the covariance of the prior is the identity.
        values, vectors = np.linalg.eigh(half.T @ information @ half)
        after = (half @ vectors)**2 @ (1 / (1 + np.maximum(values, 0.0)))
        return np.asarray(np.clip(1 - after / (half**2).sum(axis=1), 0, 1))

    def scaled_by(self, factors: Array) -> ArmPrior:
        """Scale the standard deviations and the guessed means of each joint by a factor, (n,)."""
        # Followers and couplings come last, and may belong to several joints.
        by_parameter = np.full_like(self.std, factors.max(initial=1.0))
        by_parameter[:len(factors) * self.block] = np.repeat(factors, self.block)
        values = np.where(self.guessed, by_parameter, 1.0) * self.values
        return replace(self, values=values, std=by_parameter * self.std)

    def with_friction(self, arm: ArmModel, strengths: Mapping[str, float]) -> ArmPrior:
        """
        Return the prior with friction coefficients shrunk to zero.

        Parameters
        ----------
        arm : ArmModel
            The arm of the prior.
        strengths : mapping of str to float
            By term, the width of the prior of its coefficients relative to this prior.

        """
        values, std = self.values.copy(), self.std.copy()
        shrunk = np.zeros_like(std, dtype=np.bool_)
        for term in friction_terms(arm.friction):
            if term.name in strengths:
                columns = arm.layout.friction_columns(term.symbol)
                values[columns], shrunk[columns] = 0.0, True
                std[columns] *= strengths[term.name]
        return replace(self, values=values, std=std, shrunk=shrunk)

    def inflated(self, colour: float) -> ArmPrior:
        """
        Inflate the prior of shrunk friction coefficients by the autocorrelation factor.

        Their standard deviations were chosen as if residuals were white.

        Parameters
        ----------
        colour : float
            Number of correlated samples that carry the information of one.

        """
        return replace(self, std=np.where(self.shrunk, np.sqrt(colour) * self.std, self.std))

    @property
    def is_shrunk(self) -> NDArray[np.bool_]:
        """Return a mask of the base parameters that are shrunk friction coefficients, (b,)."""
        return np.asarray((self.grouping * self.shrunk).any(axis=1))

    def scaled_to(self, torque: Array) -> ArmPrior:
        """Widen the prior so that it covers measured torque, root mean square (n,)."""
        return self.scaled_by(self.widening(torque))

    def widening(self, torque: Array) -> Array:
        """
        Factors of the prior of each joint with which it covers the torque.

        Links may be heavier than their lengths suggest, and in the units of signals without a
        known gain, parameters may be larger than those of any arm. Guessed means are scaled, too,
        so that a larger unit gives the same model in that unit.

        Parameters
        ----------
        torque : (n,) ndarray
            Root mean square of the measured torque, Nm.

        Returns
        -------
        (n,) ndarray
            At least one.

        """
        return np.maximum(1.0, torque / self.torque)


def known_prior(rows: Array, sigma: Array) -> ArmPrior:
    """
    Make a prior of what a model knows.

    Its standard parameters are independent combinations of the base parameters.

    Parameters
    ----------
    rows : (b, b + 1) ndarray
        Upper triangle ``[R z]`` of unit noise, which determines all base parameters.
    sigma : (n,) ndarray
        Standard deviation of the noise of each joint, Nm.

    """
    b = len(rows)
    return ArmPrior(rows[:, b], np.ones(b), inverse_of(rows[:, :b]), np.zeros(b, dtype=np.bool_),
                    0, np.full(len(sigma), np.inf), sigma=sigma, known=rows)


@lru_cache(maxsize=32)
def arm_prior(arm: ArmModel) -> ArmPrior:
    """
    Derive the prior of an arm from its description.

    A stated mass m has a standard deviation of m; with the length l of the link, first moments
    have m l, inertias have m l², and a stated rotor inertia has its own value. Any other parameter
    may alone require the full torque of a drive: its effort limit, or the torque that the links
    need. The prior mean of a link that is not stated is a cylinder from joint to joint, no heavier
    than the drives can hold; friction has zero.

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
    links = layout.all_inertial().reshape(arm.links, -1)
    given = np.zeros((arm.links, len(INERTIAL))) if arm.inertial is None else arm.inertial
    guessed = np.array([not _is_body(link) for link in given])
    bodies = np.where(guessed[:, None], [cylinder(arm, j) for j in range(arm.links)], given)
    if arm.link_bounds is not None:
        bodies = arm.link_bounds.inside(bodies)
    rigid_arm = replace(arm.rigid, limits=JointLimits.unknown(arm.n), rotor_nominal=None)
    bodies[guessed] *= _holdable_share(arm, rigid_arm, bodies)
    rigid_arm = replace(rigid_arm, inertial=bodies)
    torque = _drive_torque(arm, rigid_arm, bodies)
    sizes = np.sqrt((random_regressor(arm).reshape(-1, arm.n, layout.size)**2).mean(axis=0))
    values, std = np.zeros(layout.size), _full_torque_values(torque, sizes)
    values[links] = bodies
    is_guessed = np.zeros(layout.size, dtype=np.bool_)
    is_guessed[links[guessed]] = True
    stated = links[~guessed]
    std[stated] = link_scales(arm, bodies)[~guessed]
    if layout.rotor_inertia:
        rotor = layout.rotors
        nominal = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
        values[rotor] = np.where(nominal > 0, nominal, _matched_rotors(rigid_arm))
        std[rotor] = np.where(nominal > 0, nominal, np.maximum(std[rotor], values[rotor]))
        is_guessed[rotor] = nominal <= 0
    for term in friction_terms(arm.friction):
        values[layout.friction_columns(term.symbol)] = arm.friction_nominal.get(term.name, 0.0)
    return ArmPrior(values, std, base.grouping, is_guessed, layout.block, torque)


def with_links(arm: ArmModel) -> tuple[ArmModel, NDArray[np.bool_]]:
    """
    Give links without a stated body that of the prior; return the arm and a mask of them, (m,).

    A mass that is stated without inertia is kept.
    """
    stated = np.zeros((arm.links, len(INERTIAL))) if arm.inertial is None else arm.inertial
    missing = np.array([not states_body(link) for link in stated])
    if not missing.any():
        return arm, missing
    links = arm_prior(arm).values[arm.layout.all_inertial()].reshape(arm.links, -1)
    for joint, (mass, *_) in enumerate(stated):
        if not missing[joint]:
            links[joint] = stated[joint]
        elif mass > 0:
            links[joint] *= mass / links[joint, 0]
    return replace(arm, inertial=links), missing


def _holdable_share(arm: ArmModel, bare: ArmModel, bodies: Array) -> float:
    """Factor of the masses, at most one, with which the drives can hold the arm in any pose."""
    q = random_states(bare)[0]
    still = np.zeros_like(q)
    held = np.abs(regressor(bare, q, still, still) @ bodies.ravel()).max(axis=0)
    able = HOLDING * arm.limits.effort
    return float(np.min(able[held > able] / held[held > able], initial=1.0))


def _full_torque_values(torque: Array, sizes: Array) -> Array:
    """Value of each parameter (p,) that alone requires the torque of its drive, (n,)."""
    load = (sizes / torque[:, None]).max(axis=0)
    # A parameter without effect on torque gets the scale of the others.
    return np.asarray(1 / np.where(load > COLUMN_ROUNDING * load.max(), load, load.max()))


def _matched_rotors(bare: ArmModel) -> Array:
    """Rotor inertias (n,) matched to those of the links by the gear."""
    states = random_states(bare)[0][:INERTIA_STATES]
    return np.asarray(np.mean([np.diag(M) for M in mass_matrix(bare, states)], axis=0))


def _is_body(parameters: Array) -> bool:
    eigenvalues = np.linalg.eigvalsh(pseudo_inertia(parameters))
    return bool(eigenvalues[0] > LEAST_BODY_EIGENVALUE * eigenvalues[-1])


def _drive_torque(arm: ArmModel, bare: ArmModel, bodies: Array) -> Array:
    """Torque of each drive, (n,), Nm: its limit, or the torque of the links at random states."""
    q, qd, qdd, *_ = random_states(bare)
    needed = np.sqrt(((regressor(bare, q, qd, qdd) @ bodies.ravel())**2).mean(axis=0))
    limit = np.where(np.isfinite(arm.limits.effort), arm.limits.effort, 0.0)
    torque = np.maximum(needed, limit)
    return np.asarray(np.maximum(torque, LEAST_DRIVE * torque.max()))
