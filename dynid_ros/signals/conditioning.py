"""Zero-phase conditioning: positions, velocities, accelerations and torque from raw samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import Drive, joint_torque
from dynid_ros.signals import conditioning_settings
from dynid_ros.signals.conditioning_settings import ConditioningSettings
from dynid_ros.signals.decimation import Decimator
from dynid_ros.signals.filters import butterworth, differentiate, nuttall_fir
from dynid_ros.signals.periodic import average_periods, harmonic_derivative, periodic_part, SAME
from dynid_ros.signals.segments import Segment
from dynid_ros.signals.standstill import moving

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConditionedMotion:
    """
    One conditioned stretch of a recording, at full rate.

    Attributes
    ----------
    t : (N,) ndarray
        Time since the start of the recording, s.
    q, qd, qdd : (N, n) ndarray
        Low-passed positions and their derivatives: rad, rad/s, rad/s².
    tau : (N, n) ndarray
        Torque at the joints, unfiltered: it is filtered and decimated together with the
        regressor.
    moving : (N, n) ndarray of bool
        False where a joint stands still.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    moving: NDArray[np.bool_]


def condition(
    segment: Segment, treatment: ConditioningSettings, drive: Drive
) -> ConditionedMotion:
    """
    Condition one stretch according to the settings.

    Parameters
    ----------
    segment : Segment
        Uniformly sampled stretch.
    treatment : ConditioningSettings
        Filter, cut-off and rate.
    drive : Drive
        From drive signal to torque.

    Returns
    -------
    ConditionedMotion
        The same stretch; or one period of its periodic part, extended at both ends by the reach
        of the decimating filter.

    """
    tau = joint_torque(segment.u, drive)
    rate = treatment.rate_hz
    if treatment.filter == 'periodic':
        return _one_period(segment, tau, treatment)
    if treatment.filter == 'fir':
        q = nuttall_fir(segment.q)
    else:
        q = butterworth(segment.q, rate, position_cutoff(treatment))
    qd = differentiate(q, rate)
    return ConditionedMotion(segment.t, q, qd, differentiate(qd, rate), tau, moving(qd, rate))


def position_cutoff(treatment: ConditioningSettings) -> float:
    """
    Place the cut-off for the positions, Hz.

    It is well above that of the rows, to keep the effect of friction when a joint reverses. The
    filter of the rows removes noise of the derivatives together with that of the torque.
    """
    limits = conditioning_settings.THRESHOLDS
    return min(limits.position_margin * treatment.cutoff_hz, limits.highest * treatment.rate_hz)


def _one_period(
    segment: Segment, tau: Array, treatment: ConditioningSettings
) -> ConditionedMotion:
    assert treatment.period is not None
    part = periodic_part(segment.q, treatment.rate_hz, treatment.period)
    q, rate = average_periods(segment.q[part], treatment.rate_hz, treatment.period, SAME)
    tau, _ = average_periods(tau[part], treatment.rate_hz, treatment.period)
    reach = Decimator(treatment).reach
    cutoff = position_cutoff(treatment)
    steps = np.arange(-reach, len(q) + reach)
    index = steps % len(q)
    q, qd, qdd = (harmonic_derivative(q, rate, cutoff, k)[index] for k in range(3))
    return ConditionedMotion(
        segment.t[part.start] + steps / rate, q, qd, qdd, tau[index], moving(qd, rate))
