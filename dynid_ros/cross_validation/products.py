"""Fits to any columns of rows, by the products of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpocon

from dynid_ros.compiled import kernel, sum_kernel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.regression.product_kernels import elimination_order, fit_products
from dynid_ros.regression.weighted_least_squares import noise_floor, QRFactors, reweighted

Array = NDArray[np.float64]

#: Fits with changing weights. Each changes parameters a hundredth as much as the one before: two
#: leave the errors of a recording of four seconds (TX40) half a percent off, which changes the
#: choice.
ITERATIONS = 3
#: Least eigenvalue (by the norm of the inverse) of the normal equations of columns of one length,
#: below which they are not used. The error of a fold hardly changes near the estimate, so that
#: half of the digits of the parameters are enough.
WELL_CONDITIONED = 1e-9


class Products:
    """
    Rows as their products, from which a fit to any columns takes a tenth of the time.

    Parameters
    ----------
    rows : QRFactors
        Rows of each joint.
    theta : (b,) ndarray
        An estimate, whose residuals give the first weights.
    prior : ArmPrior
        Of the parameters.

    """

    def __init__(self, rows: QRFactors, theta: Array, prior: ArmPrior) -> None:
        self._rows, self._prior = rows, prior
        freedom, least = _freedom(rows, int(np.count_nonzero(theta))), noise_floor(rows)
        self._variance = np.maximum(rows.residual_squares(theta) / freedom, least)
        self._products = rows.factors.transpose(0, 2, 1) @ rows.factors
        self._squares = np.diagonal(self._products, axis1=1, axis2=2)[:, :-1].copy()
        self._order = elimination_order(self._squares > 0)

    def fit(self, columns: NDArray[np.intp]) -> Array:
        """Find the parameters of all columns, as `reweighted` does; zero for the other ones."""
        theta = np.zeros(self._squares.shape[1])
        if not self._normal_fit(columns, theta):
            theta[:] = 0.0
            theta[columns] = reweighted(self._rows.part(columns), self._prior.rows(columns),
                                        np.sqrt(self._variance), ITERATIONS)[0]
        return theta

    def _normal_fit(self, columns: NDArray[np.intp], theta: Array) -> bool:
        """Fit by normal equations; return whether they are well-conditioned."""
        wanted = np.zeros(len(theta), dtype=np.bool_)
        wanted[columns] = True
        order = self._order[wanted[self._order]]
        upper = np.empty((len(order), len(order)))
        freedom, least = _freedom(self._rows, len(order)), noise_floor(self._rows)
        filled = _fit_factors(
            self._rows.factors, self._products, self._squares, self._variance, freedom, least,
            order, ITERATIONS, theta, upper)
        # Written so that NaN, which any matrix that is not definite leaves, fails, too.
        return bool(filled and dpocon(upper, 1.0)[0] >= WELL_CONDITIONED)


def _freedom(rows: QRFactors, parameters: int) -> Array:
    """Degrees of freedom of the residual of each joint, (n,)."""
    return np.asarray(np.maximum(rows.rows * (1 - parameters / max(int(rows.rows.sum()), 1)), 1))


@kernel
def _fit_factors(
    factors: Array, products: Array, squares: Array, first: Array, freedom: Array, least: float,
    order: NDArray[np.intp], passes: int, theta: Array, upper: Array,
) -> bool:
    """
    Fit parameters to all joints, weighted by the residuals of the rows themselves.

    A residual that is small beside the torque vanishes in products.

    Parameters
    ----------
    factors : (n, k, c + 1) ndarray
        Rows ``[W tau]`` of each joint.
    products : (n, c + 1, c + 1) ndarray
        Their products.
    squares : (n, c) ndarray
        Squared lengths of the columns of each joint.
    first : (n,) ndarray
        Variance of the residual of each joint that gives the first weights.
    freedom : (n,) ndarray
        Degrees of freedom of the residual of each joint.
    least : float
        Least variance of a residual.
    order, passes, theta, upper
        As in `fit_products`.

    Returns
    -------
    bool
        Whether no column is zero.

    """
    n, c = squares.shape
    joints, floor = np.arange(n), np.full(n, least)
    variance, scale, left = first.copy(), np.zeros(c), np.empty(n)
    for _ in range(passes):
        for a in order:
            square = 0.0
            for joint in range(n):
                square += squares[joint, a] / variance[joint]
            if square == 0:
                return False
            scale[a] = 1 / np.sqrt(square)
        fit_products(products, joints, freedom, variance, floor, scale, order, 0.0, 0.0, 1,
                     theta, upper)
        _row_squares(factors, theta, left)
        variance = np.maximum(left / freedom, least)
    return True


@sum_kernel
def _row_squares(factors: Array, theta: Array, out: Array) -> None:
    """Write the sum of squared residuals (n,) of the rows ``[W tau]`` (n, k, c + 1)."""
    c = theta.size
    for joint in range(factors.shape[0]):
        whole = 0.0
        for i in range(factors.shape[1]):
            row, total = factors[joint, i], 0.0
            for a in range(c):
                total += row[a] * theta[a]
            whole += (row[c] - total)**2
        out[joint] = whole
