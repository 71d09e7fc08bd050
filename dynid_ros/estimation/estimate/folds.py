# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cross-validation: each group of rows is predicted by a fit to the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.weights import JointNoise, MOST_REWEIGHTINGS, WEIGHTS_CONVERGED
from dynid_ros.utilities.arrays import Array

#: Standard errors over the groups beyond which a difference is significant.
STANDARD_ERRORS = 2.0
#: Ratio of root mean square errors, geometric mean over the groups, beyond which a model predicts
#: clearly worse.
CLEARLY_WORSE = 1.1
TINY = float(np.finfo(float).tiny)


class Folds:
    """
    Normal equations of the rows outside each group.

    Parameters
    ----------
    parts : sequence of QRFactors
        Rows of K groups.

    Attributes
    ----------
    products : (K, n, b + 1, b + 1) ndarray
        Sums of products of the rows ``[W tau]`` of each joint outside each group.
    rows : (K, n) ndarray of int
        Their number.

    """

    def __init__(self, parts: Sequence[QRFactors]) -> None:
        self._parts = parts
        own = np.array([part.products for part in parts])
        rows = np.array([part.rows for part in parts])
        self.products, self.rows = own.sum(axis=0) - own, rows.sum(axis=0) - rows

    @property
    def rms_torque(self) -> Array:
        """Return the root mean square torque outside each group, (K, n), Nm."""
        squares = np.maximum(self.products[:, :, -1, -1], 0.0)
        return np.asarray(np.sqrt(squares / np.maximum(self.rows, 1)))

    def prior_products(self, prior: ArmPrior) -> Array:
        """Return products (K, b, b + 1) of a prior, scaled to the torque outside each group."""
        rows = [prior.scaled_to(torque).rows() for torque in self.rms_torque]
        return np.array([each[:, :-1].T @ each for each in rows])

    def sigma(self, prior: Array) -> Array:
        """
        Estimate the noise of each joint outside each group by iterative reweighting.

        Parameters
        ----------
        prior : (K, b, b + 1) ndarray
            Products of the prior.

        Returns
        -------
        (K, n) ndarray
            Standard deviations, Nm.

        """
        noise = JointNoise(self.rows, self.rms_torque**2)
        sigma, b = noise.first, prior.shape[1]
        for _ in range(MOST_REWEIGHTINGS):
            before, normal = sigma, self._normal(prior, sigma)
            inverse = _inverse(normal[:, :, :b])
            theta = (inverse @ normal[:, :, b:])[:, :, 0]
            ends = np.pad(theta, ((0, 0), (0, 1)), constant_values=-1.0)
            squares = np.einsum('ka,kjab,kb->kj', ends, self.products, ends, optimize=True)
            used = b - np.einsum('kab,kba->k', inverse, prior[:, :, :b])
            sigma = noise.of(np.maximum(squares, 0.0), used[:, None])
            if np.abs(sigma / before - 1).max() < WEIGHTS_CONVERGED:
                break
        return np.asarray(sigma)

    def fits(self, prior: Array, sigma: Array) -> Array:
        """
        Fit the rows outside each group.

        Parameters
        ----------
        prior : (K, b, b + 1) or (b, b + 1) ndarray
            Products of the prior.
        sigma : (K, n) or (n,) ndarray
            Noise by which joints are weighted, Nm.

        Returns
        -------
        (K, b) ndarray
            Parameters.

        """
        normal = self._normal(prior, sigma)
        information, score = normal[:, :, :-1], normal[:, :, -1:]
        try:
            theta = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            # Rows with zero effort throughout outweigh the prior beyond rounding.
            theta = np.linalg.pinv(information, hermitian=True) @ score
        return np.asarray(theta[..., 0])

    def residual_squares(self, theta: Array) -> Array:
        """Squared residuals of each joint in each group (K, n), Nm², for parameters (K, b)."""
        return np.array([part.residual_squares(each)
                         for part, each in zip(self._parts, theta, strict=True)])

    def _normal(self, prior: Array, sigma: Array) -> Array:
        weights = np.broadcast_to(sigma, self.rows.shape)**-2
        return np.asarray(
            np.einsum('kjab,kj->kab', self.products[:, :, :-1], weights) + prior)


def _inverse(information: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(information))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(information, hermitian=True))


def log_error_ratio(squares: Array, reference: Array) -> tuple[float, float]:
    """
    Compare the errors of two models on groups that they were not fitted to.

    Parameters
    ----------
    squares, reference : (K,) ndarray
        Sums of squared residuals of the model and of the reference in each group.

    Returns
    -------
    mean, standard_error : float
        Of the logarithm of the ratio of root mean square errors, over the groups.

    """
    logs = (np.log(np.maximum(squares, TINY)) - np.log(np.maximum(reference, TINY))) / 2
    return float(logs.mean()), float(logs.std(ddof=1) / np.sqrt(len(logs)))


def worse(squares: Array, reference: Array) -> float:
    """
    Return the ratio of the errors of two models if the first predicts significantly worse, else 1.

    Parameters
    ----------
    squares, reference : (K,) ndarray
        Sums of squared residuals of the model and of the reference in each group.

    """
    mean, standard_error = log_error_ratio(squares, reference)
    return float(np.exp(mean)) if mean > STANDARD_ERRORS * standard_error else 1.0


def clearly_worse(squares: Array, reference: Array) -> bool:
    """
    Whether a model predicts clearly worse than another: by a margin, and significantly.

    Parameters
    ----------
    squares, reference : (K,) ndarray
        As for `worse`.

    """
    return worse(squares, reference) > CLEARLY_WORSE
