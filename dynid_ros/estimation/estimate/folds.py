"""Groups of rows, each predicted by a fit to the others, with which it shares nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.weights import ITERATIONS, JointNoise, SETTLED
from dynid_ros.utilities.arrays import Array

#: Standard errors over the groups beyond which a difference is more than chance.
STANDARD_ERRORS = 2.0
#: Ratio of root mean squares, in the geometric mean over the groups, beyond which a model predicts
#: clearly worse.
CLEARLY_WORSE = 1.1
TINY = float(np.finfo(float).tiny)


class Folds:
    """
    Normal equations of the rows beside each group.

    Parameters
    ----------
    parts : sequence of Products
        Rows of K groups.

    Attributes
    ----------
    products : (K, n, b + 1, b + 1) ndarray
        Sums of products of the rows ``[W tau]`` of each joint beside each group.
    rows : (K, n) ndarray of int
        Their number.

    """

    def __init__(self, parts: Sequence[Products]) -> None:
        self._parts = parts
        own = np.array([part.products for part in parts])
        rows = np.array([part.rows for part in parts])
        self.products, self.rows = own.sum(axis=0) - own, rows.sum(axis=0) - rows

    @property
    def torque(self) -> Array:
        """Return the root mean square torque beside each group, (K, n), Nm."""
        squares = np.maximum(self.products[:, :, -1, -1], 0.0)
        return np.asarray(np.sqrt(squares / np.maximum(self.rows, 1)))

    def known(self, prior: ArmPrior) -> Array:
        """Return products (K, b, b + 1) of a prior, as wide as the torque beside each group."""
        rows = [prior.reaching(torque).rows() for torque in self.torque]
        return np.array([own[:, :-1].T @ own for own in rows])

    def sigma(self, known: Array) -> Array:
        """
        Find the noise of each joint beside each group, from fits that weigh joints by it.

        Parameters
        ----------
        known : (K, b, b + 1) ndarray
            Products of the prior.

        Returns
        -------
        (K, n) ndarray
            Standard deviations, Nm.

        """
        noise = JointNoise(self.rows, self.torque**2)
        sigma, b = noise.first, known.shape[1]
        for _ in range(ITERATIONS):
            before, normal = sigma, self._normal(known, sigma)
            inverse = _inverse(normal[:, :, :b])
            theta = (inverse @ normal[:, :, b:])[:, :, 0]
            ends = np.pad(theta, ((0, 0), (0, 1)), constant_values=-1.0)
            squares = np.einsum('ka,kjab,kb->kj', ends, self.products, ends, optimize=True)
            used = b - np.einsum('kab,kba->k', inverse, known[:, :, :b])
            sigma = noise.of(np.maximum(squares, 0.0), used[:, None])
            if np.abs(sigma / before - 1).max() < SETTLED:
                break
        return np.asarray(sigma)

    def fits(self, known: Array, sigma: Array) -> Array:
        """
        Fit the rows beside each group.

        Parameters
        ----------
        known : (K, b, b + 1) or (b, b + 1) ndarray
            Products of the prior.
        sigma : (K, n) or (n,) ndarray
            Noise by which joints are weighted, Nm.

        Returns
        -------
        (K, b) ndarray
            Parameters.

        """
        normal = self._normal(known, sigma)
        information, score = normal[:, :, :-1], normal[:, :, -1:]
        try:
            theta = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            # Rows of an effort that is zero throughout outweigh the prior beyond rounding.
            theta = np.linalg.pinv(information, hermitian=True) @ score
        return np.asarray(theta[..., 0])

    def left(self, theta: Array) -> Array:
        """Squared torque of each joint (K, n), Nm², that parameters (K, b) leave of each group."""
        return np.array([part.residual_squares(own)
                         for part, own in zip(self._parts, theta, strict=True)])

    def _normal(self, known: Array, sigma: Array) -> Array:
        weights = np.broadcast_to(sigma, self.rows.shape)**-2
        return np.asarray(
            np.einsum('kjab,kj->kab', self.products[:, :, :-1], weights) + known)


def _inverse(information: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(information))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(information, hermitian=True))


def growth(left: Array, before: Array) -> tuple[float, float]:
    """
    Compare what two models leave of groups that they were not fitted to.

    Parameters
    ----------
    left, before : (K,) ndarray
        Sums of squares that the one and the other leave of each group.

    Returns
    -------
    mean, standard_error : float
        Logarithm of the ratio of root mean squares, over the groups.

    """
    logs = (np.log(np.maximum(left, TINY)) - np.log(np.maximum(before, TINY))) / 2
    return float(logs.mean()), float(logs.std(ddof=1) / np.sqrt(len(logs)))


def clearly_worse(left: Array, before: Array) -> bool:
    """
    Tell whether a model predicts clearly worse than another: by much, and by more than chance.

    Parameters
    ----------
    left, before : (K,) ndarray
        Sums of squares that the one and the other leave of each group.

    """
    mean, standard_error = growth(left, before)
    return bool(mean > max(np.log(CLEARLY_WORSE), STANDARD_ERRORS * standard_error))
