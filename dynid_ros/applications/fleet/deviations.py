# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How bags deviate from the others of their arm, by the factors of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.dynamics.load_columns import friction_names, load_columns, LOAD_STD
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Prior standard deviation of a relative gain, and of a level of friction: each may be zero, or
#: twice the usual one.
GAIN = 1.0
#: Level of friction, relative to the usual one, that temperature explains.
LEAST_LEVEL, MOST_LEVEL = 0.5, 2.0
#: Mass and first moments of a load. Its inertias need longer recordings than most bags.
LOAD = 4


class Deviations(NamedTuple):
    """
    Deviations of B bags from the fit to the others.

    Attributes
    ----------
    drift : (B,) ndarray
        Logarithm of the reduction in squares, in units of the residuals of the fit, by parameters
        of the bag's own.
    beyond_load : (B,) ndarray
        The same for a bag that may carry another load.
    residual : (B,) ndarray
        Residual of the bag with the parameters of the others, relative to their own residual.
    error_percent : (B,) ndarray
        The same relative to the torque of the bag, with the usual friction.
    load : (B, 4) ndarray
        Mass and first moments of the last link beyond those of the fit, kg and kg m.
    coefficients : (B, f + n) ndarray
        Friction coefficients, and drive gains relative to the usual ones, fitted with another
        load; NaN where the prior determines them.

    """

    drift: Array
    beyond_load: Array
    residual: Array
    error_percent: Array
    load: Array
    coefficients: Array


def coefficient_names(arm: ArmModel) -> list[str]:
    """Name the coefficients of `Deviations`."""
    return [*friction_names(arm), *(f'gain {k + 1}' for k in range(arm.n))]


def deviations(
    parts: Iterable[QRFactors], arm: ArmModel, fit: Solution, fitted: Iterable[bool],
) -> Deviations:
    """
    Compare bags with the others.

    If one model fits the bag and the others, the residual of the bag has the covariance
    ``I - W N⁻¹ Wᵀ``, with the information N of both: a bag cannot differ where the others
    determine nothing. Its own parameters reduce the squares as in Chow's test. In addition, the
    friction of each joint has a level of its own, to allow for temperature.

    Parameters
    ----------
    parts : iterable of QRFactors
        Factors of the bags, with the base columns of the arm.
    arm : ArmModel
        The arm.
    fit : Solution
        The fit to the others.
    fitted : iterable of bool
        Whether each bag is among them.

    References
    ----------
    Chow 1960, Tests of equality between sets of coefficients in two linear regressions,
    Econometrica 28.

    """
    own = _OwnParameters(arm, fit)
    found = map(own.deviations, parts, fitted)
    return Deviations(*map(np.array, zip(*found, strict=True)))


class _OwnParameters:
    """Parameters of a bag beside those of a fit."""

    def __init__(self, arm: ArmModel, fit: Solution) -> None:
        b, own = base_parameters(arm).count, friction_places(arm)
        others = np.setdiff1d(np.arange(b), own)
        every, prior = np.eye(b), fit.prior_information
        self._fit, self._friction, self._joints = fit, fit.theta[own], np.eye(arm.n)
        self._columns = np.hstack([
            every[:, own], load_columns(arm, Placement()), every[:, others]])
        # Torque of each joint by its own relative gain, and by its level of friction.
        self._inertial, self._rubbing = fit.theta.copy(), np.zeros(b)
        self._inertial[own] = 0.0
        rubs = own[[not name.startswith('Fo') for name in friction_names(arm)]]
        self._rubbing[rubs] = fit.theta[rubs]
        self._prior = block_diag(
            prior[np.ix_(own, own)], np.eye(len(INERTIAL)) / LOAD_STD**2,
            prior[np.ix_(others, others)], np.eye(2 * arm.n) / GAIN**2)
        counts = [len(own), LOAD, len(INERTIAL) - LOAD, len(others), arm.n, arm.n]
        self._places = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])

    def deviations(self, part: QRFactors, fitted: bool) -> tuple[Array | float, ...]:
        """Return the deviations of one bag, as `Deviations` holds them."""
        friction, load, inertia, others, gains, levels = self._places
        own, left, information, score = self._evidence(part, fitted)

        def explained(*places: Places, of: Array = score) -> tuple[Array, Array, float]:
            """Return values, NaN where the prior determines them, and the squares explained."""
            chosen = np.concatenate(places)
            prior = self._prior[np.ix_(chosen, chosen)]
            covariance = np.linalg.inv(information[np.ix_(chosen, chosen)] + prior)
            values, before = covariance @ of[chosen], np.diag(np.linalg.inv(prior))
            known = before - np.diag(covariance) >= FROM_DATA * before
            return values, np.where(known, values, np.nan), float(of[chosen] @ values)

        def beside_level(*given: Places) -> tuple[Array, float]:
            """Return the level of friction, less one, and squares beyond it and given places."""
            level = explained(*given, levels)[0][-len(levels):]
            level = np.clip(level, LEAST_LEVEL - 1, MOST_LEVEL - 1)
            rest = score - information[:, levels] @ level
            known = explained(*given, of=rest)[2] if given else 0.0
            squares = explained(friction, load, inertia, others, of=rest)[2] - known
            return level, float(np.log(max(squares, TINY)))

        level, drift = beside_level()
        loaded, rubs, _ = explained(friction, load)
        factors = explained(friction, load, gains)[1][-len(gains):]
        unexplained = np.linalg.norm(left - own[:, levels] @ level)
        error = np.sqrt(part.residual_squares(self._fit.theta).sum() / part.torque_squares().sum())
        return (drift, beside_level(load, inertia)[1], unexplained / np.sqrt(part.rows.sum()),
                100 * error, loaded[-LOAD:],
                np.append(self._friction + rubs[:len(friction)], 1 + factors))

    def _evidence(self, part: QRFactors, fitted: bool) -> tuple[Array, Array, Array, Array]:
        """Return columns of own parameters, residuals, and information and score of them."""
        fit, R = self._fit, part.factors / self._fit.sigma[:, None, None]
        W, tau = R[:, :, :-1], R[:, :, -1]
        by_joint = [(W @ theta)[:, :, None] * self._joints[:, None]
                    for theta in (self._inertial, self._rubbing)]
        own = np.concatenate([W @ self._columns, *by_joint], axis=2).reshape(-1, len(self._prior))
        left = (tau - W @ fit.theta).ravel()
        # In coordinates in which the covariance of the fit is one.
        common = W.reshape(len(left), -1) @ fit.half
        shared: Array = np.eye(common.shape[1])
        across, score = own.T @ common, own.T @ left
        if not fitted:
            shared = np.asarray(np.linalg.inv(shared + common.T @ common))
            score = score - across @ (shared @ (common.T @ left))
        return own, left, own.T @ own - across @ shared @ across.T, score
