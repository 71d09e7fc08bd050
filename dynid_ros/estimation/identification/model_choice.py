# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Fit a model, repeatedly without the outliers that its predictions reveal.

The parameters of the last fit, with their error bars, are the unconstrained or the possible ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.friction import PLAIN_TERMS, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.blocks.row_methods import fitted_rows, MethodRows
from dynid_ros.estimation.diagnosis import outliers
from dynid_ros.estimation.diagnosis.outliers import (
    describe,
    exclude_outliers,
    far_samples,
    merged,
    Outlier,
    outlier_share,
    too_many,
    usual_residual,
)
from dynid_ros.estimation.estimate.chosen_estimate import (
    chosen_estimate,
    Estimate,
    free_estimate,
)
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.folds import clearly_worse
from dynid_ros.estimation.estimate.friction_strengths import friction_strength
from dynid_ros.estimation.estimate.possible_parameters import possible_parameters
from dynid_ros.estimation.estimate.weights import fit, LOAD_PASSES, Solution, solve
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array

#: Most fits: a large outlier hides a small one.
PASSES = 5


@dataclass(frozen=True)
class FittedModel:
    """
    A model fitted without outliers.

    Attributes
    ----------
    arm : ArmModel
        With its friction terms.
    strengths : dict of str to float
        Of shrunk terms; see `friction_strength`.
    solution : Solution
        Estimate.
    in_sample : list of Prediction
        In-sample predictions.
    kept, rows : KeptRows, KeptRows or MethodRows
        Rows of torque, and the rows that were fitted.
    plain : Solution or None
        Estimate with plain friction from the same rows, if the choice of friction needed it.
    notes : tuple of str
        Excluded outliers, a sentence each.
    findings : tuple of Finding
        Reasons against the model.

    """

    arm: ArmModel
    strengths: dict[str, float]
    solution: Solution
    in_sample: list[Prediction]
    kept: KeptRows
    rows: KeptRows | MethodRows
    plain: Solution | None
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


def fit_model(
    arm: ArmModel, kept: KeptRows, method: str, source: str, *, choose: bool,
) -> FittedModel:
    """
    Fit a model, then again without outliers.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    kept : KeptRows
        Rows of the samples.
    method : str
        One of `METHODS`: which rows are fitted.
    source : str
        Name of the samples.
    choose : bool
        Whether to use all friction terms, with strengths chosen by cross-validation.

    """
    share, found = np.zeros(arm.n), list[Outlier]()
    for more in reversed(range(PASSES)):
        rows = fitted_rows(method, kept)
        strengths, plain = friction_strength(arm, kept) if choose else ({}, None)
        fitted = arm.with_friction(tuple(
            name for name in TERMS if name in PLAIN_TERMS or name in strengths)) if choose else arm
        solution = fit(fitted, rows, strengths)
        in_sample = kept.predict(fitted, solution.theta, source, False)
        far = far_samples(in_sample, kept.settings.cutoff_hz)
        if not more or not any(marks.any() for marks in far):
            break
        found += describe(arm.joint_names, in_sample, far, usual_residual(in_sample))
        share += outlier_share(far, in_sample)
        kept = kept.masked(exclude_outliers(kept.motions, kept.settings, far, in_sample))
    notes = tuple(f'{outlier.sentence}; left out' for outlier in merged(found))
    return FittedModel(
        fitted, strengths, solution, in_sample, kept, rows, plain if rows is kept else None, notes,
        too_many(arm.joint_names, share))


