"""A model that is fitted to conditioned motions, validated, and judged by its own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.diagnosis.verdict import judge
from dynid_ros.estimation.friction.block_errors import block_errors, BlockErrors
from dynid_ros.estimation.friction.friction_shrinkage import BLOCKS
from dynid_ros.estimation.identification.conditioned_data import ConditionedData
from dynid_ros.estimation.identification.gain_findings import refuted_gains
from dynid_ros.estimation.identification.model_choice import fit_model, Model, plain_fit
from dynid_ros.estimation.identification.validation import (
    predict,
    predict_unseen,
    share_of,
    Unseen,
    unseen_rows,
)
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.estimation.model.possible_estimate import (
    ChosenEstimate,
    data_covariance,
    possible_estimate,
    PossibleEstimate,
)
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.regression.covariance import score_covariance, weighted_scores
from dynid_ros.estimation.regression.kept_rows import KeptRows
from dynid_ros.estimation.regression.rows import Rows
from dynid_ros.estimation.regression.weighted_least_squares import Solution
from dynid_ros.utilities.arrays import Array


class Fitted(NamedTuple):
    """
    A model, and what its verdict needs beside it.

    Attributes
    ----------
    model : IdentifiedModel
        With the verdict that its own figures give.
    held : list of Unseen
        Rows of the held-out set.
    refuted : Finding or None
        Stated gains that the rows refute.
    plain : (ArmModel, (b,) ndarray) or None
        The arm with plain friction and its base parameters, where others were chosen.

    """

    model: IdentifiedModel
    held: list[Unseen]
    refuted: Finding | None
    plain: tuple[ArmModel, Array] | None


def fit_and_validate(
    arm: ArmModel, data: ConditionedData, source: str, method: str, choose: bool,
    stated: ArmModel | None, acceleration: Array, **known: Any,
) -> Fitted:
    """
    Fit a model, validate it on the held-out set, and judge it by its own figures.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    data : ConditionedData
        Training set and held-out set.
    source : str
        Name of the training set.
    method : str
        One of `METHODS`.
    choose : bool
        Whether all friction terms take part, as strong as they predict.
    stated : ArmModel or None
        A description whose parameters are compared on the held-out set.
    acceleration : (n,) ndarray
        Largest acceleration of each joint in the band of the motion, rad/s².
    **known : Any
        Further fields of the model.

    Raises
    ------
    RecordingError
        A recording is too short.

    """
    settings = data.train.settings
    kept = KeptRows(arm, data.train.motions, settings)
    found = fit_model(arm, kept, method, source, choose=choose)
    arm, solution, rows = found.arm, found.solution, kept.masked(found.rows.motions)
    estimate, blocks = _estimate(found, rows)
    theta, names = estimate.theta, arm.joint_names
    own = predict(arm, rows, theta, source, False) if estimate.possible else found.own
    sigma = _residual_spread(own)
    held = unseen_rows(arm, data.held_out, stated)
    unseen = predict_unseen(arm, held, theta)
    fit = metrics(share_of(own), False, names, own)
    validation = metrics(share_of(unseen), True, names, unseen) if unseen else None
    model = IdentifiedModel(
        arm=arm, theta=theta, covariance=estimate.covariance, std_white=estimate.std_white,
        data_share=estimate.data_share, colour=estimate.colour, possible=estimate.possible,
        root_information=solution.root_information, root_torque=solution.root_torque,
        widening=solution.widening, sigma=sigma,
        unseen_sigma=_unseen_sigma(estimate, blocks, sigma),
        friction_strength=found.strengths,
        condition_number=solution.condition_number,
        treatment=replace(settings, notes=(*found.notes, *estimate.notes)),
        fit=fit, validation=validation,
        verdict=judge(arm, theta, estimate.data_covariance, estimate.shown,
                      own, acceleration, fit, validation,
                      found.findings),
        predictions=(*own, *unseen), **known)
    return Fitted(model, held, refuted_gains(arm, rows, theta), _plain(found, estimate, settings))


def _estimate(model: Model, rows: KeptRows) -> tuple[ChosenEstimate, BlockErrors]:
    """Choose between the unconstrained and the possible parameters, with their error bars."""
    arm, solution = model.arm, model.solution
    scatter, covariance, found = _possible(
        arm, solution, model.rows, rows.settings, model.strengths)
    columns = rows.columns(arm)
    blocks = block_errors(
        [block.part(columns) for block in rows.factors(arm, solution.theta, BLOCKS)],
        _residual_spread(model.own), solution.prior, covariance, found)
    possible = not blocks.clearly_worse
    root = solution.root_information
    alone = data_covariance(
        root.T @ root, scatter, solution.prior_information, found.fit.prior.is_shrunk)
    theta, std_white = solution.theta, np.sqrt(np.diag(solution.white_covariance))
    if possible:
        theta, covariance, std_white = found.theta, found.covariance(scatter), found.std_white
    return ChosenEstimate(
        theta, covariance, std_white, alone, found.share, found.fit.prior, found.colour, possible,
        () if possible else (blocks.remark,)), blocks


def _possible(
    arm: ArmModel, solution: Solution, rows: Rows, settings: ConditioningSettings,
    strengths: Mapping[str, float],
) -> tuple[Array, Array, PossibleEstimate]:
    """Covariances of the score and of the unconstrained estimate, and possible parameters."""
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


def _plain(
    model: Model, estimate: ChosenEstimate, settings: ConditioningSettings,
) -> tuple[ArmModel, Array] | None:
    """Fit plain friction, as possible as the model; None where it is what the model has."""
    fitted = plain_fit(model)
    if fitted is None or not estimate.possible:
        return fitted and (fitted[0], fitted[1].theta)
    arm, solution = fitted
    return arm, _possible(arm, solution, model.rows, settings, {})[2].theta


def _unseen_sigma(estimate: ChosenEstimate, blocks: BlockErrors, sigma: Array) -> Array:
    return blocks.sigma((blocks.possible if estimate.possible else blocks.free).sum(axis=0), sigma)


def _residual_spread(parts: Sequence[Prediction]) -> Array:
    """Root mean square residual of each joint, (n,); for one at rest, of all that moved."""
    residual = np.concatenate([part.tau - part.tau_hat for part in parts])
    seen, squares = np.isfinite(residual).sum(axis=0), np.nansum(residual**2, axis=0)
    mean = squares.sum() / max(int(seen.sum()), 1)
    return np.asarray(np.sqrt(np.where(seen > 0, squares / np.maximum(seen, 1), mean)))
