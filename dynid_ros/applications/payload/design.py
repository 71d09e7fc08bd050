# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions that determine a load: what is unknown, and the arm with the heaviest load on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from dynid_ros.applications.payload.body import ball
from dynid_ros.applications.payload.known_friction import friction_spread
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import COLUMN_ROUNDING
from dynid_ros.dynamics.load_columns import (
    frame_change,
    friction_change,
    load_columns,
)
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.design_objective import DesignObjective
from dynid_ros.motion.excitation.information_criteria import Information, Sought
from dynid_ros.motion.excitation.prior_information import objective_given, white_rate
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.arrays import Array

#: Name of the objective.
PAYLOAD = 'payload'
#: Without a model: standard deviation of the residual of a joint relative to its effort limit, and
#: how many samples a second count as independent. Models of real arms have about as much.
RESIDUAL, INDEPENDENT_HZ = 5e-3, 5.0
#: A first moment counts by this length, m: as much as an error of the centre of 5 mm is worth an
#: error of the mass of 1 %.
LENGTH = 0.5
#: Points of the highest harmonic at which the information of a motion is taken.
POINTS = 60


class PayloadDesign:
    """
    Task of a motion that determines a load.

    Parameters
    ----------
    arm : ArmModel
        The arm without the load.
    seconds : float
        Length of the motion, s.
    mass : float
        Mass of the heaviest load, kg; the limits hold with it on.
    center : (3,) array_like
        Its centre of mass in the frame of the tool, m.
    given : sequence of IdentifiedModel
        Models of the arm without the load; without any, the arm counts as known exactly, its
        friction as unknown, and the noise as `RESIDUAL` of the effort limits.

    Attributes
    ----------
    arm : ArmModel
        The arm with its load on, for the limits.
    load : (10,) ndarray
        The load, in the frame of the tool.
    objective : DesignObjective
        Variance of the mass and the first moments of any load.
    measured : bool
        Whether the noise comes from a model; else it is assumed.

    Raises
    ------
    InputError
        A model is of another arm, or no motion of the arm determines the mass.

    """

    def __init__(
        self, arm: ArmModel, seconds: float, mass: float, center: ArrayLike = (0.0, 0.0, 0.0),
        given: Sequence[IdentifiedModel] = (),
    ) -> None:
        known = arm.memoryless
        G, S = load_columns(known), friction_change(known)
        _, singular, V = np.linalg.svd(G)
        # Directions of a load's parameters that motions of this arm can determine, orthonormal.
        self._basis = basis = V[singular > COLUMN_ROUNDING * singular[0]].T
        told = _told(basis)
        if 0 not in told:
            raise InputError(
                f"no motion of '{arm.name}' shows a load's mass: its joints never carry the "
                'mass separately from the place of its centre')
        # With the samples of white noise that the motion counts as.
        if given:
            base = objective_given(DesignObjective(), arm, given, seconds)
            assert base.weights is not None and base.prior is not None
            self._weights, self._samples = base.weights, white_rate(given) * seconds
            parts = [np.eye(len(G)), S, G @ basis]
            ties = _friction_ties(known, given[-1]) / self._samples
            own = [base.prior, np.diag(ties)]
        else:
            self._weights, self._samples = _assumed_weights(arm), INDEPENDENT_HZ * seconds
            parts, own = [S, G @ basis], [np.zeros((S.shape[1], S.shape[1]))]
        unknowns, r = np.hstack(parts), basis.shape[1]
        information = block_diag(*own, np.zeros((r, r)))
        wanted = np.zeros((unknowns.shape[1], len(told)))
        wanted[-r:] = basis[told].T * np.where(told == 0, 1.0, 1 / LENGTH)
        self._sought = Sought(PAYLOAD, unknowns, information, wanted)
        self.objective = DesignObjective(weights=self._weights, sought=self._sought)
        self.load, self.measured = ball(mass, np.asarray(center, dtype=float)), bool(given)
        self.arm = with_load(arm, self.load)

    def expected_std(self, motion: FourierMotion) -> tuple[float, Array]:
        """
        Return the standard deviations that a motion gives the load.

        Returns
        -------
        mass : float
            kg.
        center : (3,) ndarray
            Of the centre of mass, m; infinite where no motion of this arm determines it.

        """
        sought, arm, basis = self._sought, self.arm.memoryless, self._basis
        Y = regressor(arm, *motion.one_period(POINTS * motion.harmonics))
        G = Information(arm, self._weights).matrix(Y)
        H = sought.unknowns.T @ G @ sought.unknowns + sought.known
        r = basis.shape[1]
        own = np.linalg.inv(H)[-r:, -r:] / self._samples
        covariance = (basis @ own @ basis.T)[:4, :4]
        mass, center = self.load[0], self.load[1:4] / self.load[0]
        by_load = np.column_stack([-center, np.eye(3)]) / mass
        spread = np.sqrt(np.diag(by_load @ covariance @ by_load.T))
        return (float(np.sqrt(covariance[0, 0])),
                np.where(np.isin([1, 2, 3], _told(basis)), spread, np.inf))

    def notes(self, motion: FourierMotion) -> dict[str, Any]:
        """Return the load, and what a motion determines of it, for the notes of a design."""
        mass_std, center_std = self.expected_std(motion)
        mass = float(self.load[0])
        return {'regards_earlier_results': self.measured, 'payload': {
            'mass': mass, 'center': (self.load[1:4] / mass).tolist(), 'mass_std': mass_std,
            'center_std': center_std.tolist(), 'noise_measured': self.measured}}


def with_load(arm: ArmModel, load: Array) -> ArmModel:
    """Return the arm with a load (10,) in its tool; unchanged where its inertias are unknown."""
    if arm.inertial is None:
        return arm
    inertial = arm.inertial.copy()
    inertial[arm.tool_link] += frame_change(arm.tool.placement) @ load
    return replace(arm, inertial=inertial)


def _told(basis: Array) -> NDArray[np.intp]:
    """Find the mass and first moments that motions determine, of 0 to 3."""
    return np.flatnonzero((basis[:4] ** 2).sum(axis=1) > 1 - COLUMN_ROUNDING)


def _assumed_weights(arm: ArmModel) -> Array:
    """Inverse noise variances of the joints, (n,), by their effort limits."""
    effort = arm.limits.effort
    known = np.isfinite(effort) & (effort > 0)
    if not known.any():
        return np.ones(arm.n)
    return np.asarray(1 / (RESIDUAL * np.where(known, effort, np.median(effort[known])))**2)


def _friction_ties(arm: ArmModel, model: IdentifiedModel) -> Array:
    """Information on the changes of friction by what a model knows of it, (f,)."""
    spread = friction_spread(model, arm)
    return np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0)**2, 0.0)
