# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sums of products of rows, for several assumptions about the drive signals at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid_ros.estimation.diagnosis.copied_signals import RESIDUAL_FLOOR
from dynid_ros.estimation.diagnosis.expected_error import WEAKEST
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

#: Passes in which the weights of the joints converge.
PASSES = 5


@dataclass(frozen=True, eq=False)
class Sums:
    """
    Sums of products of the rows ``[W tau]`` of each joint.

    Attributes
    ----------
    W : (n, c, c) ndarray
        Of the columns of the parameters.
    torque : (S, n, c) ndarray
        Of these and the torque, by assumption.
    power : (S, n) ndarray
        Squares of the torque, by assumption.
    counts : (n,) ndarray
        Number of samples.

    """

    W: Array
    torque: Array
    power: Array
    counts: Array

    @staticmethod
    def of(products: Array, counts: Array, mixings: Array) -> Sums:
        """
        Assume different torques.

        Parameters
        ----------
        products : (n, c + n, c + n) ndarray
            Of the parameters' columns and the torque of all joints, see `SuspectRows.products`.
        counts : (n,) ndarray
            Number of samples.
        mixings : (S, n, n) ndarray
            Joint i is assumed to have the torque ``tau @ mixing[:, i]``.

        """
        c = products.shape[-1] - len(products)
        torque = np.einsum('iab,sbi->sia', products[:, :, c:], mixings)
        power = np.einsum('sib,sbi->si', torque[:, :, c:], mixings)
        return Sums(products[:, :c, :c], torque[:, :, :c], power, counts)

    def first(self, columns: int) -> Sums:
        """Return the sums of the first columns only."""
        return Sums(self.W[:, :columns, :columns], self.torque[:, :, :columns], self.power,
                    self.counts)

    @cached_property
    def mean_power(self) -> Array:
        """Mean squares of the torque (S, n), with a floor for joints that are silent."""
        power = self.power / np.maximum(self.counts, 1)
        return np.asarray(np.maximum(power, WEAKEST * power.max(axis=1, keepdims=True) + TINY))

    def weighted(self, weights: Array) -> tuple[Array, Array]:
        """Form normal equations (S, c, c) and (S, c) with weights (S, n) of the joints."""
        c = self.W.shape[1]
        normal = (weights @ self._flat).reshape(-1, c, c)
        return normal, np.einsum('si,sia->sa', weights, self.torque)

    @cached_property
    def _flat(self) -> Array:
        return self.W.reshape(len(self.W), -1)

    def mean_squares(self, theta: Array) -> Array:
        """Mean square residuals (S, n) of parameters (S, c), at least the smallest credible."""
        squares = self.squares(theta) / np.maximum(self.counts, 1)
        return np.asarray(np.maximum(squares, RESIDUAL_FLOOR**2 * self.mean_power))

    def squares(self, theta: Array) -> Array:
        """Sum the squared residuals of each joint for parameters (S, c), (S, n)."""
        explained = np.einsum('isa,sa->si', theta @ self.W, theta)
        return np.asarray(
            self.power - 2 * np.einsum('sia,sa->si', self.torque, theta) + explained)

    def fitted(self, information: Array, score: Array) -> tuple[Array, Array]:
        """
        Fit the parameters together with the variance of each joint.

        Parameters
        ----------
        information, score : (c, c) and (c,) ndarray
            Of the prior.

        Returns
        -------
        theta : (S, c) ndarray
            Parameters.
        variance : (S, n) ndarray
            Mean square residuals.

        """
        variance = self.mean_power
        for _ in range(PASSES):
            normal, right = self.weighted(1 / variance)
            theta = np.asarray(np.linalg.solve(
                normal + information, (right + score)[:, :, None])[:, :, 0], dtype=float)
            variance = self.mean_squares(theta)
        return theta, variance
