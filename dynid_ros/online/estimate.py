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


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Prior knowledge of an arm.

    Attributes
    ----------
    rows : (m, b + 1) ndarray
        Rows ``[w tau]`` whose noise has unit variance; they are never forgotten.
    sigma : (n,) ndarray
        Standard deviation of the noise of each joint before there are innovations, Nm.

    """

    rows: Array
    sigma: Array


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
