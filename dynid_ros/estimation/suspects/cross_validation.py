# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Prediction of each group of samples from the others, by a suspect and by the recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class Prediction:
    """
    Prediction of each group of samples from the others.

    Attributes
    ----------
    values : (K,) ndarray
        Log likelihood of each group.
    residual_squares, power : (K, m) ndarray
        Squares of the residuals and of the torque of each compared joint.
    dispersion : float
        Factor by which model errors enlarge differences of log likelihood, at least one: see
        `Likelihood.dispersion`.
    mixing : (m, m) ndarray
        The torque of the compared joints is assumed to be this multiple of the measured one.

    """

    values: Array
    residual_squares: Array
    power: Array
    dispersion: float
    mixing: Array

    @property
    def error_percent(self) -> float:
        """Cross-validated torque error, %."""
        return 100 * float(np.sqrt(self.residual_squares.sum() / max(self.power.sum(), TINY)))

    @property
    def share_without_worst(self) -> Array:
        """Unexplained share (m,) of each joint without the worst group, say with a collision."""
        squares = self.residual_squares
        squares = (squares.sum(axis=0) - squares.max(axis=0)) / max(len(squares) - 1, 1)
        # Of the power, it counts: it spoils the fits to which the other groups are compared.
        return np.asarray(np.sqrt(squares / np.maximum(self.power.mean(axis=0), TINY)))


def evidence_of(prediction: Prediction, reference: Prediction) -> float:
    """Return the cross-validated gain without the best group, by the dispersion."""
    gains = prediction.values - reference.values
    return float(gains.sum() - gains.max()) / prediction.dispersion


def error_before_percent(reference: Prediction, prediction: Prediction) -> float:
    """
    Return the torque error without a correction, relative to the corrected torque, %.

    Parameters
    ----------
    reference : Prediction
        Of the recording as it is.
    prediction : Prediction
        Of the corrected one, whose own error is relative to the same torque.

    """
    # The correction exchanges and scales residuals as it does signals.
    mixing = np.linalg.solve(reference.mixing, prediction.mixing)
    squares = reference.residual_squares.sum(axis=0) @ mixing**2
    return float(100 * np.sqrt(squares.sum() / max(prediction.power.sum(), TINY)))
