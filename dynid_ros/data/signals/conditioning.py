# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Zero-phase conditioning of raw samples, and its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import damping_torque, Drive, joint_torque
from dynid_ros.arm.friction import JointHistory
from dynid_ros.data.recordings.history import presliding_of
from dynid_ros.data.recordings.warmth import Warmth, warmth_of
from dynid_ros.data.signals.filters import (
    butterworth,
    decimation_step,
    Decimator,
    differentiate,
    nuttall_fir,
)
from dynid_ros.data.signals.periodic import (
    average_periods,
    harmonic_derivative,
    periodic_part,
    SAME_SPREAD,
)
from dynid_ros.data.signals.segments import Segment
from dynid_ros.data.signals.standstill import in_motion, spoiled_beside
from dynid_ros.errors import about
from dynid_ros.utilities.arrays import Array

# Bounds of the cut-offs and of the rate that they were chosen for. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Highest cut-off relative to the sample rate, live and in batch, since the gain must fall off
#: below half the rate. No good recording comes near it.
HIGHEST_CUTOFF = 0.4
#: Cut-off of the positions relative to that of the rows. It must pass the effect of friction at
#: reversals; the decimating filter removes the noise of derivatives together with that of the
#: torque. Half and twice this value change the larger held-out error of UR10 and Panda by less
#: than 0.01 %.
POSITION_CUTOFF = 3.0
#: Largest relative deviation of the rate of another recording for which the same filters are used.
#: It changes the cut-off by as much.
SAME_RATE = 0.01


@dataclass(frozen=True)
class Rung:
    """
    A cut-off, with the error of its model in the lowest band.

    Attributes
    ----------
    cutoff_hz : float
        Hz.
    error_percent : float
        Cross-validated error in the lowest band, joints weighted by their residual, %.

    """

    cutoff_hz: float
    error_percent: float


@dataclass(frozen=True)
class ConditioningSettings:
    """
    Complete settings of the conditioning.

    Attributes
    ----------
    cutoff_hz : float
        Cut-off of the low-pass that every column of W and the torque pass; positions are filtered
        less (see ``position_cutoff``).
    cutoff_from_data : bool
        Whether it was chosen from the data.
    filter : str
        ``butterworth``, ``fir`` or ``periodic``.
    rate_hz : float
        Rate of the recording after resampling.
    decimation : int
        Number of samples for each kept row.
    delay : float
        Lag of the drive signal, by which it is advanced, s.
    period : float or None
        Period, if the motion is averaged over periods, s.
    notes : tuple of str
        Further remarks, a sentence each.
    ladder : tuple of Rung
        Candidate cut-offs, the lowest first.
    position_hz : tuple of float
        Highest cut-off of the positions of each joint if some are noisy, Hz; else empty.

    """

    cutoff_hz: float
    cutoff_from_data: bool
    filter: str
    rate_hz: float
    decimation: int
    delay: float = 0.0
    period: float | None = None
    notes: tuple[str, ...] = ()
    ladder: tuple[Rung, ...] = ()
    position_hz: tuple[float, ...] = ()

    def decimator(self) -> Decimator:
        """Return the low-pass for the columns of W and the torque."""
        return Decimator(self.rate_hz, self.cutoff_hz, self.decimation)

    def at(self, cutoff_hz: float) -> ConditioningSettings:
        """Return the same settings with another cut-off."""
        return replace(
            self, cutoff_hz=cutoff_hz, decimation=decimation_step(self.rate_hz, cutoff_hz))


