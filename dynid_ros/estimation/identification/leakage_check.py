# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Detect fitted samples that return for validation under any name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.signals.repetition import REPEATS, repeats
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import data_hash
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

Keys = NDArray[np.uint64]

# An odd factor spreads the bits of a product over the complete word (Knuth's multiplicative hash).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# Only hashes with these bits zero, one of sixteen, are kept: copies keep the same ones.
_KEPT = np.uint64(0xF << 60)

# Bounds from which samples count as fitted.
#: Largest share of samples that two recordings may have in common. Different motions, or a motion
#: measured twice, have none. A tenth hardly changes a metric.
SEEN_SHARE = 0.1
#: Successive samples that must agree bit for bit. One may agree by chance if encoder and drive
#: signal are coarse.
SEEN_ROWS = 3
#: Share and successive samples of drive signals alone, which may be coarse currents of few joints:
#: a command is repeated as a whole, and two joints of three levels had a sixth in common.
COMMAND_SHARE, COMMAND_ROWS = 0.5, 30
#: Most hashes in common by coincidence: arms rest in the same position.
SEEN_KEYS = 3
#: Largest difference of equal conditioned samples, relative to their range. The arithmetic is the
#: same, except near the end of the fitted part, where the filters see other samples.
SEEN_ROUNDING = 1e-9


class KnownSamples:
    """
    Samples of several recordings, each of which may be used once.

    Stamps do not count, since a copy may begin later. Equal samples of an arm at rest count once.

    Parameters
    ----------
    recordings : iterable of Recording
        Recordings for validation.

    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self._known = [_Hashed(recording) for recording in recordings]
        self._repeated = False

    def add(self, recording: Recording) -> list[Defect]:
        """
        Add a recording to fit; report once that drive signals are those of another recording.

        Raises
        ------
        RecordingError
            It shares too many samples with another one.

        """
        new, found = _Hashed(recording), list[Defect]()
        for known in self._known:
            share = _common(known.samples, new.samples, SEEN_SHARE)
            if share:
                raise RecordingError(
                    f'{recording.source} and {known.source} have {100 * share:.3g} % of the '
                    'samples of the shorter one in common: use samples once, for '
                    'fitting or for validation; give another recording, or hold out the '
                    'last part of one')
            if self._repeated:
                continue
            share = _common(known.signals, new.signals, COMMAND_SHARE)
            if share:
                self._repeated = True
                found.append(Defect(
                    'effort_repeated', 'warning',
                    f'the drive signals equal those of {Path(known.source).name} bit by bit in '
                    f'{100 * share:.3g} % of the samples, but the positions differ: they are '
                    'commands; record what the drives measure.', value=share))
        self._known.append(new)
        return found


class _Hashed:
    """Hashes of a recording, which are needed beside another recording alone."""

    def __init__(self, recording: Recording) -> None:
        self.source = recording.source
        self._q, self._u = recording.q, recording.u

    @cached_property
    def samples(self) -> Keys:
        return _keys([*self._q.T, *self._u.T], SEEN_ROWS)

    @cached_property
    def signals(self) -> Keys:
        return _keys([*self._u.T], COMMAND_ROWS)


def _common(known: Keys, keys: Keys, least: float) -> float:
    """Return the common share of the shorter ones, zero up to the least one or a few keys."""
    common = len(np.intersect1d(known, keys, assume_unique=True))
    shorter = min(len(known), len(keys))
    return common / shorter if common > max(least * shorter, SEEN_KEYS) else 0.0


def _keys(columns: Sequence[Array], rows: int) -> Keys:
    """Return the kept hashes of successive samples, each once."""
    hashed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        hashed = (hashed ^ np.ascontiguousarray(column).view(np.uint64)) * _FACTOR
        hashed ^= hashed >> _SHIFT
    keys = hashed[:max(0, len(hashed) - rows + 1)]
    for k in range(1, rows):
        keys = keys * _FACTOR ^ hashed[k:len(keys) + k]
    return np.unique(keys[keys & _KEPT == 0])


def marked_repeat(
    source: str, fitted: Sequence[Recording | Prediction], held_out: Recording,
) -> str:
    """Return the name of held-out samples, marked if they repeat the fitted motion."""
    fitted_motions = [(each.t, each.q) for each in fitted]
    repeated = bool(fitted_motions) and repeats(fitted_motions, held_out.t, held_out.q)
    return f'{source} ({REPEATS})' if repeated else source


def was_fitted(
    model: IdentifiedModel, recording: Recording, parts: Sequence[Prediction]
) -> bool:
    """
    Whether a model was fitted to samples of a recording.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        Cleaned recording.
    parts : sequence of Prediction
        Its torque, as predicted by the model.

    Returns
    -------
    bool
        Whether its beginning has the hash of the fitted samples, or the model stores its
        conditioned samples.

    """
    if data_hash([recording.part(0, model.samples)]) == model.data_hash:
        return True
    return any(
        _agree(old, new) > SEEN_SHARE
        for old in model.predictions if not old.held_out for new in parts)


def _agree(old: Prediction, new: Prediction) -> float:
    """Share of the samples of a prediction that equal those of another at the same times."""
    place = np.minimum(np.searchsorted(new.t, old.t), len(new.t) - 1)
    same = new.t[place] == old.t
    for known, found in ((old.q, new.q), (old.tau, new.tau)):
        limit = SEEN_ROUNDING * np.nan_to_num(np.abs(known)).max(axis=0, initial=0.0)
        close = np.abs(found[place] - known) <= limit
        # A joint that stands still has no torque.
        same &= (close | np.isnan(known)).all(axis=1)
    return float(same.mean()) if len(same) else 0.0
