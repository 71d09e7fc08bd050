"""The fit of a model, repeated without the outliers that its own predictions show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.friction_by_joint import friction_by_joint
from dynid_ros.cross_validation.friction_choice import choose_friction, Folds
from dynid_ros.diagnosis import outliers
from dynid_ros.diagnosis.outliers import (
    describe,
    far_samples,
    merged,
    Outlier,
    share_left_out,
    too_many,
    usual_residual,
    without,
)
from dynid_ros.identification.validation import predict
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.model.verdict import Finding
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.row_methods import fitted_rows
from dynid_ros.regression.rows import Rows
from dynid_ros.regression.weighted_least_squares import fit, Solution

Array = NDArray[np.float64]

#: Fits at most: a large outlier hides a small one.
PASSES = 5


@dataclass(frozen=True)
class Model:
    """
    A fitted model.

    Attributes
    ----------
    arm : ArmModel
        With the friction terms that were chosen.
    trials : dict of str to float
        Cross-validated relative error of each choice, %; empty if there was none.
    choice : Folds or None
        Blocks by which the friction terms were chosen, if they were.
    solution : Solution
        Estimate.
    own : list of Prediction
        Torque of the samples that were fitted.
    rows : Rows
        Their rows.
    notes : tuple of str
        Outliers that were left out, a sentence each.
    findings : tuple of Finding
        Reasons against the model.

    """

    arm: ArmModel
    trials: dict[str, float]
    choice: Folds | None
    solution: Solution
    own: list[Prediction]
    rows: Rows
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


def fit_model(
    arm: ArmModel, kept: KeptRows, method: str, source: str, *, choose: bool,
) -> Model:
    """
    Fit a model, and again without outliers.

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
        Whether to choose the friction terms too.

    """
    rows, share = fitted_rows(method, kept), np.zeros(arm.n)
    found: list[Outlier] = []
    for more in reversed(range(PASSES)):
        fitted, trials, choice = _chosen(arm, kept) if choose else (arm, {}, None)
        solution = fit(fitted, rows)
        own = predict(fitted, kept, solution.theta, source, False)
        far = far_samples(own)
        if not more or not any(marks.any() for marks in far):
            break
        found += describe(arm.joint_names, own, far, usual_residual(own))
        share += share_left_out(far, own)
        motions = without(kept.motions, kept.settings, far, own)
        kept, rows = kept.masked(motions), rows.masked(motions)
    if choice and (by_joint := friction_by_joint(arm, fitted.friction, choice)).friction_lacking:
        fitted, solution = by_joint, fit(by_joint, rows)
        own = predict(fitted, kept, solution.theta, source, False)
    notes = tuple(f'{outlier.sentence}; left out' for outlier in merged(found))
    return Model(
        fitted, trials, choice, solution, own, rows, notes, too_many(arm.joint_names, share))


def _chosen(arm: ArmModel, kept: KeptRows) -> tuple[ArmModel, dict[str, float], Folds]:
    folds = Folds(arm, kept)
    terms, trials = choose_friction(folds)
    return arm.with_friction(terms), trials, folds


def plain_fit(model: Model) -> tuple[ArmModel, Solution] | None:
    """Fit plain friction to the same rows; None where it is what the model has."""
    if set(model.arm.friction) == set(PLAIN) and not model.arm.friction_lacking:
        return None
    plain = model.arm.with_friction(PLAIN)
    return plain, fit(plain, model.rows)


def unexplained(
    arm: ArmModel, own: Sequence[Prediction], unseen: Sequence[Prediction],
) -> tuple[str, ...]:
    """
    Name the outliers of held-out samples, whose figures include them.

    Many outliers refute the model itself; the figures show that, and none is listed.
    """
    usual = usual_residual(own)
    far = far_samples(unseen, usual) if unseen else []
    if not unseen or (share_left_out(far, unseen) > outliers.THRESHOLDS.largest_share).any():
        return ()
    return tuple(f'{outlier.sentence}; it is in the held-out set'
                 for outlier in merged(describe(arm.joint_names, unseen, far, usual)))
