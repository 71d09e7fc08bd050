"""Compiled kernels that fit parameters to products of rows, with a weight for each joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.regression.least_squares import factorise, solve_factorised
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel, sum_kernel

Joints = NDArray[np.intp]


def elimination_order(used: NDArray[np.bool_]) -> Joints:
    """
    Order columns so that a Cholesky factor has many zeros.

    Parameters
    ----------
    used : (n, c) ndarray of bool
        Whether a joint has a column that is not zero.

    Returns
    -------
    (c,) ndarray of int
        Columns, those first that one joint alone has, side by side for each joint.

    """
    alone = used.sum(axis=0) == 1
    return np.lexsort((used.argmax(axis=0) * alone, ~alone))


@kernel
def predict_folds(
    products: Array, mixing: Array, joints: Joints, counts: Array, order: Joints, ridge: float,
    silent: float, floor: float, least: float, passes: int, left: Array, power: Array,
) -> None:
    """
    Fit parameters to all folds but one, and predict that one, for each of them.

    Parameters
    ----------
    products : (F, n, c + n, c + n) ndarray
        Products of the rows ``[W tau]`` of each joint in each fold, with the torques of all
        joints.
    mixing : (n, n) ndarray
        The torque of joint i is ``tau @ mixing[:, i]``.
    joints : (m,) ndarray of int
        Joints that are fitted.
    counts : (F, n) ndarray
        Rows of each joint.
    order, ridge, passes
        As in `fit_products`.
    silent, least : float
        As in `first_weights`.
    floor : float
        Least variance of a residual that is believed, by that of the torque.
    left, power : (n,) ndarray
        Sums of squared residuals and of squared torques of all folds, written.

    """
    folds, n, c = products.shape[0], mixing.shape[0], order.size
    parts = np.zeros((folds, n, c + 1, c + 1))
    others = np.zeros((n, c + 1, c + 1))
    theta, scale, upper = np.empty(c), np.empty(c), np.empty((c, c))
    rows, variance, squares = np.empty(n), np.empty(n), np.empty(n)
    left[:] = 0.0
    power[:] = 0.0
    for f in range(folds):
        mix_torques(products[f], mixing, parts[f])
        for i in range(n):
            power[i] += parts[f, i, c, c]
    for f in range(folds):
        others[:] = 0.0
        rows[:] = 0.0
        for g in range(folds):
            if g != f:
                rows += counts[g]
                for i in range(n):
                    _add_upper(parts[g, i], 1.0, others[i])
        rows = np.maximum(rows, 1.0)
        first_weights(others, joints, rows, ridge, silent, least, scale, variance)
        fit_products(others, joints, rows, variance, floor * variance, scale, order, ridge, passes,
                     theta, upper)
        residual_squares(parts[f], theta, squares)
        left += np.maximum(squares, 0.0)


@kernel
def first_weights(
    products: Array, joints: Joints, rows: Array, ridge: float, silent: float, least: float,
    scale: Array, variance: Array,
) -> None:
    """
    Find the columns that show, and take the torque for the first residual.

    Parameters
    ----------
    products : (n, c + 1, c + 1) ndarray
        Products of the rows ``[W tau]`` of each joint with themselves.
    joints : (m,) ndarray of int
        Joints that are fitted.
    rows : (n,) ndarray
        Rows of each joint, at least 1.
    ridge : float
        Length by the largest one from which a column is kept.
    silent : float
        Least power of the torque of a joint, by the largest one, that is believed.
    least : float
        Square of the least variance.
    scale : (c,) ndarray
        1 for each column, 0 for one that is left out, written.
    variance : (n,) ndarray
        Mean square of the torque of each joint, written.

    """
    c = scale.size
    for a in range(c):
        square = 0.0
        for joint in joints:
            square += products[joint, a, a]
        scale[a] = np.sqrt(square)
    longest = scale.max() if c else 0.0
    for a in range(c):
        scale[a] = 1.0 if scale[a] > ridge * longest else 0.0
    largest = 0.0
    for joint in joints:
        largest = max(largest, products[joint, c, c] / rows[joint])
    for i in range(variance.size):
        variance[i] = max(products[i, c, c] / rows[i], silent * largest + np.sqrt(least))


@kernel
def fit_products(
    products: Array, joints: Joints, rows: Array, variance: Array, floor: Array, scale: Array,
    order: Joints, ridge: float, passes: int, theta: Array, upper: Array,
) -> None:
    """
    Fit parameters to the rows of some joints, weighted by the variance that the last fit left.

    Zeros are skipped. With the columns first that one joint alone has, such as its friction, most
    of the factor is zero.

    Parameters
    ----------
    products : (n, c + 1, c + 1) ndarray
        Products of the rows ``[W tau]`` of each joint with themselves.
    joints : (m,) ndarray of int
        Joints that are fitted.
    rows, floor : (n,) ndarray
        Rows of each joint, and the least variance of a residual that is believed.
    variance : (n,) ndarray
        Variance that gives the first weights; that of the last fit on return.
    scale : (c,) ndarray
        Above zero for columns that are fitted; on return the factor on each of them in `upper`.
    order : (k,) ndarray of int
        Columns that are fitted, in the order in which they are eliminated.
    ridge : float
        Ridge by the information of each parameter. By that of all of them it would outweigh the
        rows of the others, where one joint has next to no torque, and all weight.
    passes : int
        Number of fits.
    theta : (c,) ndarray
        Parameters of the last fit, written; zero for columns that are not fitted.
    upper : (k, k) ndarray
        Cholesky factor of its scaled normal matrix in that order, written: ``upper.T @ upper`` is
        the matrix.

    """
    c, k = theta.size, order.size
    normal, right = np.empty((c + 1, c + 1)), np.empty(k)
    squares = np.empty(variance.size)
    theta[:] = 0.0
    for _ in range(passes):
        normal[:] = 0.0
        for joint in joints:
            _add_upper(products[joint], 1 / variance[joint], normal)
        _scale_upper(normal, scale, order, ridge, upper)
        factorise(upper)
        for a in range(k):
            right[a] = normal[order[a], c] * scale[order[a]]
        solve_factorised(upper, right)
        for a in range(k):
            theta[order[a]] = right[a] * scale[order[a]]
        residual_squares(products, theta, squares)
        for joint in joints:
            variance[joint] = max(squares[joint] / rows[joint], floor[joint])


@sum_kernel
def mix_torques(products: Array, mixing: Array, out: Array) -> None:
    """
    Give each joint one torque, mixed from the recorded ones.

    Parameters
    ----------
    products : (n, c + n, c + n) ndarray
        Products of the rows ``[W tau]`` of each joint, with the torques of all joints.
    mixing : (n, n) ndarray
        The torque of joint i is ``tau @ mixing[:, i]``.
    out : (n, c + 1, c + 1) ndarray
        Products with that torque, zeros before; their upper half is written, which is all that
        counts.

    """
    n = mixing.shape[0]
    c = products.shape[1] - n
    for i in range(n):
        P, target = products[i], out[i]
        square = 0.0
        for a in range(c + n):
            row, mixed = P[a], 0.0
            if row[a] == 0:
                continue
            for b in range(n):
                mixed += row[c + b] * mixing[b, i]
            if a < c:
                target[a, a:c] = row[a:c]
                target[a, c] = mixed
            else:
                square += mixing[a - c, i] * mixed
        target[c, c] = square


@sum_kernel
def residual_squares(products: Array, theta: Array, out: Array) -> None:
    """Write the sum of squared residuals (n,) of each joint for parameters (c,)."""
    c = theta.size
    for joint in range(products.shape[0]):
        P, whole = products[joint], 0.0
        for a in range(c):
            row, total = P[a], 0.0
            if row[a] == 0 or theta[a] == 0:
                continue
            for b in range(a + 1, c):
                total += row[b] * theta[b]
            whole += theta[a] * (row[a] * theta[a] + 2 * (total - row[c]))
        out[joint] = whole + P[c, c]


@kernel
def _add_upper(P: Array, weight: float, out: Array) -> None:
    for a in range(out.shape[0]):
        row, target = P[a], out[a]
        if row[a] == 0:
            continue
        for b in range(a, out.shape[0]):
            target[b] += weight * row[b]


@kernel
def _scale_upper(
    normal: Array, scale: Array, order: Joints, ridge: float, out: Array,
) -> None:
    k = order.size
    for a in order:
        if scale[a] > 0 and normal[a, a] > 0:
            scale[a] = 1 / np.sqrt(normal[a, a])
        else:
            scale[a] = 0.0
    for i in range(k):
        a, target = order[i], out[i]
        for j in range(i, k):
            b = order[j]
            target[j] = normal[min(a, b), max(a, b)] * scale[a] * scale[b]
        target[i] = 1 + ridge
