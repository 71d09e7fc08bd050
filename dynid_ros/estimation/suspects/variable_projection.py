# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gauss-Newton steps of the size of a fault, with all parameters projected out."""

from __future__ import annotations

import numpy as np

from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import Size, Suspect
from dynid_ros.utilities.arrays import Array

#: Step of finite differences, relative to the prior standard deviation of the size.
SIZE_STEP = 1e-4


class UnitRows:
    """
    Rows of unit noise about an unconstrained fit.

    One fit serves all faults that its suspect may have: each has the size zero there.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        Data and arm that are fitted.

    Attributes
    ----------
    W : (k n, c) ndarray
        Derivatives of the torque by the parameters.
    residual : (k n,) ndarray
        Torque that the parameters do not explain.
    theta : (c,) ndarray
        The parameters.
    prior_information : (c, c) ndarray
        Information of their prior.

    """

    def __init__(self, likelihood: Likelihood, suspect: Suspect) -> None:
        self._suspect, rows = suspect, suspect.rows
        self._root = np.sqrt(rows.samples.moving / likelihood.fit(suspect)[1])
        self._regressor = rows.regressor()
        self.prior_information = likelihood.prior_information(rows)
        self.W = (self._regressor * self._root[:, :, None]).reshape(self._root.size, -1)
        self._normal = self.W.T @ self.W + self.prior_information
        tau = (rows.samples.tau @ suspect.mixing * self._root).ravel()
        # The prior mean of parameters must not bias the size: it is zero here.
        self.theta = np.asarray(np.linalg.solve(self._normal, self.W.T @ tau))
        self._unweighted = suspect.residual(self._regressor, self.theta, suspect.mixing)
        self.residual = (self._unweighted * self._root).ravel()

    def derivative(self, size: Size) -> Array:
        """Differentiate the torque by the size of a fault, (k n, m)."""
        D = np.empty((self._root.size, len(size.x)))
        for k, each in enumerate(SIZE_STEP * np.diag(size.std)):
            other = size.make(size.x + each)
            of_other = (self._regressor if other.rows is self._suspect.rows
                        else other.rows.regressor())
            change = self._unweighted - other.residual(of_other, self.theta, self._suspect.mixing)
            D[:, k] = (change * self._root).ravel() / each[k]
        return D

    def step(self, size: Size) -> tuple[Array, Array]:
        """
        Take a Gauss-Newton step of the size of a fault, with all parameters unconstrained.

        Parameters
        ----------
        size : Size
            Of the suspect that is fitted, or zero.

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
        D = self.derivative(size)
        projected = D - self.W @ np.linalg.solve(self._normal, self.W.T @ D)
        covariance = np.linalg.inv(projected.T @ D + np.diag(size.std**-2))
        step = covariance @ (projected.T @ self.residual - size.x / size.std**2)
        return (np.asarray(step / max(1.0, np.abs(step / size.std).max())),
                np.asarray(covariance))


def step_of(likelihood: Likelihood, suspect: Suspect) -> tuple[Array, Array]:
    """Take a step of the size of a suspect from there; see `UnitRows.step`."""
    assert suspect.size is not None
    return UnitRows(likelihood, suspect).step(suspect.size)
