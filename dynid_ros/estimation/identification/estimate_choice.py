# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters of a fit with their error bars, and their in-sample predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.chosen_estimate import (
    chosen_estimate,
    Estimate,
    free_estimate,
)
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.folds import clearly_worse
from dynid_ros.estimation.estimate.possible_parameters import possible_parameters
from dynid_ros.estimation.estimate.weights import fit, LOAD_PASSES, solve
from dynid_ros.estimation.identification.model_choice import FittedModel
from dynid_ros.utilities.arrays import Array


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
