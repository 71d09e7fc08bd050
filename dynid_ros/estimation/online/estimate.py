"""Prior and estimate of the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.model.standard_parameters import FROM_DATA
from dynid_ros.estimation.online.innovation_statistics import RunningMetrics
from dynid_ros.utilities.arrays import Array

#: A parameter is determined when what its 95 % interval leaves open makes less than this share
#: of the torque.
DETERMINED = 0.1


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Knowledge of an arm from a model of it.

    Attributes
    ----------
    rows : (m, b + 1) ndarray
        Rows ``[w tau]`` whose noise has unit variance, which determine all parameters.
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
        Base parameters; the prior's before any rows.
    std, std_white : (b,) ndarray
        Standard deviations for coloured residuals, and assuming white ones; those of the prior
        where rows tell nothing.
    covariance : (b, b) ndarray
        Covariance behind ``std``.
    data_share : (b,) ndarray
        Share by which the rows reduce the variance that each parameter has in the prior.
    widening : (n,) ndarray
        Factors of the standard deviations of the arm's prior, see `ArmPrior.widening`.
    determined : (b,) ndarray of bool
        Parameters determined well enough to predict torque; see `DETERMINED`.
    root_information, root_torque : (b, b) and (b,) ndarray
        Triangle R of the weighted rows alone, and their torque ``R theta``.
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
    data_share: Array
    widening: Array
    determined: NDArray[np.bool_]
    root_information: Array
    root_torque: Array
    condition_number: float
    sigma: Array
    correlation: Array
    metrics: RunningMetrics
    rows: NDArray[np.int64]
    left_out: NDArray[np.int64]

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return which parameters the rows determine rather than the prior, (b,)."""
        return np.asarray(self.data_share >= FROM_DATA)
