"""Whether undoing a fault helps more than it would on a recording that has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.diagnosis.hypothesis import EVERYTHING, Hypothesis, NOTHING
from dynid_ros.diagnosis.trial_rows import block_numbers, BLOCKS, FOLDS, trial_regressor
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.model.metrics import TINY

Array = NDArray[np.float64]

#: Recordings without a fault that look like the one in question.
SURROGATES = 5
#: Standard errors over the blocks by which undoing a fault must lower their errors.
STANDARD_ERRORS = 3.0


def pays(base: Hypothesis, each: Hypothesis) -> bool:
    """
    Whether undoing a fault lowers the errors of blocks that were not fitted, of most of them.

    Parameters
    ----------
    base, each : Hypothesis
        The recording as it is, and with the fault undone.

    """
    gain = gain_by_block(base, each)
    return bool(gain.mean() > STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))


def gain_by_block(base: Hypothesis, each: Hypothesis) -> Array:
    """Logarithms by which a hypothesis lowers the errors of a block, summed over the joints."""
    joints = each.compared
    ratio = left_by_block(base)[:, joints] / left_by_block(each)[:, joints]
    return np.asarray(np.log(ratio).sum(axis=1))


def left_by_block(each: Hypothesis) -> Array:
    """Share of the torque of each joint (K, n) that fits to other folds leave of a block."""
    base, samples = base_parameters(each.arm).columns, each.samples
    W = trial_regressor(each.arm, samples, base, each.loaded)
    tau = (samples.tau @ each.mixing) * samples.moving
    block, squares = block_numbers(len(tau)), np.zeros((2, BLOCKS, each.arm.n))
    for fold in range(FOLDS):
        theta, _ = each.rows.without(fold).fit(each.mixing, each.compared)
        residual = tau - W @ theta * samples.moving
        for k in range(fold, BLOCKS, FOLDS):
            squares[:, k] = [(x[block == k]**2).sum(axis=0) for x in (residual, tau)]
    share = np.sqrt(squares[0] / np.maximum(squares[1], TINY))
    return np.asarray(np.clip(share, NOTHING, EVERYTHING))


def surrogates(base: Hypothesis) -> Iterator[Hypothesis]:
    """
    Make recordings of the same motion that the arm as described explains.

    Their torque is that of the fit, plus its residuals, moved in time, so that they keep their
    size and their correlation in time and between joints, and lose that to the motion.

    Parameters
    ----------
    base : Hypothesis
        The recording as it is.

    """
    samples = base.samples
    theta, _ = base.rows.fit(base.mixing, base.compared)
    W = trial_regressor(base.arm, samples, base_parameters(base.arm).columns)
    residual = (samples.tau - W @ theta) * samples.moving
    for k in range(1, SURROGATES + 1):
        moved = np.roll(residual, k * len(residual) // (SURROGATES + 1), axis=0)
        change = (moved - residual) * samples.moving
        yield base.on(replace(samples, tau=samples.tau + change,
                              later=samples.later + change[:, :, None]))
