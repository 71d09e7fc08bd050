# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions that determine a load: the unknowns, and the arm with the heaviest load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from dynid_ros.applications.payload.body import ball
from dynid_ros.applications.payload.known_friction import friction_spread
from dynid_ros.applications.payload.load_estimate import KnownLoad
from dynid_ros.arm.bodies import with_tool_on
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
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
#: independent samples a second. Models of real arms have about as much.
RESIDUAL_SHARE, INDEPENDENT_HZ = 5e-3, 5.0
#: Length that scales first moments, m: an error of the centre of 5 mm counts as one of the mass of
#: 1 %.
MOMENT_LENGTH_M = 0.5
#: Points of the highest harmonic at which the information of a motion is taken.
INFORMATION_POINTS = 60


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
        Mass of the heaviest load, kg, with which the limits hold.
    center : (3,) array_like
        Its centre of mass in the frame of the tool, m.
    given : sequence of IdentifiedModel
        Models of the arm without the load; without any, the arm counts as known exactly, its
        friction as unknown, and the noise as `RESIDUAL_SHARE` of the effort limits.
    known : sequence of str
        Known quantities of the load: ``mass``, ``com`` (its centre), or both; the motion
        determines the others, which is the inertia where both are known.
    link : str, optional
        Joint that moves the link that carries it; by default the link of the tool.

    Attributes
    ----------
    arm : ArmModel
        The arm with its load, for the limits.
    load : (10,) ndarray
        The load, in the frame of the tool.
    objective : DesignObjective
        Variance of the unknown mass and first moments, or of the inertia, of any load.
    measured : bool
        Whether the noise comes from a model; else it is assumed.

    Raises
    ------
    InputError
        A model is of another arm, or no motion of the arm determines the mass.

    """

    def __init__(
        self, arm: ArmModel, seconds: float, mass: float, center: ArrayLike = (0.0, 0.0, 0.0),
        given: Sequence[IdentifiedModel] = (), known: Sequence[str] = (),
        link: str | None = None,
    ) -> None:
        self._known, self._link = tuple(known), link
        if link is not None:
            arm, given = with_tool_on(arm, link), [
                replace(each, arm=with_tool_on(each.arm, link)) for each in given]
        rigid = arm.memoryless
        stated = KnownLoad(mass if 'mass' in known else None,
                           np.asarray(center, dtype=float) if 'com' in known else None)
        Q, _ = np.linalg.qr(stated.open_directions)
        G, S = load_columns(rigid), friction_change(rigid)
        _, singular, V = np.linalg.svd(G @ Q)
        # Open directions of a load's parameters that motions of this arm determine, orthonormal.
        self._basis = basis = Q @ V[singular > COLUMN_ROUNDING * singular[0]].T
        self._determined = determined = _determined(basis, Q, _wanted(stated))
        self._open = stated.center is None
        if not len(determined) or (stated.mass is None and 0 not in determined):
            raise InputError(
                f"no motion of '{arm.name}' shows a load's {'rest' if known else 'mass'}: its "
                'joints never carry the mass separately from the place of its centre')
        # By the number of white samples that the motion is worth.
        if given:
            base = objective_given(DesignObjective(), arm, given, seconds)
            assert base.weights is not None and base.prior is not None
            self._weights, self._samples = base.weights, white_rate(given) * seconds
            parts = [np.eye(len(G)), S, G @ basis]
            ties = _friction_ties(rigid, given[-1]) / self._samples
            own = [base.prior, np.diag(ties)]
        else:
            self._weights, self._samples = _assumed_weights(arm), INDEPENDENT_HZ * seconds
            parts, own = [S, G @ basis], [np.zeros((S.shape[1], S.shape[1]))]
        unknowns, r = np.hstack(parts), basis.shape[1]
        information = block_diag(*own, np.zeros((r, r)))
        wanted = np.zeros((unknowns.shape[1], len(determined)))
        is_moment = (determined > 0) & (determined < 4)
        wanted[-r:] = basis[determined].T * np.where(is_moment, 1 / MOMENT_LENGTH_M, 1.0)
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
            kg; zero where it is known.
        center : (3,) ndarray
            Of the centre of mass, m; infinite where no motion of this arm determines it, zero
            where it is known.

        """
        sought, arm, basis = self._sought, self.arm.memoryless, self._basis
        Y = regressor(arm, *motion.one_period(INFORMATION_POINTS * motion.harmonics))
        G = Information(arm, self._weights).matrix(Y)
        H = sought.unknowns.T @ G @ sought.unknowns + sought.known
        r = basis.shape[1]
        own = np.linalg.inv(H)[-r:, -r:] / self._samples
        covariance = (basis @ own @ basis.T)[:4, :4]
        mass, center = self.load[0], self.load[1:4] / self.load[0]
        by_load = np.column_stack([-center, np.eye(3)]) / mass
        spread = np.sqrt(np.diag(by_load @ covariance @ by_load.T))
        return (float(np.sqrt(covariance[0, 0])),
                np.where(self._open & ~np.isin([1, 2, 3], self._determined), np.inf, spread))

    def notes(self, motion: FourierMotion) -> dict[str, Any]:
        """Describe the load, and its error bars after a motion, for the notes of a design."""
        mass_std, center_std = self.expected_std(motion)
        mass = float(self.load[0])
        return {'regards_earlier_results': self.measured, 'payload': {
            'mass': mass, 'center': (self.load[1:4] / mass).tolist(), 'mass_std': mass_std,
            'center_std': center_std.tolist(), 'noise_measured': self.measured,
            'known': list(self._known), 'link': self._link}}


def with_load(arm: ArmModel, load: Array) -> ArmModel:
    """Return the arm with a load (10,) in its tool; unchanged where its inertias are unknown."""
    if arm.inertial is None:
        return arm
    inertial = arm.inertial.copy()
    inertial[arm.tool_link] += frame_change(arm.tool.placement) @ load
    return replace(arm, inertial=inertial)


def _wanted(known: KnownLoad) -> NDArray[np.intp]:
    """Return the parameters to determine: mass and first moments, or the others."""
    if known.center is None:
        return np.arange(4) if known.mass is None else np.arange(1, 4)
    return np.arange(1) if known.mass is None else np.arange(4, len(INERTIAL))


def _determined(basis: Array, every: Array, wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """Find the wanted parameters that motions determine, as far as they are unknown."""
    excited, whole = ((each[wanted] ** 2).sum(axis=1) for each in (basis, every))
    return np.asarray(wanted[excited > (1 - COLUMN_ROUNDING) * whole])


def _assumed_weights(arm: ArmModel) -> Array:
    """Inverse noise variances of the joints, (n,), by their effort limits."""
    effort = arm.limits.effort
    known = np.isfinite(effort) & (effort > 0)
    if not known.any():
        return np.ones(arm.n)
    return np.asarray(1 / (RESIDUAL_SHARE * np.where(known, effort, np.median(effort[known])))**2)


def _friction_ties(arm: ArmModel, model: IdentifiedModel) -> Array:
    """Information on the changes of friction, by a model, (f,)."""
    spread = friction_spread(model, arm)
    return np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0)**2, 0.0)
