"""Friction by shrinkage: all terms at once, as strong as they predict what was not fitted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dynid_ros.arm.friction import PLAIN, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.friction.folds import Folds, growth, STANDARD_ERRORS
from dynid_ros.estimation.regression.kept_rows import KeptRows
from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.estimation.regression.weighted_least_squares import carry_over, fit, Solution
from dynid_ros.utilities.arrays import Array

#: Consecutive blocks of time, each predicted by fits to the others.
BLOCKS = 10
#: Terms that are as strong as each other: curves over the speed, load, warmth, and reversals.
KINDS = (
    tuple(name for name, term in TERMS.items() if not term.state and name not in PLAIN),
    ('load',), (WARM,), (PRESLIDING,))
#: Width of the prior of a term, relative to the arm's: next to nothing, and two for each
#: power of ten.
ABSENT, *STRENGTHS = 1e-9, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1


def friction_strength(arm: ArmModel, rows: KeptRows) -> tuple[dict[str, float], Solution]:
    """
    Choose how strong each further friction term may be, by blocks that were not fitted.

    Viscous and Coulomb friction and the offset are as free as the prior of the arm. Every other
    coefficient has a prior around zero, whose width is one strength for each of `KINDS`. For each
    kind in turn, cross-validation chooses the strength with the lowest error relative to plain
    friction: the mean log ratio over the blocks plus one standard error. The resulting model must
    beat plain friction by `STANDARD_ERRORS`. The blocks are complete recordings where there
    are more than two, since another motion shows more than the rest of the same one; else they are
    stretches of time.

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
    regression) and 7.10 (cross-validation, and the rule of one standard error).

    """
    plain, every = arm.with_friction(PLAIN), arm.with_friction(tuple(TERMS))
    solution = fit(plain, rows)
    blocks = blocks_apart(rows, every, carry_over(solution.theta, plain, every))
    if not blocks:
        return {}, solution
    folds, prior = Folds(blocks, solution.sigma), arm_prior(every).widened(solution.widening)

    def left(strengths: dict[str, float]) -> Array:
        return folds.predicted(
            prior.with_friction(every, strengths).rows()) @ solution.sigma**-2

    found = {name: ABSENT for kind in KINDS for name in kind}
    before = left(found)
    for kind in KINDS:
        trials = [found | dict.fromkeys(kind, strength) for strength in (ABSENT, *STRENGTHS)]
        found = min(trials, key=lambda trial: sum(growth(left(trial), before)))
    mean, standard_error = growth(left(found), before)
    better = mean + STANDARD_ERRORS * standard_error < 0
    return {name: strength for name, strength in found.items()
            if better and strength > ABSENT}, solution


def blocks_apart(rows: KeptRows, arm: ArmModel, theta: Array) -> list[QRFactors]:
    """
    Divide rows into recordings or, of one or two, into as many stretches as `BLOCKS`.

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
    list of QRFactors
        Blocks, each longer than the low-pass reaches to one side; none if that is not possible.

    """
    # Time counts from the start of each recording.
    recordings = tuple(np.cumsum([0, *(
        after.t[0] <= before.t[-1] for before, after in pairwise(rows.motions))]).tolist())
    settings, columns = rows.settings, rows.columns(arm)
    # Two give no standard error.
    for parts in (recordings, BLOCKS) if recordings[-1] > 1 else (BLOCKS,):
        blocks = rows.factors(arm, theta, parts)
        shortest = min(int(block.rows.max()) for block in blocks)
        if shortest * settings.decimation > settings.decimator().reach:
            return [block.part(columns) for block in blocks]
    return []
