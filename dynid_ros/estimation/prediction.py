"""Predicted torque of recordings, and what its errors say of the estimate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.result import Prediction
from dynid_ros.estimation.rows import Block, regression_blocks
from dynid_ros.signals.conditioning import Motion
from dynid_ros.signals.treatment import Treatment

Array = NDArray[np.float64]


def predict(
    arm: ArmModel,
    motions: Sequence[Motion],
    treatment: Treatment,
    theta: Array,
    source: str,
    held_out: bool,
) -> list[Prediction]:
    """
    Predict the torque of each stretch of a recording.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of Motion
        Conditioned stretches.
    treatment : Treatment
        Cut-off and decimation.
    theta : (b,) ndarray
        Base parameters.
    source : str
        Name of the samples.
    held_out : bool
        False if they were used for fitting.

    Returns
    -------
    list of Prediction
        One for each stretch that is long enough.

    """
    blocks = regression_blocks(arm, motions, treatment, theta)
    stretches = groupby(blocks, key=lambda block: block.segment)
    return [
        _joined([_predicted(b, theta) for b in group], source, held_out) for _, group in stretches
    ]


def weighted_scores(blocks: Iterable[Block], theta: Array, sigma: Array) -> list[Array]:
    """
    Score an estimate, sample by sample: ``sum_i W_i e_i / sigma_i²``.

    Scores are all that the covariance of the estimate needs to know of the residuals, in n times
    less memory than the rows themselves.

    Parameters
    ----------
    blocks : iterable of Block
        The rows that were fitted.
    theta : (b,) ndarray
        Base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    Returns
    -------
    list of (N, b) ndarray
        One for each stretch.

    """
    return [
        np.concatenate([
            np.einsum('kib,ki->kb', b.W, (b.tau - b.W @ theta) / sigma**2) for b in group
        ])
        for _, group in groupby(blocks, key=lambda block: block.segment)
    ]


def _predicted(block: Block, theta: Array) -> tuple[Array, ...]:
    torques = (np.where(block.moving, x, np.nan) for x in (block.tau, block.W @ theta))
    return (block.t, block.q, block.qd, *torques)


def _joined(parts: Sequence[tuple[Array, ...]], source: str, held_out: bool) -> Prediction:
    t, q, qd, tau, tau_hat = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Prediction(source, held_out, t, q, qd, tau, tau_hat)
