"""Levels that the torque of an arm without contact exceeds as seldom as wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid_ros.contact.friction_band import FrictionBand
from dynid_ros.errors import InputError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.signals.first_order import Discretisation, filtered

Array = NDArray[np.float64]

#: Default rate of false alarms of the whole arm, 1/h.
ALARMS_PER_HOUR = 1.0
#: Length of a piece of which the largest residual counts, s. Residuals of real arms forget their
#: value within 0.1 to 0.3 s.
PIECE = 0.5
#: The largest ``TAIL sqrt(N)`` of N values make the tail, and so many at least.
TAIL, LEAST = 2.0, 5


@dataclass(frozen=True, eq=False)
class AlarmLevels:
    """
    What a residual without contact may reach.

    Attributes
    ----------
    level : (n,) ndarray
        Magnitude that the residual within the band of the identification exceeds at the wanted
        rate, beside the band of the friction, Nm; infinite where nothing is known of a joint.
    rms : (n,) ndarray
        Root mean square of this residual, Nm.
    rate : float
        Wanted rate of each joint, 1/s.
    deviations : float
        The same level of Gaussian noise that the observer low-passes, in standard deviations.
    held_out : bool
        Whether samples that were not used for fitting give the size of the residual.

    """

    level: Array
    rms: Array
    rate: float
    deviations: float
    held_out: bool


def alarm_levels(
    model: IdentifiedModel, bandwidth_hz: float, alarms_per_hour: float = ALARMS_PER_HOUR,
) -> AlarmLevels:
    """
    Find the levels of a model from its residuals.

    The residual of each joint goes through the low-pass of the observer, and the band of the
    friction is taken off. In each `PIECE`, which is longer than the memory of the residual, the
    largest magnitude counts once; so the colour of the residual is taken into account. In the tail
    of these values (see `TAIL`), their excess is taken for exponential: bounded and Gaussian
    residuals fall off faster. The mean excess is known from m values only, so that the level is
    that of the predictive distribution, ``rate(u) = rate(u0) (1 + (u - u0) / (m mean))^-m``.
    Residuals of fitted samples make the tail longer, in the size of the held-out ones. The alarms
    are shared out equally among the joints.

    Parameters
    ----------
    model : IdentifiedModel
        The model, with its predictions.
    bandwidth_hz : float
        Of the observer.
    alarms_per_hour : float
        False alarms of the whole arm, 1/h.

    Raises
    ------
    InputError
        The rate is not above zero.

    References
    ----------
    Coles 2001, An Introduction to Statistical Modeling of Extreme Values, chapters 4 and 5.

    """
    if not 0 < alarms_per_hour < np.inf:
        raise InputError(
            f'a rate of false alarms must be above zero, not {alarms_per_hour:g} an hour')
    n, rate = model.arm.n, alarms_per_hour / 3600 / model.arm.n
    deviations = gaussian_level(bandwidth_hz, rate)
    # Without residuals, those of the fit are taken for Gaussian.
    rms = np.where(model.sigma > 0, model.sigma, np.inf)
    level = deviations * rms
    sets = [list(_residuals(model, prediction, bandwidth_hz)) for prediction in model.predictions]
    held = np.array([prediction.held_out for prediction in model.predictions], dtype=bool)
    for joint in range(n):
        parts = [own[joint] for own in sets]
        values, size = _scaled([p for p, h in zip(parts, held, strict=True) if h],
                               [p for p, h in zip(parts, held, strict=True) if not h])
        if len(values) >= 2 * LEAST:
            rms[joint] = size
            level[joint] = tail_level(values, PIECE, rate)
    return AlarmLevels(level, rms, rate, deviations, bool(held.any()))


def gaussian_level(bandwidth_hz: float, rate: float) -> float:
    """
    Level that low-passed white noise exceeds at a rate, to either side, standard deviations.

    ``rate = 2 a u phi(u)`` for the covariance ``exp(-a |t|)`` of a first-order low-pass.

    References
    ----------
    Leadbetter, Lindgren and Rootzén 1983, Extremes and Related Properties of Random Sequences and
    Processes, theorem 12.2.9 with alpha = 1.

    """
    a, u = 2 * np.pi * bandwidth_hz, 5.0
    for _ in range(50):
        u = float(np.sqrt(2 * max(np.log(2 * a * u / np.sqrt(2 * np.pi) / rate), 0.5)))
    return u


def tail_level(values: Array, piece: float, rate: float) -> float:
    """
    Level that the largest value of a piece exceeds at a rate.

    Parameters
    ----------
    values : (N,) ndarray
        Largest value of each piece, at least `LEAST` + 1 of them.
    piece : float
        Length of a piece, s.
    rate : float
        Wanted rate, 1/s.

    """
    ordered = np.sort(values)[::-1]
    m = min(max(LEAST, round(TAIL * len(ordered)**0.5)), len(ordered) - 1)
    first = ordered[m]
    excess = float((ordered[:m] - first).mean())
    ratio = m / (len(ordered) * piece) / rate
    return float(first + m * excess * max(ratio ** (1 / m) - 1, 0.0))


def _residuals(
    model: IdentifiedModel, prediction: Prediction, bandwidth_hz: float,
) -> Iterator[tuple[Array, float, int]]:
    """Largest values beside the friction of each joint, with square sum and number of samples."""
    period = float(np.median(np.diff(prediction.t))) if len(prediction.t) > 1 else PIECE
    # Rows are rarer than the low-pass is slow, and Simpson's rule would average them.
    lowpass = Discretisation.zero_order_hold(2 * np.pi * bandwidth_hz, period)
    _, width = FrictionBand(model).at(prediction.q, prediction.qd)
    size = max(1, round(PIECE / period))
    breaks = np.flatnonzero(np.diff(prediction.t) > 1.5 * period) + 1
    for error, own in zip((prediction.tau - prediction.tau_hat).T, width.T, strict=True):
        peaks, total, count = [np.empty(0)], 0.0, 0
        for part in _stretches(error, breaks, 2 * size):
            both = np.column_stack([error[part], own[part]])
            # From the first value on, as if it had been there before.
            both = np.concatenate([np.repeat(both[:1], size, axis=0), both])
            low = filtered(lowpass, both)[size - 2:]
            beside = np.maximum(np.abs(low[:, 0]) - low[:, 1], 0.0)
            total, count = total + float((beside**2).sum()), count + len(beside)
            pieces = len(beside) // size
            peaks.append(beside[:pieces * size].reshape(pieces, size).max(axis=1))
        yield np.concatenate(peaks), total, count


def _stretches(error: Array, breaks: NDArray[np.int64], least: int) -> Iterator[slice]:
    """Stretches of one joint in motion, without gaps, that are long enough."""
    moves = np.isfinite(error)
    edges = np.flatnonzero(np.diff(moves.astype(np.int8))) + 1
    cuts = np.unique(np.concatenate([[0], edges, breaks, [len(error)]]))
    for start, stop in pairwise(cuts.tolist()):
        if moves[start] and stop - start >= least:
            yield slice(start, stop)


def _scaled(
    held: list[tuple[Array, float, int]], fitted: list[tuple[Array, float, int]],
) -> tuple[Array, float]:
    """All peaks, those of fitted samples in the size of the held-out ones, and the rms."""
    def rms(parts: list[tuple[Array, float, int]]) -> float:
        count = sum(part[2] for part in parts)
        return float(np.sqrt(sum(part[1] for part in parts) / count)) if count else 0.0

    own, other = rms(held), rms(fitted)
    factor = max(1.0, own / other) if own and other else 1.0
    peaks = [*(part[0] for part in held), *(factor * part[0] for part in fitted), np.empty(0)]
    return np.concatenate(peaks), max(own, factor * other)
