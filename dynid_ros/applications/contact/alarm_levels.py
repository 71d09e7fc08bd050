# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Levels that the torque of an arm without contact exceeds at a wanted rate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from dynid_ros.applications.contact.friction_band import FrictionBand
from dynid_ros.arm.friction import JointHistory
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.signals.first_order import average_on
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import Prediction, torque_rows, torque_variance
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array, runs_of

#: Default rate of false alarms of all joints together, 1/h.
ALARMS_PER_HOUR = 1.0
#: Length of a piece, s, which counts by its largest residual. Residuals of real arms are
#: uncorrelated after 0.1 to 0.3 s.
PIECE = 0.5
#: The tail consists of the largest ``TAIL sqrt(N)`` of N values, and of this many at least.
TAIL, FEWEST_TAIL_VALUES = 2.0, 5


class AlarmLevels:
    """
    Find the level of a residual without contact, in standard deviations of the prediction.

    The standard deviation is that of `torque_variance`: by the covariance of the parameters and
    the residual of each joint.

    The residual of each joint passes the low-pass of the observer; the band of the friction is
    subtracted, and the rest is divided by the standard deviation of the prediction. Each `PIECE`
    is longer than the correlation of the residual and counts with its largest magnitude only,
    which accounts for coloured residuals. Divided by the root mean square of their joint, the
    values of all joints form one tail (see `tail_level`), so that the complete arm has the wanted
    rate of alarms. Residuals of fitted samples lengthen the tail, scaled to the size of the
    held-out ones. A model without residuals is assumed to have those of the fit, Gaussian.

    Parameters
    ----------
    model : IdentifiedModel
        The model, with its predictions.
    bandwidth_hz : float
        Of the observer.
    alarms_per_hour : float
        False alarms of all joints together, 1/h.

    Attributes
    ----------
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint in the fit, Nm; infinite for an unknown
        joint.
    ratio : (n,) ndarray
        Root mean square of the residual within the band of the identification, without the band of
        the friction, in these standard deviations.
    level : (n,) ndarray
        Magnitude that this residual exceeds at the wanted rate, in the same unit.
    rate : float
        Wanted rate of each joint, 1/s.
    held_out : bool
        Whether held-out samples determine the size of the residual.

    Raises
    ------
    InputError
        The rate is not above zero.

    """

    def __init__(
        self, model: IdentifiedModel, bandwidth_hz: float,
        alarms_per_hour: float = ALARMS_PER_HOUR,
    ) -> None:
        if not 0 < alarms_per_hour < np.inf:
            raise InputError(
                f'a rate of false alarms must be above zero, not {alarms_per_hour:g} an hour')
        n = model.arm.n
        self.rate = alarms_per_hour / 3600 / n
        self.sigma = np.where(model.sigma > 0, model.sigma, np.inf)
        self.ratio = np.ones(n)
        self.level = np.full(n, gaussian_level(bandwidth_hz, self.rate))
        sets = [(list(_residuals(model, part, bandwidth_hz)), part.held_out)
                for part in model.predictions]
        peaks, known = [np.empty(0)], np.zeros(n, dtype=bool)
        for joint in range(n):
            (own, size), (fitted, other) = (_together(
                [parts[joint] for parts, held_out in sets if held_out == kind])
                for kind in (True, False))
            # Scale fitted samples to the size of the held-out ones.
            factor = max(1.0, size / other) if size and other else 1.0
            values, size = np.concatenate([own, factor * fitted]), max(size, factor * other)
            known[joint] = len(values) >= 2 * FEWEST_TAIL_VALUES and size > 0
            if known[joint]:
                self.ratio[joint] = size
                peaks.append(values / size)
        if known.any():
            self.level[known] = self.ratio[known] * tail_level(
                np.concatenate(peaks), PIECE, self.rate)
        self.held_out = any(held_out for _, held_out in sets)


def gaussian_level(bandwidth_hz: float, rate: float) -> float:
    """
    Find the level that low-passed white noise exceeds at a rate, in standard deviations.

    ``rate = 2 a u phi(u)`` for the covariance ``exp(-a |t|)`` of a first-order low-pass: of
    ``u exp(-u²/2) = c``, the larger solution is ``u² = -W₋₁(-c²)`` by Lambert's function.

    References
    ----------
    Leadbetter, Lindgren and Rootzén 1983, Extremes and Related Properties of Random Sequences and
    Processes, theorem 12.2.9 with alpha = 1.

    """
    # The product is largest, 0.607, at one standard deviation.
    product = min(np.sqrt(2 * np.pi) * rate / (4 * np.pi * bandwidth_hz), 0.6)
    return float(np.sqrt(-lambertw(-product**2, -1).real))


