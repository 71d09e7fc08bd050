# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque error of a model at bandwidths other than that of its fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals import conditioning, filters
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.data.signals.narrow_band import KEPT_CUTOFFS
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import (
    condition_recordings,
    settings_for,
)
from dynid_ros.estimation.identification.conditioned_data import ConditionedData
from dynid_ros.estimation.identification.repeatability import motion_torque, unrepeated_torque
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import BandwidthError, metrics, unrepeated_percent
from dynid_ros.utilities.arrays import Array

#: Cut-offs of the table, Hz. Motion and friction of an arm lie below 5 Hz, vibration of its
#: structure and drives above.
TABLE_CUTOFFS_HZ = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
#: Most samples of the unfiltered torque for each row of the fit: more cost time without adding
#: information.
RECORDED_PER_ROW = 8

#: An arm, with its friction terms, and its base parameters.
Fitted = tuple[ArmModel, Array]


def error_by_bandwidth(
    model: Fitted, recordings: Sequence[Recording], settings: ConditioningSettings,
    plain: Fitted | None = None,
) -> tuple[BandwidthError, ...]:
    """
    Predict the torque of a held-out set at several bandwidths, then without a low-pass.

    Parameters
    ----------
    model : (ArmModel, (b,) ndarray)
        An arm and its base parameters.
    recordings : sequence of Recording
        Held-out set, cleaned.
    settings : ConditioningSettings
        Settings of the training set. Positions are filtered as for the fit when unfiltered torque
        is predicted.
    plain : (ArmModel, (b,) ndarray), optional
        The same with plain friction.

    Returns
    -------
    tuple of BandwidthError
        For each of `TABLE_CUTOFFS_HZ` that the rate of the recordings allows, and whose low-pass
        keeps at least half of the longest recording.

    """
    if not recordings:
        return ()
    treatments = [replace(settings_for(settings, recording), notes=()) for recording in recordings]
    highest = conditioning.HIGHEST_CUTOFF * min(each.rate_hz for each in treatments)
    longest = max(float(recording.t[-1] - recording.t[0]) for recording in recordings)
    lowest = 4 * filters.REACH_PERIODS / longest
    cutoffs: list[float | None] = [each for each in TABLE_CUTOFFS_HZ if lowest <= each <= highest]
    # Averaging over periods changes the torque before any low-pass.
    if settings.filter != 'periodic':
        cutoffs.append(None)
    errors = [_error(cutoff, model, plain, recordings, treatments) for cutoff in cutoffs]
    return tuple(each for each in errors if each is not None)


def compare_bandwidths(
    model: IdentifiedModel, data: ConditionedData, plain: Fitted | None,
) -> IdentifiedModel:
    """Add the error by cut-off, with the part that does not repeat, and that of plain friction."""
    repeated = [*data.train.motions, *(motion for each in data.held_out if model.repeats
                                       for motion in each.motions)]
    cutoff, settings = model.treatment.cutoff_hz, model.treatment
    cutoffs: list[float | None] = [cutoff, *TABLE_CUTOFFS_HZ, None]
    if any(motion.low_pass for motion in repeated):
        # Decimation removed the torque above.
        highest = KEPT_CUTOFFS / 2 * cutoff
        cutoffs = [cutoff, *(each for each in TABLE_CUTOFFS_HZ if each <= highest)]
    unrepeated = unrepeated_torque(model.arm, model.theta, repeated, cutoffs)
    errors = error_by_bandwidth((model.arm, model.theta), data.recorded, settings, plain)
    if model.validation is not None:
        errors = tuple(
            replace(each, unrepeated_percent=unrepeated_percent(
                model.validation, unrepeated[each.cutoff_hz])[0])
            if each.cutoff_hz in unrepeated else each for each in errors)
    return replace(
        model, error_by_bandwidth=errors,
        unrepeated=tuple(unrepeated[cutoff].tolist()) if cutoff in unrepeated else None)


def _error(
    cutoff_hz: float | None, model: Fitted, plain: Fitted | None,
    recordings: Sequence[Recording], settings: Sequence[ConditioningSettings],
) -> BandwidthError | None:
    """Compare measured and predicted torque at one bandwidth; None if no sample is left."""
    if cutoff_hz is not None:
        settings = [each.at(cutoff_hz) for each in settings]
    fitted = [model] if plain is None else [model, plain]
    terms = tuple(dict.fromkeys(term for arm, _ in fitted for term in arm.friction))
    rows = [KeptRows(model[0], condition_recordings(model[0], [recording], own), own, terms)
            for recording, own in zip(recordings, settings, strict=True)]
    predicted = _as_recorded if cutoff_hz is None else partial(
        KeptRows.predict, name='', held_out=True)
    parts = [[part for each in rows for part in predicted(each, *one)] for one in fitted]
    if not parts[0]:
        return None
    names = model[0].joint_names
    own, *others = (metrics(names, each).relative_error_percent for each in parts)
    return BandwidthError(cutoff_hz, own, others[0] if others else None)


def _as_recorded(rows: KeptRows, arm: ArmModel, theta: Array) -> list[Prediction]:
    """Predict unfiltered torque, without the ends that the low-pass of the fit drops."""
    reach = rows.settings.decimator().reach
    step = max(1, rows.settings.decimation // RECORDED_PER_ROW)
    result = []
    for motion in rows.motions:
        inner = slice(reach, len(motion.t) - reach, step)
        if len(motion.t[inner]):
            tau = np.where(motion.moving[inner], motion.tau[inner], np.nan)
            result.append(Prediction(
                '', True, motion.t[inner], motion.q[inner], motion.qd[inner], tau,
                motion_torque(arm, theta, motion, inner)))
    return result