@dataclass(frozen=True)
class ConditionedMotion:
    """
    One conditioned stretch of a recording.

    Attributes
    ----------
    t : (N,) ndarray
        Time since the start of the recording, s.
    q : (N, n) ndarray
        Low-passed positions, rad.
    qd, qdd : (N, n) ndarray
        Their derivatives, rad/s and rad/s².
    tau : (N, n) ndarray
        Torque at the joints, unfiltered: it is filtered and decimated together with the
        regressor.
    moving : (N, n) ndarray of bool
        False where a joint stands still, or so near that the low-pass of the rows spreads it.
    warmth : Warmth
        Warmth of the joints by time.
    low_pass : Decimator or None
        Filter that decimated positions and torque, if any; see `NearReversals`.
    source : str
        File of the recording.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    moving: NDArray[np.bool_]
    warmth: Warmth
    low_pass: Decimator | None = None
    source: str = 'recording'

    def history(self, part: slice) -> JointHistory:
        """Return the history of the joints at some samples."""
        return JointHistory(self.warmth.at(self.t[part]), self.presliding[part])

    @cached_property
    def presliding(self) -> Array:
        """Bend of the contact of each joint, (N, n); see `JointHistory`."""
        return presliding_of(self.q)


def condition(
    segment: Segment, settings: ConditioningSettings, drive: Drive
) -> ConditionedMotion:
    """
    Condition one stretch according to the settings.

    Parameters
    ----------
    segment : Segment
        Uniformly sampled stretch.
    settings : ConditioningSettings
        Filter, cut-off and rate.
    drive : Drive
        Converts drive signals to torque.

    Returns
    -------
    ConditionedMotion
        The stretch, or one period of its periodic part, extended at both ends by the reach of the
        decimating filter.

    """
    tau = joint_torque(segment.u, drive)
    rate = settings.rate_hz
    warmth = segment.warmth or warmth_of(segment.t, segment.q)
    if settings.filter == 'periodic':
        return damped(_one_period(segment, tau, settings, warmth), drive)
    q = nuttall_fir(segment.q) if settings.filter == 'fir' else low_passed(segment.q, settings)
    return damped(of_positions(
        segment.t, q, tau, rate, warmth, spoiled_beside(settings.decimator())), drive)


def of_positions(
    t: Array, q: Array, tau: Array, rate_hz: float, warmth: Warmth, beside: int = 0,
) -> ConditionedMotion:
    """Add derivatives and rests to low-passed positions; see `ConditionedMotion`, `in_motion`."""
    qd = differentiate(q, rate_hz)
    qdd = differentiate(qd, rate_hz)
    moves = in_motion(q, qd, rate_hz, beside)
    return ConditionedMotion(t, q, qd, qdd, tau, moves, warmth)


def damped(motion: ConditionedMotion, drive: Drive) -> ConditionedMotion:
    """Subtract the known damping of drives from the torque of their stiffness."""
    if drive.damping is None:
        return motion
    return replace(motion, tau=motion.tau - damping_torque(motion.qd, drive))


def position_cutoff(settings: ConditioningSettings) -> float:
    """
    Return the cut-off of the positions, Hz.

    It is well above the cut-off of the rows to keep the effect of friction at reversals. The
    filter of the rows removes noise of the derivatives and of the torque.
    """
    return min(POSITION_CUTOFF * settings.cutoff_hz,
               HIGHEST_CUTOFF * settings.rate_hz)


def position_cutoffs(settings: ConditioningSettings, joints: int) -> Array:
    """Return the cut-off of the positions of each joint, (n,), Hz, lower for noisy ones."""
    most = np.array(settings.position_hz or joints * (np.inf,))
    return np.asarray(np.minimum(position_cutoff(settings), most))


def low_passed(q: Array, settings: ConditioningSettings) -> Array:
    """Low-pass positions (N, n) without lag, each joint below its cut-off."""
    cutoffs, result = position_cutoffs(settings, q.shape[1]), np.empty_like(q)
    for cutoff in np.unique(cutoffs):
        joints = cutoffs == cutoff
        result[:, joints] = butterworth(q[:, joints], settings.rate_hz, float(cutoff))
    return result


def _one_period(
    segment: Segment, tau: Array, settings: ConditioningSettings, warmth: Warmth,
) -> ConditionedMotion:
    assert settings.period is not None
    with about(segment.source):
        part = periodic_part(segment.q, settings.rate_hz, settings.period)
        q, rate = average_periods(segment.q[part], settings.rate_hz, settings.period, SAME_SPREAD)
    tau, _ = average_periods(tau[part], settings.rate_hz, settings.period)
    decimator, cutoff = settings.decimator(), position_cutoff(settings)
    steps = np.arange(-decimator.reach, len(q) + decimator.reach)
    index = steps % len(q)
    q, qd, qdd = (harmonic_derivative(q, rate, cutoff, k)[index] for k in range(3))
    moves = in_motion(q, qd, rate, spoiled_beside(decimator))
    return ConditionedMotion(
        segment.t[part.start] + steps / rate, q, qd, qdd, tau[index], moves, warmth)
