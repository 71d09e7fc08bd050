"""Delay of all drive signals relative to the motion."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.estimation.band.trial_blocks import TrialBlocks
from dynid_ros.estimation.estimate.folds import log_error_ratio
from dynid_ros.utilities.arrays import Array

#: Delays that are tried, s: drives answer late, never early. A parabola through the best three
#: gives the delay between them.
DELAYS = np.linspace(0.0, 0.1, 41)
#: Blocks of time, each predicted by a fit to the others.
BLOCKS = 20
#: Rows of each parameter without which any delay fits.
ROWS_PER_COLUMN = 2
#: Ratio by which errors of blocks that were not fitted must fall, and the standard errors of that
#: over the blocks: by chance, 1 % of recordings pass (Student's t of 19 degrees of freedom).
#: Friction of a joint that turns round looks like a delay, too, and removing that makes the error
#: of other motions worse by 3 % to better by 9 %; it makes 1.12 at most with 2.3 standard errors.
BETTER, STANDARD_ERRORS = 1.1, 2.5


def estimate_delay(trial: TrialBlocks) -> float:
    """
    Find the delay with which fits predict the drive signal of other blocks best.

    Parameters
    ----------
    trial : TrialBlocks
        Rows of the lowest band, in which friction at reversals looks least like a delay.

    Returns
    -------
    float
        s; zero if removing it does not improve the prediction significantly, or if there are too
        few rows.

    """
    solution = trial.solution
    products = None if solution is None else _products(trial, solution.sigma)
    if solution is None or products is None:
        return 0.0
    information, score, squares = products
    prior = solution.prior_information, solution.prior[:, :-1].T @ solution.prior[:, -1:]
    others = information.sum(axis=0) - information, score.sum(axis=0) - score
    theta = np.linalg.solve(others[0] + prior[0], others[1] + prior[1])
    left = _left(information, score, squares, theta)
    fitted = _left(*others, squares.sum(axis=0) - squares, theta)
    best = np.argmin(fitted, axis=1)
    mean, error = log_error_ratio(left[np.arange(len(left)), best], left[:, 0])
    if mean + STANDARD_ERRORS * error > 0 or mean > -np.log(BETTER):
        return 0.0
    return _lowest(left.sum(axis=0))


def _products(trial: TrialBlocks, sigma: Array) -> tuple[Array, Array, Array] | None:
    """Sum the products of each block: WᵀW, and Wᵀtau and tauᵀtau for all delays."""
    settings = trial.rows.settings
    W, tau = [], []
    for block in trial.rows.blocks(trial.arm):
        motion = trial.rows.motions[block.segment]
        reach = settings.decimator().reach / settings.rate_hz
        inside = block.t <= motion.t[-1] - DELAYS[-1] - reach
        W.append(block.W[inside] / sigma[:, None])
        later = _later(motion, trial, block.t[inside])
        tau.append(later * (block.moving[inside] / sigma)[:, :, None])
    if sum(map(len, W)) < ROWS_PER_COLUMN * BLOCKS:
        return None
    rows, torque = np.concatenate(W), np.concatenate(tau)
    if rows[:, :, 0].size < ROWS_PER_COLUMN * rows.shape[2]:
        return None
    parts = [(w.reshape(-1, w.shape[2]), x.reshape(-1, len(DELAYS))) for w, x in zip(
        np.array_split(rows, BLOCKS), np.array_split(torque, BLOCKS), strict=True)]
    return (np.array([w.T @ w for w, _ in parts]), np.array([w.T @ x for w, x in parts]),
            np.array([(x**2).sum(axis=0) for _, x in parts]))


def _later(motion: ConditionedMotion, trial: TrialBlocks, t: Array) -> Array:
    """Low-passed torque of a motion by each of the delays after some times, (k, n, D)."""
    from scipy.interpolate import CubicSpline

    settings = trial.rows.settings
    low_pass = Decimator(settings.rate_hz, settings.cutoff_hz, 1)
    smooth = low_pass.whole(motion.tau)
    spline = CubicSpline(motion.t[low_pass.reach:low_pass.reach + len(smooth)], smooth)
    return np.asarray(spline(t[:, None] + DELAYS)).swapaxes(1, 2)


def _left(information: Array, score: Array, squares: Array, theta: Array) -> Array:
    """Squared torque that parameters (K, b, D) leave, (K, D)."""
    explained = (theta * (information @ theta - 2 * score)).sum(axis=1)
    return np.asarray(np.maximum(squares + explained, np.finfo(float).tiny))


def _lowest(left: Array) -> float:
    """Delay of the least error, between those that were tried, s."""
    k = int(np.argmin(left))
    if k in (0, len(left) - 1):
        return float(DELAYS[k])
    bend = left[k - 1] - 2 * left[k] + left[k + 1]
    return float(DELAYS[k] + 0.5 * (DELAYS[1] - DELAYS[0]) * (left[k - 1] - left[k + 1]) / bend)
