"""Friction by shrinkage: all terms at once, as strong as they predict what was not fitted."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import PLAIN, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.folds import Folds, growth, STANDARD_ERRORS
from dynid_ros.estimation.estimate.weights import carry_over, fit, Solution
from dynid_ros.utilities.arrays import Array

#: Terms that are as strong as each other: curves over the speed, load, warmth, and reversals.
KINDS = (
    tuple(name for name, term in TERMS.items() if not term.state and name not in PLAIN),
    ('load',), (WARM,), (PRESLIDING,))
#: Width of the prior of a term, relative to the arm's: next to nothing, and two for each
#: power of ten.
ABSENT, *STRENGTHS = 1e-9, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1


def friction_strength(arm: ArmModel, rows: KeptRows) -> tuple[dict[str, float], Solution]:
    """
    Choose how strong each further friction term may be, by groups that were not fitted.

    Viscous and Coulomb friction and the offset are as free as the prior of the arm. Every other
    coefficient has a prior around zero, whose width is one strength for each of `KINDS`. For each
    kind in turn, cross-validation over the groups of the rows chooses the strength with the lowest
    error relative to plain friction, the mean log ratio. The resulting model must beat plain
    friction by `STANDARD_ERRORS`. Weights and the width of the prior are those of the rows beside
    each group.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of its motions.

    Returns
    -------
    strengths : dict of str to float
        By term, how wide the prior of its coefficients is relative to the arm's, beside rows
        that are weighted as if their noise were white; terms that are absent have none.
    plain : Solution
        Estimate with plain friction.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 3.4.1 (ridge
    regression) and 7.10 (cross-validation).

    """
    plain, every = arm.with_friction(PLAIN), arm.with_friction(tuple(TERMS))
    solution = fit(plain, rows)
    parts = predictable(rows, every, carry_over(solution.theta, plain, every))
    if not parts:
        return {}, solution
    simple = Folds([part.part(rows.columns(plain)) for part in parts])
    sigma = simple.sigma(simple.known(arm_prior(plain)))
    folds = Folds([part.part(rows.columns(every)) for part in parts])
    further = [name for kind in KINDS for name in kind]
    known = folds.known(arm_prior(every).with_friction(every, dict.fromkeys(further, 1.0)))
    columns = base_parameters(every).columns
    places = {name: np.flatnonzero(np.isin(
        columns, every.layout.friction_columns(TERMS[name].symbol))) for name in further}

    def left(strengths: dict[str, float]) -> Array:
        # These coefficients depend on no others in the prior.
        narrow = np.ones(known.shape[2])
        for name, strength in strengths.items():
            narrow[places[name]] = 1 / strength
        own = known * narrow[:-1, None] * narrow
        return np.asarray((folds.left(folds.fits(own, sigma)) / sigma**2).sum(axis=1))

    found = dict.fromkeys(further, ABSENT)
    before = left(found)
    for kind in KINDS:
        trials = [found | dict.fromkeys(kind, strength) for strength in (ABSENT, *STRENGTHS)]
        found = min(trials, key=lambda trial: growth(left(trial), before)[0])
    mean, standard_error = growth(left(found), before)
    better = mean + STANDARD_ERRORS * standard_error < 0
    return {name: strength for name, strength in found.items()
            if better and strength > ABSENT}, solution


def predictable(rows: KeptRows, arm: ArmModel, theta: Array) -> list[Products]:
    """
    Return the groups of some rows if they can be predicted apart from each other.

    Parameters
    ----------
    rows : KeptRows
        Rows.
    arm : ArmModel
        The arm, with the terms of interest.
    theta : (b,) ndarray
        Its base parameters, which the load on the joints follows from.

    Returns
    -------
    list of Products
        With all candidate columns; none if the low-pass reaches over the shortest of them.

    """
    parts, settings = [Products.of(each) for each in rows.groups(arm, theta)], rows.settings
    shortest = min(int(part.rows.max()) for part in parts) * settings.decimation
    return parts if shortest > settings.decimator().reach else []
