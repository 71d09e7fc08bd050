# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sums of products of the rows of a group, for comparisons between groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class Products:
    """
    Sums of products of rows ``[W tau]`` of each joint.

    Their rounding hides residuals below about 1e-7 of the torque, so estimates use `QRFactors`
    instead.

    Attributes
    ----------
    products : (n, b + 1, b + 1) ndarray
        Of each joint.
    rows : (n,) ndarray of int
        Rows of each joint.

    """

    products: Array
    rows: NDArray[np.int64]

    @staticmethod
    def of(factors: QRFactors) -> Products:
        """Return the products of the rows that were compressed to factors."""
        return Products(factors.factors.transpose(0, 2, 1) @ factors.factors, factors.rows)

    def part(self, columns: NDArray[np.intp]) -> Products:
        """Return the same rows with some of the parameters only."""
        kept = np.append(columns, self.products.shape[1] - 1)
        return Products(self.products[:, kept[:, None], kept], self.rows)

    def weighted(self, sigma: Array) -> Array:
        """Sum of all joints, (b + 1, b + 1), weighted by their noise (n,)."""
        return np.asarray(np.tensordot(sigma**-2, self.products, 1))

    def residual_squares(self, theta: Array) -> Array:
        """Sum of squared residuals of each joint, (n,)."""
        ends = np.append(theta, -1.0)
        return np.asarray(np.maximum(self.products @ ends @ ends, 0.0))

    def torque_squares(self) -> Array:
        """Sum of squared torque of each joint, (n,)."""
        return np.asarray(self.products[:, -1, -1])
