"""Training and held-out set, conditioned for the rows of a fit, or for the lowest band."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.in_blocks import finite_span
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.narrow_band import narrowed
from dynid_ros.data.signals.trial_samples import trial_samples, TrialSamples
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import band_of_motion, choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import (
    cut_into_stretches,
    data_hash,
    released,
    settings_for,
    Stretches,
)
from dynid_ros.estimation.diagnosis.clipped_signals import (
    clip_levels,
    ClipLevels,
    clipped_samples,
)
from dynid_ros.estimation.identification.train_test_split import Division
from dynid_ros.utilities.arrays import Array, joined

#: Held-out samples at most that are kept as recorded: every cut-off of the table of errors costs
#: the rows of all of them again.
MOST_RECORDED = 2**15


@dataclass(frozen=True, eq=False)
class ConditionedSet:
    """
    Conditioned stretches of recordings that are sampled alike.

    Attributes
    ----------
    source : str
        Name of the samples.
    path : str
        Where they were read from.
    seconds : float
        Their length, s.
    settings : ConditioningSettings
        How they were conditioned.
    motions : list of ConditionedMotion
        The stretches.
    clipped : list of (N, n) ndarray of bool
        Samples of each whose drive signal is cut off; empty if nobody looked for them.
    arm : ArmModel
        The arm, of the tree of which rows are made.

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
        """Return the same for a lower cut-off."""
        settings, motions, clipped = narrowed(
            self.settings, cutoff_hz, self.motions, self.clipped)
        return replace(self, settings=settings, motions=motions, clipped=clipped)

    def trial_samples(self) -> TrialSamples:
        """Take samples on which hypotheses are compared, without those that are cut off."""
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
    largest_acceleration : (n,) ndarray
        Of each joint in the training set in that band, rad/s².
    levels : ClipLevels
        At which their drive signals are cut off.
    recorded : list of Recording
        Start of the held-out set, as recorded.
    samples, seconds, data_hash : int, float, str
        Of the training set, as recorded.

    """

    division: Division
    train: ConditionedSet
    held_out: list[ConditionedSet]
    trial: TrialSamples
    largest_acceleration: Array
    levels: ClipLevels
    recorded: list[Recording]
    samples: int
    seconds: float
    data_hash: str


def condition(division: Division, *, thin: bool = True) -> ConditionedData:
    """
    Condition recordings, each once, and release them, as they would fill memory.

    Parameters
    ----------
    division : Division
        The recordings; it has none afterwards.
    thin : bool
        Whether a long training set may have fewer samples, as `KeptRows` need no more.

    """
    arm, train = division.arm, division.train
    unseen = [recording for _, recording in division.unseen]
    settings = choose_conditioning(arm.memoryless, train, unseen)
    band = band_of_motion(settings, train)
    levels, recorded = clip_levels([*train, *unseen]), beginning(unseen)
    samples, seconds = sum(len(each.t) for each in train), sum(each.seconds for each in train)
    digest = data_hash(train)
    unseen.clear()
    # Parts of one recording release its samples together.
    taken = [_taken(division.source, division.train, settings, thin=thin),
             *(_taken(source, [recording], settings_for(settings, recording))
               for source, recording in released(division.unseen))]
    sets = [_conditioned(arm, each, levels) for each in released(taken)]
    return ConditionedData(
        division, sets[0], sets[1:], *_in_band(sets, band.cutoff_hz), levels, recorded,
        samples, seconds, digest)


def _in_band(sets: Sequence[ConditionedSet], cutoff_hz: float) -> tuple[TrialSamples, Array]:
    """Take samples of all sets below a cut-off, and the largest acceleration of the first one."""
    trials, largest = list[TrialSamples](), np.zeros(0)
    for each in sets:
        # One at a time, as their motions would fill memory.
        narrow = each.narrowed(cutoff_hz) if cutoff_hz < each.settings.cutoff_hz else each
        if not trials:
            if not narrow.motions:
                return _in_band(sets, np.inf)
            largest = narrow.largest_acceleration
        trials.append(narrow.trial_samples())
    return joined(trials), largest


def beginning(recordings: Iterable[Recording]) -> list[Recording]:
    """Copy `MOST_RECORDED` samples of a held-out set at most, so that the rest is released."""
    left = MOST_RECORDED
    result: list[Recording] = []
    for recording in recordings:
        # A few samples of a further recording would be too short for any filter.
        if result and len(recording.t) > left:
            break
        part = recording.part(0, left)
        left -= len(part.t)
        result.append(replace(part, t=part.t.copy(), q=part.q.copy(), u=part.u.copy()))
    return result


def unseen_set(
    arm: ArmModel, recording: Recording, settings: ConditioningSettings,
) -> ConditionedSet:
    """Condition one recording as the training set of a model was."""
    settings = settings_for(settings, recording, identified=True)
    return _conditioned(arm, _taken(Path(recording.source).name, [recording], settings))


@dataclass(frozen=True)
class _Taken:
    """Samples of a `ConditionedSet` that are not conditioned yet."""

    source: str
    path: str
    seconds: float
    stretches: Stretches


def _taken(
    source: str, recordings: list[Recording], settings: ConditioningSettings, *,
    thin: bool = True,
) -> _Taken:
    path, seconds = recordings[0].source, sum(each.seconds for each in recordings)
    return _Taken(source, path, seconds, cut_into_stretches(recordings, settings, thin=thin))


def _conditioned(
    arm: ArmModel, taken: _Taken, levels: ClipLevels | None = None,
) -> ConditionedSet:
    motions = taken.stretches.conditioned(arm)
    clipped = [] if levels is None else clipped_samples(arm, motions, levels)
    return ConditionedSet(
        taken.source, taken.path, taken.seconds, taken.stretches.settings, motions, clipped, arm)
