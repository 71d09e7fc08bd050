"""Prior and estimate of the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.online.innovation_statistics import RunningMetrics

Array = NDArray[np.float64]

#: A parameter is determined when what its 95 % interval leaves open makes less than this share
#: of the torque.
DETERMINED = 0.1


@dataclass(frozen=True)
class Prior:
    """
    Prior knowledge of the parameters; it is never forgotten.

    Attributes
    ----------
    theta, std : (b,) ndarray
        Parameters and their standard deviations; infinite where unknown.

    """

    theta: Array
    std: Array


@dataclass(frozen=True)
class Estimate:
    """
    Estimate at one time.

    Attributes
    ----------
    theta : (b,) ndarray
        Base parameters; zero where unknown.
    std, std_white : (b,) ndarray
        Standard deviations for coloured residuals, and assuming white ones; infinite where
        unknown.
    covariance : (b, b) ndarray
        Covariance behind ``std``; without the unknown directions.
    determined : (b,) ndarray of bool
        Parameters determined well enough to predict torque; see `DETERMINED`.
    rank : int
        Rank of the information of rows and prior.
    condition_number : float
        Of the regressor without weights and prior, in the 2-norm.
    sigma : (n,) ndarray
        Standard deviation of the noise of each joint, Nm.
    correlation : (n,) ndarray
        Correlation of the noise from one row to the next.
    metrics : RunningMetrics
        Prediction error of the last rows before their use.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows left out as outliers.

    """

    theta: Array
    std: Array
    std_white: Array
    covariance: Array
    determined: NDArray[np.bool_]
    rank: int
    condition_number: float
    sigma: Array
    correlation: Array
    metrics: RunningMetrics
    rows: NDArray[np.int64]
    left_out: NDArray[np.int64]


def prior_rows(prior: Prior | None, parameters: int) -> Array:
    """Rows ``[w tau]`` equivalent to a prior, (m, b + 1)."""
    if prior is None:
        return np.zeros((0, parameters + 1))
    known = np.isfinite(prior.std)
    rows = np.zeros((parameters, parameters + 1))
    inverse = 1.0 / prior.std[known]
    rows[known, np.flatnonzero(known)] = inverse
    rows[known, -1] = inverse * prior.theta[known]
    return rows[known]
