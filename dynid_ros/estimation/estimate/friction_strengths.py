# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Shrinkage of friction terms, with strengths chosen by cross-validation."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import PLAIN_TERMS, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.folds import Folds, log_error_ratio, STANDARD_ERRORS
from dynid_ros.estimation.estimate.weights import carry_over, fit, Solution
from dynid_ros.utilities.arrays import Array

#: Groups of terms with a common strength: curves over speed, load, warmth, and reversals.
TERM_GROUPS = (
    tuple(name for name, term in TERMS.items() if not term.state and name not in PLAIN_TERMS),
    ('load',), (WARM,), (PRESLIDING,))
#: Widths of the prior of a term relative to that of the arm: practically zero, and two a decade.
ABSENT, *STRENGTHS = 1e-9, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1


def friction_strength(arm: ArmModel, rows: KeptRows) -> tuple[dict[str, float], Solution]:
    """
    Choose the strength of each further friction term by cross-validation.

    Viscous and Coulomb friction and the offset have the prior of the arm. Every other coefficient
    has a prior around zero, whose width is the strength of its group, see `TERM_GROUPS`. For each
    group in turn, cross-validation over time chooses the strength with the lowest mean log error
    relative to plain friction. The resulting model must beat plain friction by `STANDARD_ERRORS`.
    The rows outside each group determine weights and the scale of the prior.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of its motions.

    Returns
    -------
    strengths : dict of str to float
        Width of the prior of each term relative to that of the arm, for rows weighted as if their
        noise were white; absent terms have no entry.
    plain : Solution
        Estimate with plain friction.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 3.4.1 (ridge
    regression) and 7.10 (cross-validation).

    """
    plain, full = arm.with_friction(PLAIN_TERMS), arm.with_friction(tuple(TERMS))
    solution = fit(plain, rows)
    parts = separable_groups(rows, full, carry_over(solution.theta, plain, full))
    if not parts:
        return {}, solution
    plain_folds = Folds([part.part(rows.columns(plain)) for part in parts])
    sigma = plain_folds.sigma(plain_folds.prior_products(arm_prior(plain)))
    folds = Folds([part.part(rows.columns(full)) for part in parts])
    further = [name for kind in TERM_GROUPS for name in kind]
    prior_products = folds.prior_products(
        arm_prior(full).with_friction(full, dict.fromkeys(further, 1.0)))
    columns = base_parameters(full).columns
    places = {name: np.flatnonzero(np.isin(
        columns, full.layout.friction_columns(TERMS[name].symbol))) for name in further}

    def errors(strengths: dict[str, float]) -> Array:
        # The prior of these coefficients is independent of the others.
        shrinkage = np.ones(prior_products.shape[2])
        for name, strength in strengths.items():
            shrinkage[places[name]] = 1 / strength
        scaled = prior_products * shrinkage[:-1, None] * shrinkage
        squares = folds.residual_squares(folds.fits(scaled, sigma))
        return np.asarray((squares / sigma**2).sum(axis=1))

    best = dict.fromkeys(further, ABSENT)
    baseline = lowest = errors(best)
    for kind in TERM_GROUPS:
        trials = [best | dict.fromkeys(kind, strength) for strength in STRENGTHS]
        found = [(lowest, best), *zip(map(errors, trials), trials, strict=True)]
        lowest, best = min(found, key=lambda each: log_error_ratio(each[0], baseline)[0])
    mean, standard_error = log_error_ratio(lowest, baseline)
    better = mean + STANDARD_ERRORS * standard_error < 0
    return {name: strength for name, strength in best.items()
            if better and strength > ABSENT}, solution


def separable_groups(rows: KeptRows, arm: ArmModel, theta: Array) -> list[QRFactors]:
    """
    Return the groups of rows if the low-pass separates them.

    Parameters
    ----------
    rows : KeptRows
        Rows.
    arm : ArmModel
        The arm, with the terms of interest.
    theta : (b,) ndarray
        Its base parameters, which determine the load on the joints.

    Returns
    -------
    list of QRFactors
        With all candidate columns; empty if the low-pass spans the shortest group.

    """
    parts, settings = rows.groups(arm, theta), rows.settings
    shortest = min(int(part.rows.max()) for part in parts) * settings.decimation
    return parts if shortest > settings.decimator().reach else []
