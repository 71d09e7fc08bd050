# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Delay of all drive signals relative to the motion."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.estimation.band.trial_blocks import TrialBlocks
from dynid_ros.estimation.estimate.folds import log_error_ratio
from dynid_ros.utilities.arrays import Array

#: Candidate delays, s. A parabola through the best three refines the delay. Drives respond late;
#: their signals are early where positions are filtered or stamped late.
DELAYS = np.linspace(0.0, 0.1, 41)
#: Blocks of time, each predicted by a fit to the others.
DELAY_BLOCKS = 20
#: Least rows for each parameter; with fewer, any delay fits.
ROWS_PER_COLUMN = 2
#: Ratio by which the cross-validated error must fall, and by how many standard errors over the
#: blocks: by chance, 1 % of recordings pass each way (Student's t with 19 degrees of freedom).
#: Friction at reversals looks like a delay, too. Removing such a delay changes the error of other
#: motions by +3 % to -9 %; it reaches a ratio of 1.12 with 2.3 standard errors at most. The other
#: way, none of 53 recordings and stretches, 41 of real arms, reaches 1.5 standard errors.
BETTER, DELAY_STANDARD_ERRORS = 1.1, 2.5


def estimate_delay(trial: TrialBlocks) -> float:
    """
    Find the delay with the lowest cross-validated error.

    Parameters
    ----------
    trial : TrialBlocks
        Rows of the lowest band, in which friction at reversals looks least like a delay.

    Returns
    -------
    float
        Delay, s, below zero for a signal that is early; zero if removing it does not improve the
        prediction significantly, or if there are too few rows.

    """
    return _one_way(trial, DELAYS) or _one_way(trial, -DELAYS)


def _one_way(trial: TrialBlocks, delays: Array) -> float:
    """Find the best of some delays, the first of which is zero."""
    solution = trial.solution
    products = None if solution is None else _products(trial, solution.sigma, delays)
    if solution is None or products is None:
        return 0.0
    information, score, squares = products
    prior = solution.prior_information, solution.prior[:, :-1].T @ solution.prior[:, -1:]
    training = information.sum(axis=0) - information, score.sum(axis=0) - score
    theta = np.linalg.solve(training[0] + prior[0], training[1] + prior[1])
    errors = _residual_squares(information, score, squares, theta)
    training_errors = _residual_squares(*training, squares.sum(axis=0) - squares, theta)
    best = np.argmin(training_errors, axis=1)
    mean, error = log_error_ratio(errors[np.arange(len(errors)), best], errors[:, 0])
    if mean + DELAY_STANDARD_ERRORS * error > 0 or mean > -np.log(BETTER):
        return 0.0
    return _best_delay(errors.sum(axis=0), delays)


def _products(
    trial: TrialBlocks, sigma: Array, delays: Array,
) -> tuple[Array, Array, Array] | None:
    """Return the products of each block: WᵀW, and Wᵀtau and tauᵀtau for all delays."""
    settings = trial.rows.settings
    W, tau = [], []
    for block in trial.rows.blocks(trial.arm):
        motion = trial.rows.motions[block.segment]
        reach = settings.decimator().reach / settings.rate_hz
        inside = (block.t <= motion.t[-1] - delays[-1] - reach if delays[-1] > 0 else
                  block.t >= motion.t[0] - delays[-1] + reach)
        # A stretch between gaps may be shorter than the low-pass reaches.
        if not inside.any():
            continue
        W.append(block.W[inside] / sigma[:, None])
        later = _later(motion, trial, block.t[inside], delays)
        tau.append(later * (block.moving[inside] / sigma)[:, :, None])
    if sum(map(len, W)) < ROWS_PER_COLUMN * DELAY_BLOCKS:
        return None
    rows, torque = np.concatenate(W), np.concatenate(tau)
    if rows[:, :, 0].size < ROWS_PER_COLUMN * rows.shape[2]:
        return None
    parts = [(w.reshape(-1, w.shape[2]), x.reshape(-1, len(delays))) for w, x in zip(
        np.array_split(rows, DELAY_BLOCKS), np.array_split(torque, DELAY_BLOCKS), strict=True)]
    return (np.array([w.T @ w for w, _ in parts]), np.array([w.T @ x for w, x in parts]),
            np.array([(x**2).sum(axis=0) for _, x in parts]))


def _later(motion: ConditionedMotion, trial: TrialBlocks, t: Array, delays: Array) -> Array:
    """Low-passed torque of a motion at some times plus each delay, (k, n, D)."""
    from scipy.interpolate import CubicSpline

    settings = trial.rows.settings
    low_pass = Decimator(settings.rate_hz, settings.cutoff_hz, 1)
    smooth = low_pass.whole(motion.tau)
    stamps = motion.t[low_pass.reach:low_pass.reach + len(smooth)]
    return np.asarray(CubicSpline(stamps, smooth)(t[:, None] + delays)).swapaxes(1, 2)


def _residual_squares(information: Array, score: Array, squares: Array, theta: Array) -> Array:
    """Squared residuals (K, D) of parameters (K, b, D)."""
    explained = (theta * (information @ theta - 2 * score)).sum(axis=1)
    return np.asarray(np.maximum(squares + explained, np.finfo(float).tiny))


def _best_delay(errors: Array, delays: Array) -> float:
    """Delay with the least error, interpolated between candidates, s."""
    k = int(np.argmin(errors))
    if k in (0, len(errors) - 1):
        return float(delays[k])
    bend = errors[k - 1] - 2 * errors[k] + errors[k + 1]
    slope = errors[k - 1] - errors[k + 1]
    return float(delays[k] + 0.5 * (delays[1] - delays[0]) * slope / bend)
