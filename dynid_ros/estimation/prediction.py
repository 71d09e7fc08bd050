"""Predicted torque of recordings, and what its errors say of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.result import Prediction
from dynid_ros.estimation.rows import regression_blocks
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
    result = []
    for _, group in groupby(blocks, key=lambda block: block.segment):
        parts = [
            (b.t, b.q, b.qd, *(np.where(b.moving, x, np.nan) for x in (b.tau, b.W @ theta)))
            for b in group
        ]
        arrays = (np.concatenate(column) for column in zip(*parts, strict=True))
        result.append(Prediction(source, held_out, *arrays))
    return result


def weighted_scores(
    arm: ArmModel,
    motions: Sequence[Motion],
    treatment: Treatment,
    theta: Array,
    sigma: Array,
) -> list[Array]:
    """
    Scores ``sum_i W_i e_i / sigma_i²`` of each sample, (N, b) for each stretch.

    They carry all that the covariance of the estimate needs to know of the residuals, and take
    n times less memory than the rows themselves.
    """
    blocks = regression_blocks(arm, motions, treatment, theta)
    weights = 1 / sigma**2
    return [
        np.concatenate([
            np.einsum('kib,ki->kb', b.W, (b.tau - b.W @ theta) * weights) for b in group
        ])
        for _, group in groupby(blocks, key=lambda block: block.segment)
    ]
