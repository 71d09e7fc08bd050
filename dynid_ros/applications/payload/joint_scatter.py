# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Scatter of a load by the contradictions of joints, and the number of witnesses.

Gears, cables, friction and drives cause model errors, each in one joint. These depend on the
motion, so a later part of it adds no evidence, but other joints do not share them. Hence the rows
of a joint are one group of the jackknife.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.load_columns import LOAD_STD
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import group_scatter, INFORMATION_ROUNDING
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array, inverse_of


@dataclass(frozen=True, eq=False)
class JointRows:
    """
    Whitened rows of each of n joints, those of all recordings one after the other.

    Attributes
    ----------
    arm : (n, m, b) ndarray
        Of the base parameters.
    steps : (n, m, h) ndarray
        Of the steps of friction and zeros between the recordings.
    load : (n, m, k) ndarray
        Of the open parameters of the load, all others refitted.
    left : (n, m) ndarray
        Residuals.

    """

    arm: Array
    steps: Array
    load: Array
    left: Array

    @staticmethod
    def of(factors: Sequence[Array], thetas: Array, score: Array, steps: Array) -> JointRows:
        """
        Collect the rows of K recordings.

        Parameters
        ----------
        factors : sequence of (n, b + 1, b + 1) ndarray
            Whitened factors of ``[W tau]`` of the joints in each recording.
        thetas : (K, b) ndarray
            Base parameters of the arm in each.
        score : (K, b, k) ndarray
            Change of these with the load, all others refitted.
        steps : (K, b, h) ndarray
            Change of these with the steps between the recordings.

        """
        W = [each[:, :, :-1] for each in factors]
        return JointRows(
            np.concatenate(W, axis=1),
            np.concatenate([own @ step for own, step in zip(W, steps, strict=True)], axis=1),
            np.concatenate([own @ change for own, change in zip(W, score, strict=True)], axis=1),
            np.concatenate([each[:, :, -1] - own @ theta for each, own, theta in zip(
                factors, W, thetas, strict=True)], axis=1))


def joint_scatter(
    rows: JointRows, counts: NDArray[np.int64], half: Array, factor: Array, asked: int,
) -> Array:
    """
    Return the covariance of the load's score, (k, k), as Student's t with few witnesses widens it.

    Parameters
    ----------
    rows : JointRows
        Rows of the joints.
    counts : (n,) ndarray of int
        Samples of each joint.
    half : (b + h, b + h) ndarray
        Upper triangle whose square is the covariance of all others given the load.
    factor : (k, k) ndarray
        Triangle of the rows projected to the load, and of its prior.
    asked : int
        Number of wanted parameters, the first open ones of the load.

    """
    data = np.dstack([rows.load, rows.left])
    own = [QRFactors(each[None], count)
           for each, count in zip(data, counts[:, None], strict=True)]
    values, vectors = np.linalg.eigh(np.sum([each.products[0, :-1, :-1] for each in own], axis=0))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    nothing, inverse = np.zeros(len(factor)), inverse_of(factor)
    weak = np.pad(_weak(len(factor)), ((0, 0), (0, 1)))
    found = group_scatter(own, Solution(
        nothing, np.ones(1), inverse, root, nothing, weak, np.ones(0), np.inf),
        witnesses(rows, half, inverse, asked))
    return np.asarray(found.root.T @ found.root)


def _weak(size: int) -> Array:
    """Return rows (k, k) of a prior, for directions of a load that no joint determines."""
    return np.eye(size) / LOAD_STD


def witnesses(rows: JointRows, half: Array, inverse: Array, asked: int) -> float:
    """
    Count the degrees of freedom that would reveal a disturbance which looks like a load.

    These are of two kinds: the other joints, and functions of the motion, other than the load, in
    the residual of the joint itself. If all joints move in step, hardly any are of the second
    kind; if one joint alone determines the load, one is of the first.

    Parameters
    ----------
    rows : JointRows
        Rows of the joints.
    half, inverse : (b + h, b + h), (k, k) ndarray
        Square roots of the covariance of all others given the load, and of the load.
    asked : int
        As for `joint_scatter`.

    """
    others, weights = _other_joints(rows.load, asked)
    own = np.maximum(_own_functions(rows, half, inverse), INFORMATION_ROUNDING)
    # Satterthwaite's approximation for a sum of variances, each judged by its own joint.
    return others + 1 / max(float((weights**2 / own).sum()), INFORMATION_ROUNDING)


def _other_joints(load: Array, asked: int) -> tuple[float, Array]:
    """
    Count the joints that judge each other.

    Parameters
    ----------
    load : (n, m, k) ndarray
        Whitened rows of the load.
    asked : int
        As for `joint_scatter`.

    Returns
    -------
    freedom : float
        Degrees of freedom of the jackknife's variance for white residuals: n - 1 if all joints are
        equally informative, one if a single joint has nearly all information.
    weights : (n,) ndarray
        Share of each joint in that variance.

    References
    ----------
    Bell and McCaffrey 2002, Bias reduction in standard errors for linear regression with
    multi-stage samples, Survey Methodology 28(2), section 4: Satterthwaite's approximation.

    """
    size = load.shape[2]
    half = inverse_of(np.asarray(np.linalg.qr(
        np.concatenate([load.reshape(-1, size), _weak(size)]), mode='r')))
    whitened = load @ half
    h = whitened.transpose(0, 2, 1) @ whitened
    values, axes = np.linalg.eigh(np.eye(size) - h)
    without = (axes / np.maximum(values, INFORMATION_ROUNDING)[:, None]) @ axes.transpose(0, 2, 1)
    # Without joint j a parameter changes by a_j (s_j - h_j s), with s the sum of the scores s_j.
    a = (half[:asked] @ without).transpose(1, 0, 2)
    b = np.einsum('ija,jab->ijb', a, h)
    joints = np.arange(len(h))
    changes = -np.einsum('ija,lka->ijlk', b, b)
    changes[:, joints, :, joints] += np.einsum('ija,lja->jil', a, b)
    variances = np.einsum('ijij->j', changes)
    # If no joint determines the load, all are witnesses.
    total = max(float(variances.sum()), np.finfo(float).tiny)
    return 1 / max(float(((changes / total)**2).sum()), 1 / len(h)), variances / total


def _own_functions(rows: JointRows, half: Array, inverse: Array) -> Array:
    """
    Count the functions of the motion that would reveal a disturbance of each joint, (n,).

    A disturbance that follows the motion is a random sum of the columns of its joint, all of one
    size. Its residual has this many degrees of freedom (Satterthwaite), weighted by the share of
    its squares that is left.

    Parameters
    ----------
    rows, half, inverse
        As for `witnesses`.

    """
    counts = np.zeros(len(rows.arm))
    for joint, arm in enumerate(rows.arm):
        size = np.sqrt((arm**2).sum(axis=0))
        columns = arm[:, size > 0] / size[size > 0]
        fitted = np.hstack([np.hstack([arm, rows.steps[joint]]) @ half,
                            rows.load[joint] @ inverse])
        left = columns - fitted @ (fitted.T @ columns)
        products = left.T @ left
        share = np.trace(products) / max(columns.shape[1], 1)
        if share:
            counts[joint] = share * np.trace(products)**2 / (products**2).sum()
    return counts
