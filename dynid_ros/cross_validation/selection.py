"""The error of a choice of friction terms, by blocks of time that took no part in it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.cross_validation.friction_choice import (
    chosen_of,
    Folds,
    near_the_best,
    PLAIN_FORMS,
)

Array = NDArray[np.float64]


def left_by_selection(folds: Folds) -> Array:
    """
    Predict each block with the terms, and the parameters, that the other blocks choose.

    A block that took part in the choice of terms is predicted too well. The choice is among the
    candidates near the best one, and plain friction. All of them would take ten times as long,
    and the error of some joints of short recordings would be larger by a fifth.

    Parameters
    ----------
    folds : Folds
        Blocks of the training part.

    Returns
    -------
    (n,) ndarray
        Squared torque of each joint that is left, over all blocks, Nm².

    References
    ----------
    Varma and Simon, Bias in error estimation when using cross-validation for model selection, BMC
    Bioinformatics 7:91, 2006 (nested cross-validation).

    """
    count = len(folds.torque)
    torque = folds.torque.sum(axis=1)
    candidates = dict.fromkeys((*near_the_best(folds.trials), *PLAIN_FORMS))
    # Error in the second block of a fit to all but both.
    errors = {terms: np.zeros((count, count)) for terms in candidates}
    for first, second in combinations(range(count), 2):
        others = folds.without(first, second)
        for terms, error in errors.items():
            theta = others.fit(folds.columns(terms))
            error[first, second] = folds.left(second, theta).sum() / torque[second]
            error[second, first] = folds.left(first, theta).sum() / torque[first]
    chosen = [chosen_of({terms: np.delete(error[k], k) for terms, error in errors.items()},
                        apart=folds.apart) for k in range(count)]
    left = [folds.left(k, folds.fit(terms, k)) for k, terms in enumerate(chosen)]
    return np.asarray(np.sum(left, axis=0))