def estimate_parameters(fitted: FittedModel, source: str) -> tuple[FittedModel, Estimate]:
    """
    Choose between the unconstrained and the possible parameters of a fit.

    Friction that grows with the load takes the load of the unconstrained parameters, which are
    fitted first. If the possible parameters imply another load, they are fitted again with their
    own.

    Parameters
    ----------
    fitted : FittedModel
        The fit.
    source : str
        Name of its samples.

    Returns
    -------
    fitted : FittedModel
        The fit, with the in-sample predictions of the chosen parameters.
    estimate : Estimate
        Its parameters.

    """
    arm, kept = fitted.arm, fitted.kept
    prior = arm_prior(arm).with_friction(arm, fitted.strengths)
    torque, estimate = _chosen(fitted, prior, fitted.solution.theta)
    for _ in range(LOAD_PASSES if arm.needs_load else 0):
        load = estimate.theta
        if not estimate.possible or not _has_other_load(fitted, load, torque):
            break
        fitted = replace(fitted, solution=solve(fitted.rows.compressed(arm, load), prior))
        torque, estimate = _chosen(fitted, prior, load)
    if estimate.possible:
        fitted = replace(fitted, in_sample=kept.predict(arm, estimate.theta, source, False))
    return fitted, estimate


def _chosen(
    fitted: FittedModel, prior: ArmPrior, load: Array,
) -> tuple[list[QRFactors], Estimate]:
    """Choose parameters, given those that load the joints (b,); return them with the rows."""
    arm, solution, kept = fitted.arm, fitted.solution, fitted.kept
    torque = kept.parts(arm, load)
    parts = torque if fitted.rows is kept else fitted.rows.parts(arm, load)
    free = free_estimate(prior, solution, group_scatter(parts, solution))
    return torque, chosen_estimate(arm, prior, free, torque)


def _has_other_load(fitted: FittedModel, theta: Array, torque: Sequence[QRFactors]) -> bool:
    """Whether parameters predict clearly worse with their own load than with that of `torque`."""
    weights = fitted.solution.sigma**-2
    own, assumed = (np.array([part.residual_squares(theta) @ weights for part in parts])
                    for parts in (fitted.kept.parts(fitted.arm, theta), torque))
    return len(own) > 1 and clearly_worse(own, assumed)


def with_plain_friction(
    fitted: FittedModel, estimate: Estimate,
) -> tuple[ArmModel, Array] | None:
    """
    Fit the same rows with plain friction, to possible parameters if those of the estimate are.

    Returns
    -------
    (ArmModel, (b,) ndarray) or None
        The arm and its base parameters; None if the model has only plain friction.

    """
    plain = fitted.arm.with_friction(PLAIN_TERMS)
    if set(fitted.arm.friction) == set(PLAIN_TERMS):
        return None
    simple = fitted.plain or fit(plain, fitted.rows)
    if not estimate.possible:
        return plain, simple.theta
    prior = arm_prior(plain).scaled_by(simple.widening)
    return plain, possible_parameters(
        plain, prior, simple.root_information, simple.root_torque, simple.white_covariance).theta


def residual_spread(parts: Sequence[Prediction]) -> Array:
    """Root mean square residual of each joint, (n,); a joint at rest gets that of all joints."""
    residual = np.concatenate([part.tau - part.tau_hat for part in parts])
    seen, squares = np.isfinite(residual).sum(axis=0), np.nansum(residual**2, axis=0)
    mean = squares.sum() / max(int(seen.sum()), 1)
    return np.asarray(np.sqrt(np.where(seen > 0, squares / np.maximum(seen, 1), mean)))


def unexplained(
    arm: ArmModel, in_sample: Sequence[Prediction], unseen: Sequence[Prediction], cutoff_hz: float,
) -> tuple[str, ...]:
    """
    Describe the outliers of held-out samples, which stay in their metrics.

    If there are many, the model is wrong, as its metrics show, and none is listed.
    """
    usual = usual_residual(in_sample)
    far = far_samples(unseen, cutoff_hz, usual) if unseen else []
    if not unseen or (outlier_share(far, unseen) > outliers.LARGEST_SHARE).any():
        return ()
    return tuple(f'{outlier.sentence}; it is in the held-out set'
                 for outlier in merged(describe(arm.joint_names, unseen, far, usual)))
