"""From raw samples to positions, velocities, accelerations and torque, without phase lag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import Drive
from dynid_ros.signals.decimation import Decimator
from dynid_ros.signals.filters import butterworth, differentiate, nuttall_fir
from dynid_ros.signals.periodic import average_periods, harmonic_derivative
from dynid_ros.signals.segments import Segment
from dynid_ros.signals.standstill import moving
from dynid_ros.signals.treatment import Treatment

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """
    One conditioned stretch of a recording, at full rate.

    Attributes
    ----------
    t : (N,) ndarray
        Time since the start of the recording, s.
    q, qd, qdd : (N, n) ndarray
        Low-passed positions and their derivatives: rad, rad/s, rad/s².
    tau : (N, n) ndarray
        Torque at the joints, not filtered yet: it is filtered and decimated together with the
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


def condition(segment: Segment, treatment: Treatment, drive: Drive) -> Motion:
    """
    Condition one stretch as the treatment says.

    Parameters
    ----------
    segment : Segment
        Uniformly sampled stretch.
    treatment : Treatment
        Filter, cut-off and rate.
    drive : Drive
        From drive signal to torque.

    Returns
    -------
    Motion
        The same stretch; or one period of it, continued at both ends as far as the decimating
        filter reaches.

    """
    tau = joint_torque(segment.u, drive)
    rate, cutoff = treatment.rate_hz, treatment.cutoff_hz
    if treatment.filter == 'periodic':
        return _one_period(segment, tau, treatment)
    q = nuttall_fir(segment.q) if treatment.filter == 'fir' else butterworth(
        segment.q, rate, cutoff)
    qd = differentiate(q, rate)
    return Motion(segment.t, q, qd, differentiate(qd, rate), tau, moving(qd, rate))


def _one_period(segment: Segment, tau: Array, treatment: Treatment) -> Motion:
    assert treatment.period is not None
    q, rate = average_periods(segment.q, treatment.rate_hz, treatment.period)
    tau, _ = average_periods(tau, treatment.rate_hz, treatment.period)
    reach = Decimator(treatment).reach
    index = np.arange(-reach, len(q) + reach) % len(q)
    q, qd, qdd = (harmonic_derivative(q, rate, treatment.cutoff_hz, k)[index] for k in range(3))
    t = segment.t[0] + np.arange(-reach, len(q) + reach) / rate
    return Motion(t, q, qd, qdd, tau[index], moving(qd, rate))
