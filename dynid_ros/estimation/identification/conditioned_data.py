"""Training and held-out set, conditioned for the rows of a fit, or for the lowest band."""

from __future__ import annotations

from collections.abc import Iterable
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
    data_hash,
    fitted_to,
    released,
    take_motions,
    take_thinned,
)
from dynid_ros.estimation.diagnosis.clipped_signals import (
    clip_levels,
    ClipLevels,
    clipped_samples,
)
from dynid_ros.estimation.identification.train_test_split import Division
from dynid_ros.utilities.arrays import Array, joined

#: Rows below the cut-off of the motion at most: they show whether there is a fault, and the
#: parameters come from others.
MOST_ROWS = 2000
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
        """Return the same for a lower cut-off, with `MOST_ROWS` at most."""
        settings, motions, clipped = narrowed(
            self.settings, cutoff_hz, self.motions, self.clipped)
        decimator = settings.decimator()
        rows = sum(decimator.outputs(len(motion.t)) for motion in motions)
        fewer = settings.decimation * max(1, -(-rows // MOST_ROWS))
        return replace(self, settings=replace(settings, decimation=fewer), motions=motions,
                       clipped=clipped)

    def trial_samples(self) -> TrialSamples:
        """Take samples on which hypotheses are compared, without those that are cut off."""
        # Of all rows: torque is interpolated between them.
        settings = self.settings.at(self.settings.cutoff_hz)
        return trial_samples(self.motions, settings, self.clipped)

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
    narrow : list of ConditionedSet
        Both for the lowest band: faults show in it, friction above it.
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
    narrow: list[ConditionedSet]
    levels: ClipLevels
    recorded: list[Recording]
    samples: int
    seconds: float
    data_hash: str

    def trial_samples(self) -> TrialSamples:
        """Take samples of all recordings; see `ConditionedSet.trial_samples`."""
        return joined([each.trial_samples() for each in self.narrow])

    @property
    def largest_acceleration(self) -> Array:
        """Return the largest acceleration of each joint in the training set, (n,), rad/s²."""
        spans = [finite_span(motion.qdd) for motion in self.narrow[0].motions]
        return np.asarray(np.max([np.maximum(-low, high) for low, high in spans], axis=0))


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
    sets = [_conditioned(arm, division.source, division.train, settings, levels, thin=thin),
            *take_unseen(arm, division.unseen, settings, levels)]
    narrow = sets if settings.cutoff_hz <= band.cutoff_hz else [
        each.narrowed(band.cutoff_hz) for each in sets]
    return ConditionedData(
        division, sets[0], sets[1:], narrow if narrow[0].motions else sets, levels, recorded,
        samples, seconds, digest)


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


def take_unseen(
    arm: ArmModel, unseen: list[tuple[str, Recording]], settings: ConditioningSettings,
    levels: ClipLevels | None = None, *, identified: bool = False,
) -> list[ConditionedSet]:
    """
    Condition the held-out set, whatever the rates of its recordings.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    unseen : list of (str, Recording)
        Its recordings, each with a name; they are released.
    settings : ConditioningSettings
        How the training set was conditioned.
    levels : ClipLevels, optional
        At which their drive signals are cut off, to look for such samples.
    identified : bool
        Whether a model was identified with these settings already.

    """
    taken = []
    for source, recording in released(unseen):
        own, alone = fitted_to(settings, recording, identified=identified), [recording]
        del recording
        taken.append(_conditioned(arm, source, alone, own, levels))
    return taken


def unseen_set(
    arm: ArmModel, recording: Recording, settings: ConditioningSettings,
) -> ConditionedSet:
    """Condition one recording as the training set of a model was."""
    return take_unseen(
        arm, [(Path(recording.source).name, recording)], settings, identified=True)[0]


def _conditioned(
    arm: ArmModel, source: str, recordings: list[Recording], settings: ConditioningSettings,
    levels: ClipLevels | None, *, thin: bool = True,
) -> ConditionedSet:
    path, seconds = recordings[0].source, sum(each.seconds for each in recordings)
    settings, motions = (take_thinned(arm, recordings, settings) if thin else
                         (settings, take_motions(arm, released(recordings), settings)))
    clipped = [] if levels is None else clipped_samples(arm, motions, levels)
    return ConditionedSet(source, path, seconds, settings, motions, clipped, arm)
