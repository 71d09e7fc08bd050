# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gauss-Newton steps of the size of a fault, with all parameters projected out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import Size, Suspect
from dynid_ros.utilities.arrays import Array

#: Step of finite differences, relative to the prior standard deviation of the size.
SIZE_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class Linear:
    """
    Rows of unit noise, linearised about a size of a fault.

    Attributes
    ----------
    size : Size
        The size.
    W, D : (k n, c) and (k n, m) ndarray
        Derivatives of the torque by the parameters and by the size.
    residual : (k n,) ndarray
        Torque that the parameters do not explain.
    theta : (c,) ndarray
        The parameters.
    prior_information : (c, c) ndarray
        Information of their prior.

    """

    size: Size
    W: Array
    D: Array
    residual: Array
    theta: Array
    prior_information: Array


def step_of(likelihood: Likelihood, suspect: Suspect) -> tuple[Array, Array]:
    """
    Take a Gauss-Newton step of the size of a fault, with all parameters unconstrained.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        One with a size.

    Returns
    -------
    step : (m,) ndarray
        Change of the size, limited to its prior standard deviation.
    covariance : (m, m) ndarray
        Of the size, for white residuals.

    References
    ----------
    Kaufman 1975, A variable projection method for solving separable nonlinear least squares
    problems, BIT 15.

    """
    line = linear(likelihood, suspect)
    size, W, D, residual = line.size, line.W, line.D, line.residual
    projected = D - W @ np.linalg.solve(W.T @ W + line.prior_information, W.T @ D)
    covariance = np.linalg.inv(projected.T @ D + np.diag(size.std**-2))
    step = covariance @ (projected.T @ residual - size.x / size.std**2)
    return np.asarray(step / max(1.0, np.abs(step / size.std).max())), np.asarray(covariance)


def linear(likelihood: Likelihood, suspect: Suspect) -> Linear:
    """Linearise the rows of an unconstrained fit about the size of a fault."""
    size, rows, mixing = suspect.size, suspect.rows, suspect.mixing
    assert size is not None
    variance = likelihood.fit(suspect)[1]
    root = np.sqrt(rows.samples.moving / variance)
    regressor, prior_information = rows.regressor(), likelihood.prior_information(rows)
    W = (regressor * root[:, :, None]).reshape(root.size, -1)
    tau = (rows.samples.tau @ mixing * root).ravel()
    # The prior mean of parameters must not bias the size: it is zero here.
    theta = np.asarray(np.linalg.solve(W.T @ W + prior_information, W.T @ tau))
    residual = suspect.residual(regressor, theta, mixing)
    D = np.empty((root.size, len(size.x)))
    for k, each in enumerate(SIZE_STEP * np.diag(size.std)):
        other = size.make(size.x + each)
        of_other = regressor if other.rows is rows else other.rows.regressor()
        change = residual - other.residual(of_other, theta, mixing)
        D[:, k] = (change * root).ravel() / each[k]
    return Linear(size, W, D, (residual * root).ravel(), theta, prior_information)
