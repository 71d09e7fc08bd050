"""Training and held-out set, conditioned for the rows of a fit, or for the band of the motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.in_blocks import finite_span
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.narrow_band import NarrowBand
from dynid_ros.data.signals.trial_samples import joined, trial_samples, TrialSamples
from dynid_ros.estimation.diagnosis.clipped_signals import ClipLevels, clipped_samples
from dynid_ros.estimation.regression.preparation import fitted_to, released, take_motions
from dynid_ros.utilities.arrays import Array

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
        Samples of each whose drive signal is cut off; empty if nobody looked for them.

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
class HeldOut:
    """
    One recording of the held-out set, conditioned.

    Attributes
    ----------
    source : str
        Name of the samples.
    path : str
        Where they were read from.
    seconds : float
        Their length, s.
    stretches : Stretches
        Its stretches.

    """

    source: str
    path: str
    seconds: float
    stretches: Stretches

    def narrowed(self, cutoff_hz: float) -> HeldOut:
        """Return the same for a lower cut-off."""
        return replace(self, stretches=self.stretches.narrowed(cutoff_hz))


@dataclass(frozen=True, eq=False)
class ConditionedData:
    """
    Training set and held-out set, conditioned for one cut-off.

    Attributes
    ----------
    train : Stretches
        Training set.
    held_out : list of HeldOut
        Held-out set.

    """

    train: Stretches
    held_out: list[HeldOut]

    def narrowed(self, cutoff_hz: float) -> ConditionedData:
        """Return the same for a lower cut-off."""
        return ConditionedData(
            self.train.narrowed(cutoff_hz), [each.narrowed(cutoff_hz) for each in self.held_out])

    def trial_samples(self) -> TrialSamples:
        """Take samples of all recordings; see `Stretches.trial_samples`."""
        every = (self.train, *(each.stretches for each in self.held_out))
        return joined([each.trial_samples() for each in every])

    @property
    def largest_acceleration(self) -> Array:
        """Return the largest acceleration of each joint in the training set, (n,), rad/s²."""
        spans = [finite_span(motion.qdd) for motion in self.train.motions]
        return np.asarray(np.max([np.maximum(-low, high) for low, high in spans], axis=0))


def conditioned(
    arm: ArmModel, train: Iterable[Recording], unseen: Iterable[tuple[str, Recording]],
    settings: ConditioningSettings, levels: ClipLevels,
) -> ConditionedData:
    """
    Condition recordings; `released`, as they would fill memory beside what is made of them.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    train : iterable of Recording
        Training set.
    unseen : iterable of (str, Recording)
        Held-out set, each recording with a name.
    settings : ConditioningSettings
        For the training set.
    levels : ClipLevels
        At which their drive signals are cut off.

    """
    return ConditionedData(_stretches(arm, train, settings, levels),
                           take_unseen(arm, unseen, settings, levels))


def take_unseen(
    arm: ArmModel, unseen: Iterable[tuple[str, Recording]], settings: ConditioningSettings,
    levels: ClipLevels | None = None,
) -> list[HeldOut]:
    """
    Condition the held-out set, whatever the rates of its recordings.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    unseen : iterable of (str, Recording)
        Its recordings, each with a name.
    settings : ConditioningSettings
        How the training set was conditioned.
    levels : ClipLevels, optional
        At which their drive signals are cut off, to look for such samples.

    """
    taken = []
    for source, recording in unseen:
        own = fitted_to(settings, recording)
        path, seconds, alone = recording.source, recording.seconds, released([recording])
        del recording
        taken.append(HeldOut(source, path, seconds, _stretches(arm, alone, own, levels)))
    return taken


def _stretches(
    arm: ArmModel, recordings: Iterable[Recording], settings: ConditioningSettings,
    levels: ClipLevels | None,
) -> Stretches:
    motions = take_motions(arm, recordings, settings)
    clipped = [] if levels is None else clipped_samples(arm, motions, levels)
    return Stretches(settings, motions, clipped)
