"""How much worse possible parameters predict than unconstrained ones, in groups not fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.folds import clearly_worse, Folds, growth
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters


def excess(parts: Sequence[Products], prior: ArmPrior, found: PossibleParameters) -> float:
    """
    Predict each of several groups by fits to the others, unconstrained and possible ones.

    Parameters
    ----------
    parts : sequence of Products
        Rows of the groups.
    prior : ArmPrior
        Prior of the arm, not widened to any torque yet.
    found : PossibleParameters
        Possible parameters of all rows, from which the search of each fold starts.

    Returns
    -------
    float
        Ratio of the errors where the possible parameters predict clearly worse, 1 otherwise.

    """
    folds = Folds(parts)
    known = folds.known(prior)
    sigma = folds.sigma(known)
    possible = []
    for products, weights, torque in zip(folds.products, sigma**-2, folds.torque, strict=True):
        normal = np.einsum('jab,j->ab', products, weights)[:-1]
        wide = prior.reaching(torque)
        possible.append(wide.grouping @ found.nearest(wide, normal[:, :-1], normal[:, -1]))
    free, bound = (folds.left(theta) / sigma**2 for theta in (
        folds.fits(known, sigma), np.array(possible)))
    left, before = bound.sum(axis=1), free.sum(axis=1)
    return float(np.exp(growth(left, before)[0])) if clearly_worse(left, before) else 1.0
