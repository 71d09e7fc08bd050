# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Conditioned training and held-out sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.narrow_band import narrowed
from dynid_ros.data.signals.trial_samples import trial_samples, TrialSamples
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import band_of_motion, choose_conditioning, wider_band
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import (
    condition_recordings,
    condition_thinned,
    data_hash,
    released,
    settings_for,
)
from dynid_ros.estimation.diagnosis.clipped_signals import (
    clip_levels,
    ClipLevels,
    clipped_samples,
)
from dynid_ros.estimation.identification.train_test_split import Division
from dynid_ros.utilities.arrays import Array, joined
from dynid_ros.utilities.in_blocks import finite_span

#: Most held-out samples kept as recorded: each cut-off of the error table evaluates their rows
#: again.
MOST_RECORDED = 2**15


@dataclass(frozen=True, eq=False)
class ConditionedSet:
    """
    Conditioned stretches of recordings with a common sample rate.

    Attributes
    ----------
    source : str
        Name of the samples.
    path : str
        File that they were read from.
    seconds : float
        Their duration, s.
    settings : ConditioningSettings
        Settings of their conditioning.
    motions : list of ConditionedMotion
        The stretches.
    clipped : list of (N, n) ndarray of bool
        Masks of clipped samples of each stretch; empty if not determined.
    arm : ArmModel
        The arm whose rows are made.

    """

    source: str
    path: str
    seconds: float
    settings: ConditioningSettings
    motions: list[ConditionedMotion]
    clipped: list[NDArray[np.bool_]]
    arm: ArmModel

    @cached_property
    def rows(self) -> KeptRows:
        """Rows of the stretches."""
        return KeptRows(self.arm, self.motions, self.settings)

    def narrowed(self, cutoff_hz: float) -> ConditionedSet:
        """Return the set for a lower cut-off."""
        settings, motions, clipped = narrowed(
            self.settings, cutoff_hz, self.motions, self.clipped)
        return replace(self, settings=settings, motions=motions, clipped=clipped)

    def trial_samples(self) -> TrialSamples:
        """Return the samples for comparing suspects, without clipped ones."""
        return trial_samples(self.motions, self.settings, self.clipped)

    @property
    def largest_acceleration(self) -> Array:
        """Return the largest acceleration of each joint, (n,), rad/s²."""
        spans = [finite_span(motion.qdd) for motion in self.motions]
        return np.asarray(np.max([np.maximum(-low, high) for low, high in spans], axis=0))

    def predict(self, arm: ArmModel, theta: Array) -> list[Prediction]:
        """
        Predict the torque of a held-out recording.

        Raises
        ------
        RecordingError
            It is too short for its cut-off.

        """
        parts = self.rows.predict(arm, theta, self.source, True)
        if not parts:
            cutoff = self.settings.cutoff_hz
            raise RecordingError(
                f'{self.path}: {self.seconds:.3g} s are too short for a '
                f'cut-off of {cutoff:.3g} Hz; the low-pass alone reaches over {3 / cutoff:.2g} s')
        return parts


@dataclass(frozen=True, eq=False)
class ConditionedData:
    """
    Training set and held-out set, conditioned.

    Attributes
    ----------
    division : Division
        Which samples these are; its recordings are released.
    train : ConditionedSet
        Training set.
    held_out : list of ConditionedSet
        Held-out set.
    trial : TrialSamples
        Samples of both for the lowest band, on which hypotheses are compared: faults show in it,
        friction above it.
    wider : TrialSamples or None
        The same for a wider band, if a fault may have lowered the cut-off.
    largest_acceleration : (n,) ndarray
        Of each joint in the training set in that band, rad/s².
    levels : ClipLevels
        At which their drive signals are clipped.
    recorded : list of Recording
        Start of the held-out set, as recorded.
    samples, seconds, data_hash : int, float, str
        Of the training set, as recorded.

    """

    division: Division
    train: ConditionedSet
    held_out: list[ConditionedSet]
    trial: TrialSamples
    wider: TrialSamples | None
    largest_acceleration: Array
    levels: ClipLevels
    recorded: list[Recording]
    samples: int
    seconds: float
    data_hash: str


