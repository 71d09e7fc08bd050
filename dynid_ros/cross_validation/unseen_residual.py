"""Residuals of blocks of time that a model was not fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.friction_choice import Folds, THRESHOLDS
from dynid_ros.cross_validation.products import Products
from dynid_ros.cross_validation.selection import left_by_selection
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.weighted_least_squares import stack

Array = NDArray[np.float64]


def unseen_sigma(
    arm: ArmModel, rows: KeptRows, theta: Array, covariance: Array, sigma: Array,
    choice: Folds | None = None,
) -> Array:
    """
    Estimate the error of the model itself, beside that of its parameters, by cross-validation.

    Each of ten consecutive blocks of time is predicted by a fit to the others. Errors of the
    model, such as friction that differs from its terms, take part in the parameters of the fit,
    and show in a block that was not fitted. The part that the covariance of the parameters
    explains is taken off, since predictions add it for their own states. Where friction terms
    were chosen, the block takes no part in their choice either, wherever that makes it worse.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its friction terms.
    rows : KeptRows
        Rows that were fitted.
    theta : (b,) ndarray
        Base parameters.
    covariance : (b, b) ndarray
        Of the base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    choice : Folds, optional
        Blocks by which the friction terms were chosen; None where they were given.

    Returns
    -------
    (n,) ndarray
        Standard deviation of the error of each joint, no less than ``sigma``, Nm.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10.

    """
    columns = rows.columns(arm)
    folds = [fold.part(columns) for fold in rows.factors(arm, theta, THRESHOLDS.folds)]
    every = np.arange(len(theta))
    left, explained, counts = (np.zeros(arm.n) for _ in range(3))
    for k, fold in enumerate(folds):
        others = stack([*folds[:k], *folds[k + 1:]])
        left += fold.residual_squares(Products(others, theta).fit(every))
        W = fold.factors[:, :, :-1]
        explained += np.einsum('jrb,bc,jrc->j', W, covariance, W, optimize=True)
        counts += fold.rows
    if choice is not None:
        left = np.maximum(left, left_by_selection(choice))
    # A fit to the others has fewer samples than the model.
    explained *= len(folds) / (len(folds) - 1)
    variance = (left - explained) / np.maximum(counts, 1)
    return np.asarray(np.sqrt(np.maximum(variance, sigma**2)))
