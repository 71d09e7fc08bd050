# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compare stated drive gains with identified ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.calibration.log_gains import LogGains
from dynid_ros.estimation.diagnosis.dissipation import SIGNIFICANT_DEVIATIONS
from dynid_ros.estimation.diagnosis.expected_error import HELD_OUT_ERROR_PERCENT
from dynid_ros.estimation.suspects.best_size import EstimatedSize, T_INTERVAL
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.summarised import Summarised

Flags = NDArray[np.bool_]

REFERENCE_CODE, AGREES, REFUTED = 'reference', 'agrees', 'refuted'
ROUGH, NOT_DETERMINED = 'rough', 'not determined'

# Bounds of determined gains, and of refuted stated ones. Measured figures come
# from benchmarks/drive_gains.py: real arms (UR10, Panda, TX40).
#: Largest standard deviation of the logarithm of a gain whose interval of 95 % is ± 1 %.
DETERMINED_STD = 0.01 / T_INTERVAL
#: The same of a roughly determined gain, and least logarithm of a refuted one: unmodelled friction
#: may shift gains, however long the recording. The shoulder and elbow of the real arms have 0.005
#: to 0.04, their wrists 0.035 to 20.
ROUGH_STD = 0.05
#: Largest standard deviation with which a gain may still be refuted: a significant one then
#: differs by a factor of e, beyond which the equations are not linear within the error bars.
REFUTING_STD = 1 / SIGNIFICANT_DEVIATIONS
#: Largest residual of a motor, relative to its residual in a fit to the recordings with the load
#: alone, or without it alone. With the load of a simulated UR10 and Panda the ratio is 1.01; where
#: a link became a fifth heavier at the same time, 1.35, and the gains are wrong by 3 %.
LARGEST_DISAGREEMENT = 1.3


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains(Summarised):
    """
    Identified drive gains, compared with the stated ones.

    Attributes
    ----------
    joint_names : tuple of str
        Names.
    stated : (n,) ndarray
        Gains that the arm states, Nm (or N) per unit of the drive signal.
    logarithms : LogGains
        Logarithms of the ratios of identified to stated gains.
    stated_error_percent, error_percent : float
        Relative torque error of the fit with the stated and with the identified gains, %.
    friction : tuple of str
        Friction terms of the fit.
    mass : float or None
        Mass of the load that fixed the gains, kg; None if only their ratios are known.
    notes : tuple of str
        Remarks of the fit, a sentence each.

    """

    joint_names: tuple[str, ...]
    stated: Array
    logarithms: LogGains
    stated_error_percent: float
    error_percent: float
    friction: tuple[str, ...]
    mass: float | None = None
    notes: tuple[str, ...] = ()

    def facts(self) -> list[tuple[str, str]]:
        """Return the verdict on each gain, for a console or a notebook."""
        joints = zip(self.joint_names, self.ratio, self.ratio_std, self.verdicts, strict=True)
        return [
            ('DriveGains', 'by those stated'),
            *((name, verdict if verdict in (REFERENCE_CODE, NOT_DETERMINED) else
               f'{ratio:.4f} ± {std:.4f}, {verdict}') for name, ratio, std, verdict in joints),
            *([('not trustworthy', self.objection)] if self.objection else [])]

    @property
    def ratio(self) -> Array:
        """Ratios of identified to stated gains, (n,); near one if undetermined."""
        return np.asarray(np.exp(self.logarithms.value))

    @property
    def ratio_std(self) -> Array:
        """Return the standard deviation of `ratio`, (n,)."""
        return self.ratio * self.logarithms.std

    @property
    def refuted(self) -> Flags:
        """Whether the data refute each stated gain, (n,)."""
        return differs(self.logarithms)

    @property
    def determined(self) -> Flags:
        """Whether the data determine each gain to 1 %, (n,), the reference included."""
        return np.asarray(self.logarithms.std <= DETERMINED_STD)

    @property
    def known(self) -> Flags:
        """Whether the data determine each gain roughly, or refute the stated one, (n,)."""
        return np.asarray((self.logarithms.std <= ROUGH_STD) | self.refuted)

    @property
    def interval(self) -> tuple[Array, Array]:
        """Return the ends of the 95 % intervals of `ratio`, (n,) each."""
        half = T_INTERVAL * self.logarithms.std
        return (np.asarray(np.exp(self.logarithms.value - half)),
                np.asarray(np.exp(self.logarithms.value + half)))

    @property
    def gain(self) -> Array:
        """
        Return identified gains where the data refute the stated ones, else the stated ones, (n,).

        To replace gains that agree would only add estimation error.
        """
        return np.where(self.refuted, self.stated * self.ratio, self.stated)

    @property
    def objection(self) -> str:
        """Reason not to trust any of these gains, a clause; empty if there is none."""
        worst = int(self.logarithms.disagreement.argmax())
        apart = float(self.logarithms.disagreement[worst])
        if not self.error_percent <= HELD_OUT_ERROR_PERCENT:
            return (f'the model leaves {self.error_percent:.0f} % of the torque; "dynid identify" '
                    'looks for the cause')
        if apart > LARGEST_DISAGREEMENT:
            return ('the recordings with the load are not of the same arm, tool and drives as '
                    f"those without it: the residual of joint '{self.joint_names[worst]}' is "
                    f'{apart:.3g} times the residual of either alone')
        # The reference alone makes no ratio.
        if self.known.sum() <= (self.logarithms.reference is not None):
            return ('the data determine no gain; move all joints, far and fast, with the heaviest '
                    'tool there is')
        return ''

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one of the five words for each joint."""
        return tuple(
            REFERENCE_CODE if j == self.logarithms.reference
            else REFUTED if self.refuted[j] else AGREES if self.determined[j]
            else ROUGH if self.known[j] else NOT_DETERMINED
            for j in range(len(self.joint_names)))


def differs(gains: LogGains) -> Flags:
    """Whether gains differ significantly from the stated ones, (n,)."""
    std = gains.std
    least = np.maximum(SIGNIFICANT_DEVIATIONS * std, ROUGH_STD)
    return np.asarray((std <= REFUTING_STD) & (np.abs(gains.value) > least))


def ratios_of(estimated: EstimatedSize) -> LogGains:
    """Return the gains from the size of a suspect, relative to a reference."""
    size, c = estimated.suspect.size, len(estimated.theta)
    assert size is not None
    gains = LogGains(size.x, estimated.covariance[c:, c:], estimated.from_prior[c:, c:], None,
                     np.ones(len(size.x)))
    return with_reference(gains.relative_to(0))


def with_reference(gains: LogGains) -> LogGains:
    """
    Choose the reference of gains with an unknown common factor.

    If the stated gain of the reference is wrong, so are all ratios to it. The reference is the
    motor to which most ratios are known; among several, the one whose stated gain most others
    agree with, and then the one with the most certain ratios.
    """
    def rank(ratios: LogGains) -> tuple[int, int, float]:
        known = ratios.std <= ROUGH_STD
        return -int(known.sum()), int(differs(ratios).sum()), float(ratios.std[known].sum())

    return min(map(gains.relative_to, range(len(gains.value))), key=rank)
