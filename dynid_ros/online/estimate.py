"""What is known of the parameters: before any row, and at one time."""

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
    What is known of the parameters beforehand; it is never forgotten.

    Attributes
    ----------
    theta, std : (b,) ndarray
        Parameters and their standard deviations; infinite where nothing is known.

    """

    theta: Array
    std: Array


@dataclass(frozen=True)
class Estimate:
    """
    What is known at one time.

    Attributes
    ----------
    theta : (b,) ndarray
        Base parameters; zero where nothing is known.
    std, std_white : (b,) ndarray
        Standard deviations with regard to coloured residuals, and as if they were white;
        infinite where nothing is known.
    covariance : (b, b) ndarray
        The one behind ``std``; without the directions on which nothing is known.
    determined : (b,) ndarray of bool
        Parameters that are known well enough to predict torque; see `DETERMINED`.
    rank : int
        Number of directions on which the rows or the prior say anything.
    condition_number : float
        Of the regressor without weights and prior, in the 2-norm.
    sigma : (n,) ndarray
        Standard deviation of the noise of each joint, Nm.
    correlation : (n,) ndarray
        Correlation of the noise from one row to the next.
    metrics : RunningMetrics
        How well the last rows were predicted before they were used.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows not used since their torque is far from the prediction.

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
    """Rows ``[w tau]`` that say what a prior says, (m, b + 1)."""
    if prior is None:
        return np.zeros((0, parameters + 1))
    known = np.isfinite(prior.std)
    rows = np.zeros((parameters, parameters + 1))
    inverse = 1.0 / prior.std[known]
    rows[known, np.flatnonzero(known)] = inverse
    rows[known, -1] = inverse * prior.theta[known]
    return rows[known]