def tail_level(values: Array, piece: float, rate: float) -> float:
    """
    Find the level that the largest value of a piece exceeds at a rate.

    The excess of the tail (see `TAIL`) is assumed exponential: bounded and Gaussian values fall
    off faster. Only m values determine its mean, so the level follows from the predictive
    distribution, ``rate(u) = rate(u0) (1 + (u - u0) / (m mean))^-m``.

    Parameters
    ----------
    values : (N,) ndarray
        Largest value of each piece, at least `FEWEST_TAIL_VALUES` + 1 of them.
    piece : float
        Length of a piece, s.
    rate : float
        Wanted rate, 1/s.

    References
    ----------
    Coles 2001, An Introduction to Statistical Modeling of Extreme Values, chapters 4 and 5.

    """
    m = min(max(FEWEST_TAIL_VALUES, round(TAIL * len(values)**0.5)), len(values) - 1)
    largest = np.partition(values, len(values) - m - 1)[-m - 1:]
    first = float(largest[0])
    excess = float((largest[1:] - first).mean())
    ratio = m / (len(values) * piece) / rate
    return float(first + m * excess * max(ratio ** (1 / m) - 1, 0.0))


def _residuals(
    model: IdentifiedModel, prediction: Prediction, bandwidth_hz: float,
) -> Iterator[tuple[Array, Array]]:
    """Return the largest values of each joint, see `AlarmLevels`, and all of its values."""
    period = float(np.median(np.diff(prediction.t))) if len(prediction.t) > 1 else PIECE
    # With a zero-order hold: rows are rarer than the low-pass is slow.
    pole = np.exp(-2 * np.pi * bandwidth_hz * period)
    history = history_of(prediction.t, prediction.q)
    _, width = FrictionBand(model).at(prediction.q, prediction.qd, history)
    std = _spread(model, prediction, period, history)
    size = max(1, round(PIECE / period))
    breaks = np.flatnonzero(np.diff(prediction.t) > 1.5 * period) + 1
    error = (prediction.tau - prediction.tau_hat) / std
    for one, own in zip(error.T, (width / std).T, strict=True):
        peaks, values = [np.empty(0)], [np.empty(0)]
        for part in _stretches(one, breaks, 2 * size):
            both = np.column_stack([one[part], own[part]])
            # Initialise by the first value.
            low = np.concatenate([np.zeros((1, 2)), np.repeat(both[:1], size - 1, axis=0), both])
            average_on(pole, low, np.zeros(2))
            low = low[size - 1:-1]
            beside = np.maximum(np.abs(low[:, 0]) - low[:, 1], 0.0)
            values.append(beside)
            pieces = len(beside) // size
            peaks.append(beside[:pieces * size].reshape(pieces, size).max(axis=1))
        yield np.concatenate(peaks), np.concatenate(values)


def _spread(
    model: IdentifiedModel, prediction: Prediction, period: float, history: JointHistory,
) -> Array:
    """Return the standard deviation of predictions, (N, n), Nm; infinite where unknown."""
    qd = prediction.qd
    qdd = np.gradient(qd, period, axis=0) if len(qd) > 1 else np.zeros_like(qd)
    std = np.empty_like(qd)
    for part, Y in torque_rows(model.arm, model.theta, prediction.q, qd, qdd, history):
        std[part] = np.sqrt(torque_variance(Y, model.covariance, model.sigma))
    return np.where(model.sigma > 0, std, np.inf)


def _stretches(error: Array, breaks: NDArray[np.int64], least: int) -> Iterator[slice]:
    """Stretches of one joint in motion, without gaps, that are long enough."""
    for start, stop in runs_of(np.isfinite(error)):
        for a, b in pairwise([start, *breaks[(breaks > start) & (breaks < stop)].tolist(), stop]):
            if b - a >= least:
                yield slice(a, b)


def _together(parts: list[tuple[Array, Array]]) -> tuple[Array, float]:
    """All largest values of some predictions, and the root mean square of all values."""
    peaks, values = (np.concatenate([np.empty(0), *(part[k] for part in parts)]) for k in (0, 1))
    return peaks, float(np.sqrt((values**2).mean())) if len(values) else 0.0
