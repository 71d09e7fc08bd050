"""Physically possible parameters of a fit, where they predict as well, and their error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid_ros.arm.friction import PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.friction.block_errors import block_errors
from dynid_ros.estimation.friction.friction_shrinkage import BLOCKS
from dynid_ros.estimation.identification.model_choice import FittedModel
from dynid_ros.estimation.model.possible_estimate import (
    ChosenEstimate,
    data_covariance,
    possible_estimate,
)
from dynid_ros.estimation.model.standard_parameters import StandardParameters
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.estimation.regression.covariance import score_covariance, weighted_scores
from dynid_ros.estimation.regression.weighted_least_squares import fit, Solution
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class EstimatedModel:
    """
    Parameters of a fit, unconstrained or possible, with their figures on the fitted samples.

    Attributes
    ----------
    fitted : FittedModel
        The fit.
    estimate : ChosenEstimate
        Its parameters.
    own : list of Prediction
        Torque of the samples that were fitted.
    sigma, unseen_sigma : (n,) ndarray
        Root mean square residual of these, and of blocks that were not fitted.
    plain : (ArmModel, (b,) ndarray) or None
        The same with plain friction; None where that is what the model has.

    """

    fitted: FittedModel
    estimate: ChosenEstimate
    own: list[Prediction]
    sigma: Array
    unseen_sigma: Array
    plain: tuple[ArmModel, Array] | None


def estimate_parameters(fitted: FittedModel, source: str) -> EstimatedModel:
    """
    Choose between the unconstrained and the possible parameters of a fit.

    Parameters
    ----------
    fitted : FittedModel
        The fit.
    source : str
        Name of its samples.

    """
    arm, solution, kept = fitted.arm, fitted.solution, fitted.kept
    scatter, covariance, found = _possible(fitted, arm, solution, fitted.strengths)
    columns = kept.columns(arm)
    blocks = block_errors(
        [block.part(columns) for block in kept.factors(arm, solution.theta, BLOCKS)],
        _residual_spread(fitted.own), solution.prior, covariance, found)
    estimate = choose_estimate(
        solution, scatter, covariance, found, (blocks.remark,) if blocks.clearly_worse else ())
    own = kept.predict(arm, estimate.theta, source, False) if estimate.possible else fitted.own
    sigma, plain = _residual_spread(own), arm.with_friction(PLAIN)
    before: tuple[ArmModel, Array] | None = None
    if set(arm.friction) != set(PLAIN):
        simple = fitted.plain or fit(plain, fitted.rows)
        before = plain, (_possible(fitted, plain, simple, {})[2] if estimate.possible
                         else simple).theta
    left = (blocks.possible if estimate.possible else blocks.free).sum(axis=0)
    return EstimatedModel(fitted, estimate, own, sigma, blocks.sigma(left, sigma), before)


def choose_estimate(
    solution: Solution, scatter: Array, covariance: Array, found: StandardParameters,
    objections: tuple[str, ...],
) -> ChosenEstimate:
    """
    Return the possible parameters, or the unconstrained ones where these are clearly better.

    Parameters
    ----------
    solution : Solution
        Unconstrained estimate.
    scatter, covariance : (b, b) ndarray
        Covariances of its score and of itself, for coloured residuals.
    found : StandardParameters
        Possible parameters.
    objections : tuple of str
        Why they are worse, if they are.

    """
    root, white = solution.root_information, np.sqrt(np.diag(solution.white_covariance))
    alone = data_covariance(
        root.T @ root, scatter, solution.prior_information, found.prior.is_shrunk)
    theta = solution.theta
    if not objections:
        theta, covariance, white = found.theta, found.base_covariance(scatter), found.std_white
    share = found.prior.data_share(found.information)
    return ChosenEstimate(theta, covariance, white, alone, share, found.prior, found.colour,
                          not objections, objections)


def fields_of(solution: Solution, estimate: ChosenEstimate) -> dict[str, Any]:
    """Return the fields of an `IdentifiedModel` that follow from its estimate, by name."""
    return {
        **{name: getattr(estimate, name) for name in (
            'theta', 'covariance', 'std_white', 'data_share', 'colour', 'possible')},
        **{name: getattr(solution, name) for name in (
            'root_information', 'root_torque', 'widening', 'condition_number')}}


def _possible(
    fitted: FittedModel, arm: ArmModel, solution: Solution, strengths: Mapping[str, float],
) -> tuple[Array, Array, StandardParameters]:
    """Covariances of the score and of the unconstrained estimate, and possible parameters."""
    rows, settings = fitted.rows, fitted.rows.settings
    scatter = score_covariance(
        weighted_scores(rows.blocks(arm, solution.theta), solution.theta, solution.sigma),
        settings.rate_hz / settings.decimation, solution.effective_parameters)
    bread, before = solution.white_covariance, solution.prior_information
    covariance = bread @ (scatter + before) @ bread
    prior = arm_prior(arm).widened(solution.widening).with_friction(arm, strengths)
    found = possible_estimate(arm, prior, solution.root_information, solution.root_torque,
                              covariance, np.sqrt(np.diag(bread)))
    # Beside samples of which several count as one, coefficients near zero are as uncertain.
    before = np.where(prior.is_shrunk[:, None], found.colour * before, before)
    return scatter, bread @ (scatter + before) @ bread, found


def _residual_spread(parts: Sequence[Prediction]) -> Array:
    """Root mean square residual of each joint, (n,); for one at rest, of all that moved."""
    residual = np.concatenate([part.tau - part.tau_hat for part in parts])
    seen, squares = np.isfinite(residual).sum(axis=0), np.nansum(residual**2, axis=0)
    mean = squares.sum() / max(int(seen.sum()), 1)
    return np.asarray(np.sqrt(np.where(seen > 0, squares / np.maximum(seen, 1), mean)))
