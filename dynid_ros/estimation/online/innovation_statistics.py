# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Running statistics of the innovations: noise, autocorrelation and prediction error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.diagnosis import outliers
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel

#: Variance of a standard normal distribution clipped at `CUT_DEVIATIONS`.
_CLIPPED_VARIANCE = 0.9946

# Thresholds of innovations and of their noise, measured by benchmarks/thresholds.py on real arms
# (UR10, Panda, TX40), simulated arms and planted defects.
#: Rows over which noise and metrics are averaged.
MEMORY_ROWS = 300
#: Standard deviations at which an innovation is clipped before it updates the noise.
CUT_DEVIATIONS = 3.0
#: Standard deviations beyond which an innovation is an outlier, and is not fitted. Good recordings
#: reach 14; the usual torque, added to a joint for a tenth of a second, makes 4.4 to 52. Live, no
#: collision is detected while the model is uncertain.
INNOVATION_DEVIATIONS = 30.0
#: The same for an innovation next to an outlier: the low-pass spreads a collision over its
#: neighbours. In good recordings, at most 0.9 % of the rows have to wait.
DOUBTFUL_DEVIATIONS = 5.0
#: Largest correlation of successive errors. A larger one means an offset instead of noise.
LARGEST_CORRELATION = 0.99
#: Innovations of a joint after which its noise is known.
KNOWN_ROWS = 50
#: Innovations of a joint after which outliers are detected.
SOME_ROWS = 10


@dataclass(frozen=True)
class RunningMetrics:
    """
    A-priori prediction error of torque, over the last rows.

    Rows count once the variance of their prediction is below that of the noise or their torque.

    Attributes
    ----------
    rmse : (n,) ndarray
        Root mean square of the innovations of each joint, Nm.
    relative_error_percent : (n,) ndarray
        ``100 ‖tau - tau_hat‖ / ‖tau‖`` of each joint.
    r2 : (n,) ndarray
        Coefficient of determination of each joint.
    overall_percent : float
        Relative error over all joints.

    """

    rmse: Array
    relative_error_percent: Array
    r2: Array
    overall_percent: float