def condition(division: Division, *, thin: bool = True) -> ConditionedData:
    """
    Condition each recording once, and release it to save memory.

    Parameters
    ----------
    division : Division
        The recordings, which are removed from it.
    thin : bool
        Whether a long training set may be decimated, which suffices for `KeptRows`.

    """
    arm, train = division.arm, division.train
    unseen = [recording for _, recording in division.unseen]
    settings = choose_conditioning(arm.memoryless, train, unseen)
    band = band_of_motion(settings, train)
    levels, recorded = clip_levels([*train, *unseen]), beginning(unseen)
    wider = _in_wider_band(division, settings, levels)
    samples, seconds = sum(len(each.t) for each in train), sum(each.seconds for each in train)
    digest = data_hash(train)
    unseen.clear()
    # The samples of a recording are released with the last of its parts: the largest comes last.
    sets = [(source, [recording]) for source, recording in released(division.unseen)]
    held_out = [_conditioned_set(arm, source, own, settings_for(settings, own[0]), levels)
                for source, own in sets]
    fitted = _conditioned_set(arm, division.source, train, settings, levels, thin=thin)
    trial, largest = _in_band([fitted, *held_out], band.cutoff_hz)
    return ConditionedData(division, fitted, held_out, trial, wider, largest, levels, recorded,
                           samples, seconds, digest)


def _in_band(sets: Sequence[ConditionedSet], cutoff_hz: float) -> tuple[TrialSamples, Array]:
    """Return samples of all sets below a cut-off, and the largest acceleration in the first."""
    trials, largest = list[TrialSamples](), np.zeros(0)
    for each in sets:
        # One set at a time to save memory.
        narrow = each.narrowed(cutoff_hz) if cutoff_hz < each.settings.cutoff_hz else each
        if not trials:
            if not narrow.motions:
                return _in_band(sets, np.inf)
            largest = narrow.largest_acceleration
        trials.append(narrow.trial_samples())
    return joined(trials), largest


def _in_wider_band(
    division: Division, settings: ConditioningSettings, levels: ClipLevels,
) -> TrialSamples | None:
    """Return samples in a wider band, if a fault may have lowered the cut-off."""
    unseen = [recording for _, recording in division.unseen]
    band = wider_band(settings, division.train, unseen)
    if band is None:
        return None
    # One set at a time to save memory.
    return joined([
        _conditioned_set(division.arm, source, recordings, own, levels).trial_samples()
        for source, recordings, own in (
            (division.source, [*division.train], band),
            *((source, [recording], settings_for(band, recording))
              for source, recording in division.unseen))])


def beginning(recordings: Iterable[Recording]) -> list[Recording]:
    """Copy at most `MOST_RECORDED` samples of a held-out set, so that the rest is released."""
    remaining = MOST_RECORDED
    result: list[Recording] = []
    for recording in recordings:
        # The remaining samples would be too few for any filter.
        if result and len(recording.t) > remaining:
            break
        part = recording.part(0, remaining)
        remaining -= len(part.t)
        result.append(replace(part, t=part.t.copy(), q=part.q.copy(), u=part.u.copy()))
    return result


def unseen_set(
    arm: ArmModel, recording: Recording, settings: ConditioningSettings,
) -> ConditionedSet:
    """Condition a recording like the training set of a model."""
    settings = settings_for(settings, recording, identified=True)
    return _conditioned_set(arm, Path(recording.source).name, [recording], settings)


def _conditioned_set(
    arm: ArmModel, source: str, recordings: list[Recording], settings: ConditioningSettings,
    levels: ClipLevels | None = None, *, thin: bool = True,
) -> ConditionedSet:
    """Condition recordings, which are removed from the list."""
    path, seconds = recordings[0].source, sum(each.seconds for each in recordings)
    if thin:
        settings, motions = condition_thinned(arm, recordings, settings)
    else:
        motions = condition_recordings(arm, released(recordings), settings)
    clipped = [] if levels is None else clipped_samples(arm, motions, levels)
    return ConditionedSet(source, path, seconds, settings, motions, clipped, arm)
