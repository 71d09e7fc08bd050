# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fit a model, repeatedly without the outliers that its predictions reveal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.friction import PLAIN_TERMS, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import Prediction
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
from dynid_ros.estimation.estimate.friction_strengths import friction_strength
from dynid_ros.estimation.estimate.weights import fit, Solution
from dynid_ros.estimation.model.verdict import Finding

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
