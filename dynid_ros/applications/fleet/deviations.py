# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How bags deviate from the others of their arm, by the factors of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.dynamics.load_columns import friction_names, LOAD_STD
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Standard deviation of a relative gain, and of a level of friction, before any rows: it may be
#: zero, or twice the usual one.
GAIN = 1.0
#: Level of friction by the usual one that temperature explains.
LEAST_LEVEL, MOST_LEVEL = 0.5, 2.0
#: Mass and first moments of a load. Its inertias take a longer recording than most bags are.
LOAD = 4


class Deviations(NamedTuple):
    """
    Deviations of B bags from the fit to the others.

    Attributes
    ----------
    drift : (B,) ndarray
        Logarithm of the squares, in units of the residuals of the fit, by which parameters of its
        own explain a bag better than those of the others.
    beyond_load : (B,) ndarray
        The same for a bag that may carry another load.
    residual : (B,) ndarray
        What the others leave of the bag, by what they leave of their own rows.
    error_percent : (B,) ndarray
        The same by the torque of the bag, with the usual friction.
    load : (B, 4) ndarray
        Mass and first moments of the last link beyond those of the fit, kg and kg m.
    friction, gains : (B, f) and (B, n) ndarray
        Friction coefficients, and drive gains by the usual ones, beside another load; NaN where
        a bag leaves them to the prior.

    """

    drift: Array
    beyond_load: Array
    residual: Array
    error_percent: Array
    load: Array
    friction: Array
    gains: Array


def deviations(
    parts: Iterable[QRFactors], arm: ArmModel, fit: Solution, fitted: bool,
) -> Deviations:
    """
    Compare bags with the others.

    Under one model of the bag and the others, the residual of the bag has the covariance
    ``I - W N⁻¹ Wᵀ``, with the information N of both: where the others determine nothing, nothing
    can differ. The squares that parameters of its own explain in it are those of Chow's test.
    Beside them the friction of each joint has a level of its own, as by temperature.

    Parameters
    ----------
    parts : iterable of QRFactors
        Factors of the bags, with the base columns of the arm.
    arm : ArmModel
        The arm.
    fit : Solution
        The fit to the others.
    fitted : bool
        Whether the bags are among them.

    References
    ----------
    Chow 1960, Tests of equality between sets of coefficients in two linear regressions,
    Econometrica 28.

    """
    own = _OwnParameters(arm, fit)
    found = [own.deviations(part, fitted) for part in parts]
    return Deviations(*map(np.array, zip(*found, strict=True)))


class _OwnParameters:
    """Parameters that a bag may have of its own beside those of a fit."""

    def __init__(self, arm: ArmModel, fit: Solution) -> None:
        base, own = base_parameters(arm), friction_places(arm)
        friction = np.isin(np.arange(base.count), own)
        last = base.layout.inertial(arm.tool_link).start
        load, every = base.grouping[:, last:last + len(INERTIAL)], np.eye(base.count)
        offsets = [name.startswith('Fo') for name in friction_names(arm)]
        rubbing = np.where(friction, fit.theta, 0.0)
        rubbing[own[offsets]] = 0.0
        self._fit, self._joints, self._friction = fit, np.eye(arm.n), fit.theta[own]
        self._linear = np.hstack([every[:, own], load, every[:, ~friction]])
        # Torque that each joint has of its own factor of gain, and of its level of friction.
        self._scaled = np.where(friction, 0.0, fit.theta), rubbing
        known = fit.prior_information
        self._prior = block_diag(
            known[np.ix_(own, own)], np.eye(len(INERTIAL)) / LOAD_STD**2,
            known[np.ix_(~friction, ~friction)], np.eye(2 * arm.n) / GAIN**2)
        counts = [len(own), LOAD, len(INERTIAL) - LOAD, int((~friction).sum()), arm.n, arm.n]
        self._places = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])

    def deviations(self, part: QRFactors, fitted: bool) -> tuple[Array, ...]:
        """Return the deviations of one bag, as `Deviations` holds them."""
        friction, load, inertia, _, gains, levels = self._places
        fit, sigma = self._fit, self._fit.sigma[:, None, None]
        R = part.factors / sigma
        scaled = [(R[:, :, :-1] @ theta)[:, :, None] * self._joints[:, None]
                  for theta in self._scaled]
        X = np.concatenate([R[:, :, :-1] @ self._linear, *scaled], axis=2).reshape(
            -1, len(self._prior))
        left = (R @ np.append(-fit.theta, 1.0)).ravel()
        # In coordinates in which the covariance of the fit is one.
        common = R[:, :, :-1].reshape(len(left), -1) @ fit.half
        shared: Array = np.eye(common.shape[1])
        score, across = X.T @ left, X.T @ common
        if not fitted:
            shared = np.asarray(np.linalg.inv(shared + common.T @ common))
            score = score - across @ (shared @ (common.T @ left))
        bag = _Bag(X.T @ X - across @ shared @ across.T, score, self._prior)
        level, every = self._beside_level(bag)
        beyond = self._beside_level(bag, load, inertia)[1]
        loaded, rubs, _ = bag.of(friction, load)
        factors = bag.of(friction, load, gains)[1][-len(gains):]
        unexplained = np.linalg.norm(left - X[:, levels] @ level)
        error = np.sqrt(part.residual_squares(fit.theta).sum() / part.torque_squares().sum())
        return (_log(every), _log(beyond), unexplained / np.sqrt(part.rows.sum()), 100 * error,
                loaded[-LOAD:], self._friction + rubs[:len(friction)], 1 + factors)

    def _beside_level(self, bag: _Bag, *given: Places) -> tuple[Array, float]:
        """Level of friction, less one, and squares beyond it and some given parameters."""
        friction, load, inertia, others, _, levels = self._places
        level = np.clip(bag.of(*given, levels)[0][-len(levels):], LEAST_LEVEL - 1, MOST_LEVEL - 1)
        rest = bag.less(levels, level)
        known = rest.of(*given)[2] if given else 0.0
        return level, rest.of(friction, load, inertia, others)[2] - known


class _Bag(NamedTuple):
    """Information (c, c) and score (c,) of the parameters that a bag may have, and their prior."""

    information: Array
    score: Array
    prior: Array

    def less(self, places: Places, values: Array) -> _Bag:
        """Return the bag with given values of some parameters."""
        return self._replace(score=self.score - self.information[:, places] @ values)

    def of(self, *places: Places) -> tuple[Array, Array, float]:
        """Return values, NaN where the prior gives them, and squares that they explain."""
        chosen = np.concatenate(places)
        prior = self.prior[np.ix_(chosen, chosen)]
        covariance = np.linalg.inv(self.information[np.ix_(chosen, chosen)] + prior)
        values, before = covariance @ self.score[chosen], np.diag(np.linalg.inv(prior))
        known = before - np.diag(covariance) >= FROM_DATA * before
        return values, np.where(known, values, np.nan), float(self.score[chosen] @ values)


def _log(squares: float) -> Array:
    return np.asarray(np.log(max(squares, np.finfo(float).tiny)))
