# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Prior and estimate of the online parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.estimate.covariance import Scatter
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.estimation.online.innovation_statistics import RunningMetrics
from dynid_ros.utilities.arrays import Array

#: A parameter is determined if half of its 95 % interval causes less than this share of torque.
DETERMINED = 0.1


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Prior from an identified model.

    Attributes
    ----------
    rows : (m, b + 1) ndarray
        Rows ``[w tau]`` of unit noise, which determine all parameters.
    sigma : (n,) ndarray
        Standard deviation of the noise of each joint before there are innovations, Nm.

    """

    rows: Array
    sigma: Array


@dataclass(frozen=True, eq=False)
class Estimate(Solution):
    """
    Estimate at one time: the solution with the current weights, and its uncertainty.

    Attributes
    ----------
    scatter : Scatter
        Scatter of the rows.
    covariance : (b, b) ndarray
        Covariance for autocorrelated residuals.
    data_share : (b,) ndarray
        Share by which the rows reduce the prior variance of each parameter.
    determined : (b,) ndarray of bool
        Parameters determined well enough to predict torque; see `DETERMINED`.
    correlation : (n,) ndarray
        Correlation of the noise from one row to the next.
    metrics : RunningMetrics
        A-priori prediction error of the last rows.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows left out as outliers.

    """

    scatter: Scatter
    covariance: Array
    data_share: Array
    determined: NDArray[np.bool_]
    correlation: Array
    metrics: RunningMetrics
    rows: NDArray[np.int64]
    left_out: NDArray[np.int64]

    @property
    def std(self) -> Array:
        """Return standard deviations for autocorrelated residuals, (b,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def std_white(self) -> Array:
        """Return standard deviations as if residuals were white, (b,)."""
        return np.asarray(np.sqrt(np.diag(self.white_covariance)))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return a mask of the parameters that the rows determine rather than the prior, (b,)."""
        return np.asarray(self.data_share >= FROM_DATA)
