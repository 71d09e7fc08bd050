# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cross-validated error of possible parameters relative to unconstrained ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.folds import clearly_worse, Folds, log_error_ratio
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters


def excess(parts: Sequence[QRFactors], prior: ArmPrior, start: PossibleParameters) -> float:
    """
    Cross-validate possible parameters against unconstrained ones.

    Parameters
    ----------
    parts : sequence of QRFactors
        Rows of the groups.
    prior : ArmPrior
        Prior of the arm, not scaled to any torque.
    start : PossibleParameters
        Possible parameters of all rows, the start of the search in each fold.

    Returns
    -------
    float
        Ratio of the errors if the possible parameters predict clearly worse, else 1.

    """
    folds = Folds(parts)
    prior_products = folds.prior_products(prior)
    sigma = folds.sigma(prior_products)
    possible = []
    for products, weights, torque in zip(folds.products, sigma**-2, folds.rms_torque, strict=True):
        normal = np.einsum('jab,j->ab', products, weights)[:-1]
        scaled = prior.scaled_to(torque)
        values = start.constrained_fit(scaled, normal[:, :-1], normal[:, -1])
        possible.append(scaled.grouping @ values)
    free_squares, possible_squares = (folds.residual_squares(theta) / sigma**2 for theta in (
        folds.fits(prior_products, sigma), np.array(possible)))
    squares, reference = possible_squares.sum(axis=1), free_squares.sum(axis=1)
    if not clearly_worse(squares, reference):
        return 1.0
    return float(np.exp(log_error_ratio(squares, reference)[0]))
