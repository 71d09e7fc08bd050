# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Noise of a recorded torque, and random torque with the spectrum of a model's residual."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.applications.export.format_friction import row_motions, SAMPLES_PER_ROW
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.dynamics.rigid_parameters import rigid_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Most rows of the residual: five minutes or more determine its spectrum well enough.
MOST_ROWS = 2**14
#: Samples of a series of noise, which is cut into parts.
NOISE_SAMPLES = 2**13
#: Sum of the squares of the weights 1, -2 and 1 of a second difference.
DIFFERENCE_SQUARES = 6.0


def sensor_noise(model: IdentifiedModel, motions: Sequence[ConditionedMotion]) -> Array:
    """
    Estimate the standard deviation of the torque's noise from sample to sample, (n,), Nm.

    Second differences remove the smooth part of the residual, which is the error of the model; for
    white noise, their mean square is six times the variance.

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
    squares = []
    for each in motions:
        # This many samples of an hour are enough.
        t, q, qd, qdd, tau = (getattr(each, name)[:MOST_ROWS]
                              for name in ('t', 'q', 'qd', 'qdd', 'tau'))
        residual = tau - model.predict_torque(q, qd, qdd, history=history_of(t, q))
        squares.append(np.diff(residual, 2, axis=0)**2)
    return np.asarray(np.sqrt(np.concatenate(squares).mean(axis=0) / DIFFERENCE_SQUARES))


def fast_noise(
    level: Array, rate_hz: float, low_pass: Decimator, times: Array, count: int,
    rng: np.random.Generator,
) -> Array:
    """
    Draw the part of white noise that a low-pass removes, (count, K, n) at times (K,), s, Nm.

    Together with a filtered residual it is the complete error of the recorded torque.

    Parameters
    ----------
    level : (n,) ndarray
        From `sensor_noise`.
    rate_hz : float
        Rate of the samples, between which the torque is linear.
    low_pass : Decimator
        The filter, at this rate.
    times : (K,) ndarray
        Times since the restart.
    count : int
        Number of series.
    rng : Generator
        Random numbers.

    """
    size = max(NOISE_SAMPLES, len(low_pass.taps))
    gain = np.abs(np.fft.rfft(low_pass.taps, size))[:, None]
    noise = np.fft.rfft(level * rng.normal(size=(size, len(level))), axis=0)
    series = np.fft.irfft(np.sqrt(np.maximum(1 - gain**2, 0.0)) * noise, size, axis=0)
    return _at_random_places(series, rate_hz, times, count, rng)


def _at_random_places(
    series: Array, rate_hz: float, times: Array, count: int, rng: np.random.Generator,
) -> Array:
    """Take a periodic series (N, n) at times (K,) from random starts, (count, K, n)."""
    length = len(series) / rate_hz
    wanted = times + length * rng.random((count, 1))
    at = np.arange(len(series)) / rate_hz
    return np.stack([np.interp(wanted, at, own, period=length) for own in series.T], axis=-1)


class TorqueError:
    """
    Residual torque of an exported model, in held-out rows if the model keeps any.

    Draws have the amplitudes of its spectrum and random phases, the same for all joints: they are
    as coloured as the residual, and as correlated between joints.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    exported : ArmModel
        What the format holds of it, from `simple_arm`.

    Attributes
    ----------
    rows : (N, n) ndarray
        Residual after the low-pass of the fit, zero at rest, without the offset that the model
        has, Nm.
    rate_hz : float
        Their rate.

    Raises
    ------
    InputError
        The result keeps no torque over time.

    References
    ----------
    Prichard and Theiler 1994, Generating surrogate data for time series with several
    simultaneously measured variables, Physical Review Letters 73(7).

    """

    def __init__(self, model: IdentifiedModel, exported: ArmModel) -> None:
        motions = (row_motions(model, held_out=True) or row_motions(model, held_out=False))
        if not motions:
            raise InputError(
                f"the result of '{model.arm.name}' keeps no torque over time (prediction.npz), so "
                'that the error of its samples is unknown; identify again')
        links, none = rigid_parameters(exported), np.zeros(exported.n)
        viscous, coulomb = (exported.friction_nominal.get(name, none)
                            for name in ('viscous', 'coulomb'))
        offset = model.possible_arm.friction_nominal.get('offset', none)
        left = [each.part.tau - offset - each.at_rows(
            links.torque(each.q, each.qd, each.qdd) + viscous * each.qd
            + coulomb * np.sign(each.qd)) for each in motions]
        self.rows = np.nan_to_num(np.concatenate(left)[:MOST_ROWS])
        self.rate_hz = model.row_rate_hz

    def draw(self, times: Array, count: int, rng: np.random.Generator) -> Array:
        """Draw torque (count, K, n) at times (K,), s, from random places of one such series."""
        series = np.fft.rfft(self.rows, axis=0)
        series *= np.exp(2j * np.pi * rng.random((len(series), 1)))
        # The mean has a sign instead of a phase.
        series[0] = np.abs(series[0]) * rng.choice([-1.0, 1.0])
        fine = SAMPLES_PER_ROW * np.fft.irfft(series, SAMPLES_PER_ROW * len(self.rows), axis=0)
        return _at_random_places(fine, SAMPLES_PER_ROW * self.rate_hz, times, count, rng)
