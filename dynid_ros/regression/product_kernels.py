"""Compiled kernels that fit parameters to products of rows, with a weight for each joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.compiled import kernel, sum_kernel

Array = NDArray[np.float64]
Joints = NDArray[np.intp]


@kernel
def fit_products(
    products: Array, joints: Joints, rows: Array, variance: Array, floor: Array, scale: Array,
    order: Joints, ridge: float, least: float, passes: int, theta: Array, upper: Array,
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
        Factor on each column, 0 for one that is left out.
    order : (c,) ndarray of int
        Order in which columns are eliminated.
    ridge, least : float
        Ridge by the mean of the scaled diagonal, and the least of that mean.
    passes : int
        Number of fits.
    theta : (c,) ndarray
        Parameters of the last fit, written.
    upper : (c, c) ndarray
        Cholesky factor of its scaled normal matrix in that order, written: ``upper.T @ upper`` is
        the matrix.

    """
    c = theta.size
    normal, right = np.empty((c + 1, c + 1)), np.empty(c)
    squares = np.empty(variance.size)
    for _ in range(passes):
        normal[:] = 0.0
        for joint in joints:
            _add_upper(products[joint], 1 / variance[joint], normal)
        _scale_upper(normal, scale, order, ridge, least, upper)
        factorise(upper)
        for a in range(c):
            right[a] = normal[order[a], c] * scale[order[a]]
        solve_factorised(upper, right)
        for a in range(c):
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
        Products with that torque, written.

    """
    n = mixing.shape[0]
    c = products.shape[1] - n
    for i in range(n):
        P, target = products[i], out[i]
        square = 0.0
        for a in range(c + n):
            row, mixed = P[a], 0.0
            for b in range(n):
                mixed += row[c + b] * mixing[b, i]
            if a < c:
                target[a, :c] = row[:c]
                target[a, c] = target[c, a] = mixed
            else:
                square += mixing[a - c, i] * mixed
        target[c, c] = square


@kernel
def factorise(A: Array) -> None:
    """Replace a positive definite matrix (c, c), of which the upper half counts, by its factor."""
    c = A.shape[0]
    for j in range(c):
        row = A[j]
        row[:j] = 0.0
        row[j] = np.sqrt(row[j])
        for i in range(j + 1, c):
            row[i] /= row[j]
        for k in range(j + 1, c):
            below, share = A[k], row[k]
            if share != 0:
                for i in range(k, c):
                    below[i] -= share * row[i]


@sum_kernel
def solve_factorised(upper: Array, x: Array) -> None:
    """Replace the right side (c,) by the solution for the matrix ``upper.T @ upper``."""
    c = x.size
    for j in range(c):
        row = upper[j]
        x[j] /= row[j]
        for i in range(j + 1, c):
            x[i] -= row[i] * x[j]
    for j in range(c - 1, -1, -1):
        row, total = upper[j], 0.0
        for i in range(j + 1, c):
            total += row[i] * x[i]
        x[j] = (x[j] - total) / row[j]


@sum_kernel
def residual_squares(products: Array, theta: Array, out: Array) -> None:
    """Write the sum of squared residuals (n,) of each joint for parameters (c,)."""
    c = theta.size
    for joint in range(products.shape[0]):
        P, whole = products[joint], 0.0
        for a in range(c):
            row, total = P[a], 0.0
            if row[a] == 0:
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
    normal: Array, scale: Array, order: Joints, ridge: float, least: float, out: Array,
) -> None:
    c = scale.size
    mean = 0.0
    for i in range(c):
        a, target = order[i], out[i]
        for j in range(i, c):
            b = order[j]
            target[j] = normal[min(a, b), max(a, b)] * scale[a] * scale[b]
        mean += target[i] / c
    for i in range(c):
        out[i, i] += ridge * max(mean, least)
