"""A model that is fitted to conditioned motions, and its own verdict on itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.block_errors import block_errors, BlockErrors
from dynid_ros.cross_validation.friction_shrinkage import BLOCKS
from dynid_ros.diagnosis.verdict import judge
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.identification.conditioned_data import ConditionedData
from dynid_ros.identification.gain_findings import refuted_gains
from dynid_ros.identification.model_choice import fit_model, Model, plain_fit
from dynid_ros.identification.validation import (
    predict,
    predict_unseen,
    share_of,
    Unseen,
    unseen_rows,
)
from dynid_ros.model.metrics import Metrics, metrics
from dynid_ros.model.possible_estimate import (
    ChosenEstimate,
    data_covariance,
    possible_estimate,
    PossibleEstimate,
)
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.model.verdict import Finding, Verdict
from dynid_ros.regression.covariance import score_covariance, weighted_scores
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.rows import Rows
from dynid_ros.regression.weighted_least_squares import Solution
from dynid_ros.signals.conditioning import ConditioningSettings

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """
    The question that is put to conditioned recordings.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    method : str
        One of `METHODS`.
    source : str
        Name of the training set.
    choose : bool
        Whether all friction terms take part, as strong as they predict.
    stated : ArmModel or None
        A description whose parameters are compared on the held-out set.
    acceleration : (n,) ndarray
        Largest acceleration of each joint in the band of the motion, rad/s².

    """

    arm: ArmModel
    method: str
    source: str
    choose: bool
    stated: ArmModel | None
    acceleration: Array


@dataclass(frozen=True, eq=False)
class JudgedModel:
    """
    A model and its verdict, as far as its own figures tell.

    Attributes
    ----------
    arm : ArmModel
        With its friction terms.
    settings : ConditioningSettings
        How the training set was conditioned.
    solution : Solution
        Unconstrained estimate.
    estimate : ChosenEstimate
        That of the model.
    sigma : (n,) ndarray
        Residual of each joint on the training set, Nm.
    unseen_sigma : (n,) ndarray
        The same on blocks that were not fitted, Nm.
    friction_std : dict of str to (n,) ndarray
        Standard deviations of friction coefficients around zero, for coloured residuals.
    notes : tuple of str
        Outliers that were left out.
    own, unseen : list of Prediction
        Torque of the training set and of the held-out set.
    held : list of Unseen
        Rows of the held-out set.
    fit, validation : Metrics
        In-sample and held-out figures.
    verdict : Verdict
        Reasons against the model.
    refuted : Finding or None
        Stated gains that the rows refute.
    plain : (ArmModel, (b,) ndarray) or None
        The arm with plain friction and its base parameters, where others were chosen.

    """

    arm: ArmModel
    settings: ConditioningSettings
    solution: Solution
    estimate: ChosenEstimate
    sigma: Array
    unseen_sigma: Array
    friction_std: dict[str, Array]
    notes: tuple[str, ...]
    own: list[Prediction]
    unseen: list[Prediction]
    held: list[Unseen]
    fit: Metrics
    validation: Metrics | None
    verdict: Verdict
    refuted: Finding | None
    plain: tuple[ArmModel, Array] | None


def judged_fit(task: Task, data: ConditionedData) -> JudgedModel:
    """
    Fit a model and judge it.

    Parameters
    ----------
    task : Task
        Arm, method and terms.
    data : ConditionedData
        Training set and held-out set.

    Raises
    ------
    RecordingError
        A recording is too short.

    """
    settings = data.train.settings
    kept = KeptRows(task.arm, data.train.motions, settings)
    model = fit_model(task.arm, kept, task.method, task.source, choose=task.choose)
    arm = model.arm
    fitted_rows = kept.masked(model.rows.motions)
    estimate, blocks = _estimate(model, fitted_rows)
    theta = estimate.theta
    own = predict(arm, fitted_rows, theta, task.source, False) if estimate.possible else model.own
    sigma = _residual_spread(own)
    held = unseen_rows(arm, data.held_out, task.stated)
    unseen = predict_unseen(arm, held, theta)
    names = arm.joint_names
    fitted = metrics(share_of(own), False, names, own)
    validation = metrics(share_of(unseen), True, names, unseen) if unseen else None
    return JudgedModel(
        arm=arm, settings=settings, solution=model.solution, estimate=estimate, sigma=sigma,
        unseen_sigma=_unseen_sigma(estimate, blocks, sigma),
        friction_std=estimate.prior.friction_std(arm),
        notes=(*model.notes, *estimate.notes), own=own, unseen=unseen,
        held=held, fit=fitted, validation=validation,
        verdict=judge(arm, theta, estimate.data_covariance, estimate.shown,
                      model.solution.condition_number, own, task.acceleration, fitted, validation,
                      model.findings),
        refuted=refuted_gains(arm, fitted_rows, theta), plain=_plain(model, estimate, settings))


def _estimate(model: Model, rows: KeptRows) -> tuple[ChosenEstimate, BlockErrors]:
    """Choose between the unconstrained and the possible parameters, with their error bars."""
    arm, solution = model.arm, model.solution
    scatter, covariance, found = _possible(
        arm, solution, model.rows, rows.settings, model.friction_std)
    shrunk = found.fit.prior.is_shrunk
    columns = rows.columns(arm)
    blocks = block_errors(
        [block.part(columns) for block in rows.factors(arm, solution.theta, BLOCKS)],
        _residual_spread(model.own), solution.prior, covariance, found)
    possible = not blocks.clearly_worse
    root = solution.root_information
    alone = data_covariance(root.T @ root, scatter, solution.prior_information, shrunk)
    theta, std_white = solution.theta, np.sqrt(np.diag(solution.white_covariance))
    if possible:
        theta, covariance, std_white = found.theta, found.covariance(scatter), found.std_white
    return ChosenEstimate(
        theta, covariance, std_white, alone, found.share, found.fit.prior, found.colour, possible,
        () if possible else (blocks.remark,)), blocks


def _possible(
    arm: ArmModel, solution: Solution, rows: Rows, settings: ConditioningSettings,
    friction_std: Mapping[str, Array],
) -> tuple[Array, Array, PossibleEstimate]:
    """Covariances of the score and of the unconstrained estimate, and possible parameters."""
    scatter = score_covariance(
        weighted_scores(rows.blocks(arm, solution.theta), solution.theta, solution.sigma),
        settings.rate_hz / settings.decimation, solution.effective_parameters)
    bread, before = solution.white_covariance, solution.prior_information
    covariance = bread @ (scatter + before) @ bread
    prior = arm_prior(arm).widened(solution.widening).with_friction(arm, friction_std)
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
