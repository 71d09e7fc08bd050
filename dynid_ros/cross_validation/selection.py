"""The choice of friction terms as a source of error, of torque and of inertial parameters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.friction_choice import (
    chosen_of,
    Folds,
    near_the_best,
    PLAIN_FORMS,
)
from dynid_ros.dynamics.base import base_parameters, friction_places

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


def spread_by_choice(arm: ArmModel, folds: Folds) -> Array:
    """
    Find how far the parameters change among the choices that predict as well as the best one.

    The simplest of them is chosen, whichever friction the arm has. If it lacks a term, the
    inertial parameters make up for that, and their own error bars do not tell.

    Parameters
    ----------
    arm : ArmModel
        With the friction terms that were chosen.
    folds : Folds
        Blocks of the training part.

    Returns
    -------
    (b,) ndarray
        Root mean square difference from the estimate of the chosen terms; zero for friction
        coefficients, which mean something else beside other terms.

    References
    ----------
    Buckland, Burnham and Augustin, Model selection: an integral part of inference, Biometrics 53,
    1997, equation 9 (the variance of an estimate, with that of its model).

    """
    rows, near = folds.without(), near_the_best(folds.trials)
    change = (np.array([rows.fit(folds.columns(terms)) for terms in near])
              - rows.fit(folds.columns_of(arm)))
    spread = np.sqrt(np.mean(change**2, axis=0))
    every, own = base_parameters(folds.arm).names, base_parameters(arm).names
    by_name = dict(zip(every, spread, strict=True))
    friction = set(friction_places(arm).tolist())
    return np.array([0.0 if k in friction else by_name[name] for k, name in enumerate(own)])
