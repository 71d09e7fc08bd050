"""Fit an arm's parameters to conditioned motions, friction terms included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression import friction_choice
from dynid_ros.regression.friction_choice import all_terms, choose_friction
from dynid_ros.regression.qr_factors import compress, QRFactors
from dynid_ros.regression.row_methods import DIFFERENTIATED, Method
from dynid_ros.regression.rows import regression_blocks, RowBlock
from dynid_ros.regression.weighted_least_squares import Solution, solve
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]

# The load on a joint follows from the estimate: three passes settle it within its error bars.
LOAD_PASSES = 3


def carry_over(theta: Array, source: ArmModel, target: ArmModel) -> Array:
    """Map base parameters to another choice of friction terms; new ones are zero."""
    known = dict(zip(base_parameters(source).names, theta, strict=True))
    return np.array([known.get(name, 0.0) for name in base_parameters(target).names])


def fit(
    arm: ArmModel,
    motions: Sequence[ConditionedMotion],
    treatment: ConditioningSettings,
    method: Method = DIFFERENTIATED,
) -> Solution:
    """
    Weighted least squares over all motions.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms are identified.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    treatment : ConditioningSettings
        Cut-off and decimation.
    method : Method
        Method that makes rows from motions.

    Returns
    -------
    Solution
        Estimate; with a ``load`` friction term, consistent with the load that it predicts.

    """
    start = arm.without_load
    solution = solve(method.compress(start, motions, treatment, None))
    if start.friction == arm.friction:
        return solution
    load_theta = carry_over(solution.theta, start, arm)
    for _ in range(LOAD_PASSES):
        solution = solve(method.compress(arm, motions, treatment, load_theta))
        load_theta = solution.theta
    return solution


def fit_friction(
    arm: ArmModel, motions: Sequence[ConditionedMotion], treatment: ConditioningSettings
) -> tuple[ArmModel, dict[str, float]]:
    """
    Choose the friction terms.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches of the training part.
    treatment : ConditioningSettings
        Cut-off and decimation.

    Returns
    -------
    arm : ArmModel
        With the chosen terms.
    trials : dict of str to float
        Cross-validated relative error of each candidate, %.

    """
    start = arm.without_load
    every = arm.with_friction(all_terms())
    theta = fit(start, motions, treatment).theta
    folds = _compress_folds(every, motions, treatment, carry_over(theta, start, every))
    choice = choose_friction(every, folds)
    return arm.with_friction(choice.terms), choice.trials


def _compress_folds(
    arm: ArmModel, motions: Sequence[ConditionedMotion], treatment: ConditioningSettings,
    load_theta: Array
) -> list[QRFactors]:
    blocks = _blocks_by_fold(arm, motions, treatment, load_theta)
    b = base_parameters(arm).count
    return [
        compress(arm.n, b, (block for _, block in fold))
        for _, fold in groupby(blocks, key=lambda pair: pair[0])
    ]


def _blocks_by_fold(
    arm: ArmModel, motions: Sequence[ConditionedMotion], treatment: ConditioningSettings,
    load_theta: Array
) -> Iterator[tuple[int, RowBlock]]:
    """
    Rows in the order of time, with the number of their fold.

    Folds hold the same number of samples with motion.
    """
    alive: list[NDArray[np.bool_]] = [motion.moving.max(axis=1) for motion in motions]
    decimator = treatment.decimator()
    total = sum(int(a[decimator.reach:len(a) - decimator.reach:decimator.step].sum())
                for a in alive)
    done, folds = 0, friction_choice.THRESHOLDS.folds
    for block in regression_blocks(arm, motions, treatment, load_theta):
        seen = done + np.cumsum(block.moving.any(axis=1))
        numbers = np.minimum(seen * folds // max(total, 1), folds - 1)
        for fold in np.unique(numbers):
            yield int(fold), block.part(numbers == fold)
        done = int(seen[-1])
