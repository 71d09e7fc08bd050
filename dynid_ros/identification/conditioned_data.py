"""Training and held-out set, conditioned for the rows of a fit, or for the band of the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.clipped_signals import ClipLevels, clipped_samples
from dynid_ros.identification.division import Division
from dynid_ros.identification.validation import Conditioned, take_unseen
from dynid_ros.recordings.in_blocks import finite_span
from dynid_ros.regression.preparation import take_motions
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.signals.narrow_band import NarrowBand
from dynid_ros.signals.trial_samples import joined, trial_samples, TrialSamples

Array = NDArray[np.float64]

#: Rows below the cut-off of the motion at most: they tell whether a fault shows, and the
#: parameters come from others.
ENOUGH = 2000


@dataclass(frozen=True, eq=False)
class Stretches:
    """
    Conditioned stretches of recordings that are sampled alike.

    Attributes
    ----------
    settings : ConditioningSettings
        How they were conditioned.
    motions : list of ConditionedMotion
        The stretches.
    clipped : list of (N, n) ndarray of bool
        Samples of each whose drive signal is cut off.

    """

    settings: ConditioningSettings
    motions: list[ConditionedMotion]
    clipped: list[NDArray[np.bool_]]

    def narrowed(self, cutoff_hz: float) -> Stretches:
        """Return the same for a lower cut-off, with `ENOUGH` rows at most."""
        band = NarrowBand(self.settings, cutoff_hz)
        motions, clipped = band.narrowed(self.motions, self.clipped)
        settings, decimator = band.settings, band.settings.decimator()
        rows = sum(decimator.outputs(len(motion.t)) for motion in motions)
        fewer = settings.decimation * max(1, -(-rows // ENOUGH))
        return Stretches(replace(settings, decimation=fewer), motions, clipped)

    def trial_samples(self) -> TrialSamples:
        """Take samples on which explanations are compared, without those that are cut off."""
        # Of all rows: torque is interpolated between them.
        settings = self.settings.at(self.settings.cutoff_hz)
        return trial_samples(self.motions, settings, self.clipped)


@dataclass(frozen=True, eq=False)
class ConditionedData:
    """
    Training set and held-out set, conditioned for one cut-off.

    Attributes
    ----------
    train : Stretches
        Training set.
    held_out : list of Conditioned
        Held-out set.
    unseen : list of Stretches
        The same, with the samples that are cut off.

    """

    train: Stretches
    held_out: list[Conditioned]
    unseen: list[Stretches]

    def narrowed(self, cutoff_hz: float) -> ConditionedData:
        """Return the same for a lower cut-off."""
        unseen = [each.narrowed(cutoff_hz) for each in self.unseen]
        held_out = [replace(each, settings=own.settings, motions=own.motions)
                    for each, own in zip(self.held_out, unseen, strict=True)]
        return ConditionedData(self.train.narrowed(cutoff_hz), held_out, unseen)

    def trial_samples(self) -> TrialSamples:
        """Take samples of all recordings; see `Stretches.trial_samples`."""
        return joined([each.trial_samples() for each in (self.train, *self.unseen)])

    @property
    def largest_acceleration(self) -> Array:
        """Return the largest acceleration of each joint in the training set, (n,), rad/s²."""
        spans = [finite_span(motion.qdd) for motion in self.train.motions]
        return np.asarray(np.max([np.maximum(-low, high) for low, high in spans], axis=0))


def conditioned(
    arm: ArmModel, data: Division, settings: ConditioningSettings, levels: ClipLevels,
) -> ConditionedData:
    """
    Condition recordings, and empty the lists: as recorded they would fill memory.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    data : Division
        The recordings.
    settings : ConditioningSettings
        For the training set.
    levels : ClipLevels
        At which their drive signals are cut off.

    """

    def stretches(own: ConditioningSettings, motions: Sequence[ConditionedMotion]) -> Stretches:
        return Stretches(own, list(motions), clipped_samples(arm, motions, levels))

    train = stretches(settings, take_motions(arm, data.train, settings))
    held_out = take_unseen(arm, data, settings)
    return ConditionedData(
        train, held_out, [stretches(each.settings, each.motions) for each in held_out])
