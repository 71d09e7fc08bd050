"""Noise of a recorded torque, and torque beside a model with the spectrum of its residual."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Sum of the squares of the weights 1, -2 and 1 of a second difference.
WEIGHTS = 6.0


def sensor_noise(model: IdentifiedModel, motions: Sequence[ConditionedMotion]) -> Array:
    """
    Estimate the standard deviation of the torque's noise from sample to sample, (n,), Nm.

    Second differences of the residual remove what is smooth in it, which is the error of the
    model: of white noise, their mean square is six times the variance.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    motions : sequence of ConditionedMotion
        Stretches with their torque as recorded.

    References
    ----------
    Gasser, Sroka and Jennen-Steinmetz 1986, Residual variance and residual pattern in nonlinear
    regression, Biometrika 73(3).

    """
    squares = [np.diff(each.tau - model.predict_torque(
        each.q, each.qd, each.qdd, history=history_of(each.t, each.q)), 2, axis=0)**2
        for each in motions if len(each.t) > 2]
    return np.asarray(np.sqrt(np.concatenate(squares).mean(axis=0) / WEIGHTS))
