"""Samples that were fitted and come back for validation, under whatever name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.preparation import data_hash

Array = NDArray[np.float64]
Keys = NDArray[np.uint64]

# An odd factor spreads the bits of a product over the whole word (Knuth's multiplicative hash).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@dataclass(frozen=True)
class SeenThresholds:
    """
    Bounds from which samples count as fitted.

    Attributes
    ----------
    share : float
        Largest share of samples that two recordings may have in common. Those of different
        motions, or of one motion that is measured twice, have none. A tenth hardly changes an
        error figure.
    rows : int
        Samples in a row that must agree bit for bit. One may agree by chance where encoder and
        drive signal are coarse.
    rounding : float
        Largest difference of conditioned samples, relative to their range. The arithmetic is the
        same up to the end of the fitted part, near which the filters see other samples.

    """

    share: float = 0.1
    rows: int = 3
    rounding: float = 1e-9


THRESHOLDS = SeenThresholds()


def refuse_common_samples(recording: Recording, others: Sequence[Recording]) -> None:
    """
    Refuse a recording that shares samples with others.

    Stamps do not count: a copy may begin later. Of a joint that stands still, equal samples count
    once.

    Parameters
    ----------
    recording : Recording
        A recording to fit.
    others : sequence of Recording
        Recordings for validation, or further ones to fit.

    Raises
    ------
    RecordingError
        Too many samples of one of them are in the recording as well.

    """
    if not others:
        return
    known = _keys(recording)
    for other in others:
        keys = _keys(other)
        share = float(np.isin(keys, known).mean()) if len(keys) else 0.0
        if share > THRESHOLDS.share:
            raise RecordingError(
                f'{recording.source} holds {100 * share:.3g} % of the samples of {other.source}: '
                'the same samples can be used once, for fitting or for validation; give another '
                'recording, or hold out the last part of this one')


def _keys(recording: Recording) -> Keys:
    """Distinct hashes of a few samples in a row."""
    hashed = np.zeros(len(recording.t), dtype=np.uint64)
    for column in (*recording.q.T, *recording.u.T):
        hashed = (hashed ^ np.ascontiguousarray(column).view(np.uint64)) * _FACTOR
        hashed ^= hashed >> _SHIFT
    keys = hashed[:max(0, len(hashed) - THRESHOLDS.rows + 1)]
    for k in range(1, THRESHOLDS.rows):
        keys = keys * _FACTOR ^ hashed[k:len(keys) + k]
    return np.unique(keys)


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
        Whether its begin has the hash of the samples fitted, or its conditioned samples are among
        those that are stored with the model.

    """
    if data_hash([recording.part(0, model.samples)]) == model.data_hash:
        return True
    return any(
        _agree(old, new) > THRESHOLDS.share
        for old in model.predictions if not old.held_out for new in parts)


def _agree(old: Prediction, new: Prediction) -> float:
    """Share of the samples of a prediction that another one has at the same times."""
    place = np.minimum(np.searchsorted(new.t, old.t), len(new.t) - 1)
    same = new.t[place] == old.t
    for known, found in ((old.q, new.q), (old.tau, new.tau)):
        limit = THRESHOLDS.rounding * np.nanmax(np.abs(known), axis=0, initial=0.0)
        close = np.abs(found[place] - known) <= limit
        # A joint that stands still has no torque.
        same &= (close | np.isnan(known)).all(axis=1)
    return float(same.mean()) if len(same) else 0.0