class InnovationStatistics(Checkpointed):
    """
    Running statistics of prediction errors of n joints.

    Parameters
    ----------
    joints : int
        n.

    Attributes
    ----------
    noise : (4, n) ndarray
        For each joint: variance of the innovations without the part that comes from uncertain
        parameters (Nm²), covariance with the row before, last innovation in units of its
        spread, number of innovations used.
    sums : (4, n) ndarray
        Weighted sums for the metrics: rows, squared errors, squared torques, torques.
    endless : bool
        Whether metrics average over all rows instead of the last `MEMORY_ROWS`.

    """

    saved = ('noise', 'sums', 'endless')

    def __init__(self, joints: int) -> None:
        self.noise = np.zeros((4, joints))
        self.sums = np.zeros((4, joints))
        self.endless = False

    def restart_metrics(self, *, endless: bool) -> None:
        """Restart the metrics, over the last rows or over all rows to come."""
        self.sums[:] = 0.0
        self.endless = endless

    def take(
        self, e: Array, spread: Array, tau: Array, moving: NDArray[np.bool_], start: Array
    ) -> None:
        """
        Update the statistics with the innovations of some rows.

        Parameters
        ----------
        e : (k, n) ndarray
            Measured minus predicted torque, Nm.
        spread : (k, n) ndarray
            Variance of the prediction, Nm².
        tau : (k, n) ndarray
            Measured torque, Nm.
        moving : (k, n) ndarray of bool
            Which rows count.
        start : (n,) ndarray
            Initial variance, before the first innovation.

        """
        fresh = self.noise[3] == 0
        self.noise[0, fresh] = start[fresh]
        # Predictions by uncertain parameters do not validate the model.
        counted = moving & (spread <= np.maximum(self.noise[0], tau**2))
        track_noise(e, np.where(moving, spread, np.inf), self.noise,
                    CUT_DEVIATIONS, KNOWN_ROWS, MEMORY_ROWS)
        count = counted.sum(axis=0)
        keep = 1.0 if self.endless else (1.0 - 1.0 / MEMORY_ROWS) ** count
        e, tau = e * counted, tau * counted
        new = [count, (e**2).sum(axis=0), (tau**2).sum(axis=0), tau.sum(axis=0)]
        self.sums[:] = keep * self.sums + new

    def outliers(
        self, e: Array, spread: Array, torque: Array,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """
        Find outliers: innovations of more than `INNOVATION_DEVIATIONS`.

        Parameters
        ----------
        e, spread : (k, n) ndarray
            As for `take`.
        torque : (n,) ndarray
            Root mean square torque of each joint, Nm.

        Returns
        -------
        wild, doubtful : (k, n) ndarray of bool
            Outliers, and innovations that may belong to one; False where the prediction is less
            certain than the measurement. Lasting changes become noise after some time, since
            `take` tracks them.

        """
        sure = (self.noise[3] >= SOME_ROWS) & (spread <= self.noise[0])
        least = outliers.TORQUE_SHARE * torque
        std = np.sqrt(self.noise[0] + spread)
        wild = sure & (np.abs(e) > np.maximum(INNOVATION_DEVIATIONS * std, least))
        return wild, sure & ~wild & (np.abs(e) > DOUBTFUL_DEVIATIONS * std)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Joints whose noise is known from enough innovations, (n,)."""
        return np.asarray(self.noise[3] >= KNOWN_ROWS)

    @property
    def variance(self) -> Array:
        """Variance of the noise of each joint, (n,), Nm²."""
        return np.asarray(np.maximum(self.noise[0], np.finfo(float).tiny))

    @property
    def correlation(self) -> Array:
        """Correlation of the noise of each joint from one row to the next, (n,)."""
        return np.asarray(np.clip(self.noise[1] / self.variance, 0.0, LARGEST_CORRELATION))

    @property
    def inflation(self) -> Array:
        """
        Inflate the variance of a mean by the autocorrelation factor, (n,).

        ``(1 + r) / (1 - r)`` for a first-order autoregressive process of correlation r (Hamilton
        1994, Time Series Analysis, section 7.2).
        """
        r = self.correlation
        return np.asarray((1 + r) / (1 - r))

    @property
    def metrics(self) -> RunningMetrics:
        """Metrics of the last rows."""
        rows, squares, power, sums = self.sums
        spread = power - sums**2 / np.maximum(rows, 1.0)
        return RunningMetrics(
            np.sqrt(squares / np.maximum(rows, 1.0)), 100 * np.sqrt(_ratio(squares, power)),
            1 - _ratio(squares, spread),
            float(100 * np.sqrt(_ratio(squares.sum(), power.sum()))),
        )


def _ratio(part: Array, whole: Array) -> Array:
    """Divide; zero where the denominator is zero."""
    there = np.asarray(whole) > 0
    return np.asarray(np.where(there, part, 0.0) / np.where(there, whole, 1.0))


@kernel
def track_noise(
    e: Array, spread: Array, noise: Array, cut: float, known: int, memory: int,
) -> None:
    """
    Update the noise of `InnovationStatistics` row by row.

    The update is robust in the sense of Huber: a single outlier counts as `cut` standard
    deviations, but the estimate follows a lasting increase. Rows whose prediction is less certain
    than the measurement do not count.

    Parameters
    ----------
    e, spread : (k, n) ndarray
        Innovations and variance of the prediction.
    noise : (4, n) ndarray
        As in `InnovationStatistics`; updated.
    cut, known, memory : float, int and int
        See the constants above.

    """
    for k in range(e.shape[0]):
        for i in range(e.shape[1]):
            variance = noise[0, i]
            if not spread[k, i] <= variance:
                continue
            u = e[k, i] * np.sqrt(variance / (variance + spread[k, i]))
            limit = cut * np.sqrt(variance)
            u = min(max(u, -limit), limit)
            noise[3, i] += 1.0
            gain = 1.0 / min(noise[3, i] + known, memory)
            noise[0, i] += gain * (u * u / _CLIPPED_VARIANCE - variance)
            noise[1, i] += gain * (u * noise[2, i] - noise[1, i])
            noise[2, i] = u
