"""Steps of Gauss and Newton of the size of a fault, with all parameters projected out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import Size, Suspect
from dynid_ros.utilities.arrays import Array

#: Step of the differences of a size, by its prior.
STEP = 1e-4


@dataclass(frozen=True, eq=False)
class Linear:
    """
    Rows of unit noise about a size of a fault, linear in the parameters and in the size.

    Attributes
    ----------
    size : Size
        The size.
    W, D : (k n, c) and (k n, m) ndarray
        Derivatives of the torque by the parameters and by the size.
    left : (k n,) ndarray
        What the parameters leave of the torque.
    theta : (c,) ndarray
        The parameters.
    tie : (c, c) ndarray
        Information of their prior.

    """

    size: Size
    W: Array
    D: Array
    left: Array
    theta: Array
    tie: Array


def step_of(likelihood: Likelihood, suspect: Suspect) -> tuple[Array, Array]:
    """
    Take a step of Gauss and Newton of the size of a fault, all parameters free.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        One that knows its size.

    Returns
    -------
    step : (m,) ndarray
        Change of the size, no larger than its prior.
    covariance : (m, m) ndarray
        Of the size, for white residuals.

    References
    ----------
    Kaufman 1975, A variable projection method for solving separable nonlinear least squares
    problems, BIT 15.

    """
    line = linear(likelihood, suspect)
    size, W, D, left = line.size, line.W, line.D, line.left
    across = D - W @ np.linalg.solve(W.T @ W + line.tie, W.T @ D)
    covariance = np.linalg.inv(across.T @ D + np.diag(size.std**-2))
    step = covariance @ (across.T @ left - size.x / size.std**2)
    return np.asarray(step / max(1.0, np.abs(step / size.std).max())), np.asarray(covariance)


def linear(likelihood: Likelihood, suspect: Suspect) -> Linear:
    """Return the rows of a fit without constraints, beside a fault of about its size."""
    size, rows, mixing = suspect.size, suspect.rows, suspect.mixing
    assert size is not None
    variance = likelihood.fit(suspect)[1]
    root = np.sqrt(rows.samples.moving / variance)
    regressor, tie = rows.regressor(), likelihood.information(rows)
    W = (regressor * root[:, :, None]).reshape(root.size, -1)
    tau = (rows.samples.tau @ mixing * root).ravel()
    # What the data tell nothing of must not tell the size: it is zero here.
    theta = np.asarray(np.linalg.solve(W.T @ W + tie, W.T @ tau))
    left = suspect.residual(regressor, theta, mixing)
    D = np.empty((root.size, len(size.x)))
    for k, each in enumerate(STEP * np.diag(size.std)):
        other = size.make(size.x + each)
        of_other = regressor if other.rows is rows else other.rows.regressor()
        change = left - other.residual(of_other, theta, mixing)
        D[:, k] = (change * root).ravel() / each[k]
    return Linear(size, W, D, (left * root).ravel(), theta, tie)
