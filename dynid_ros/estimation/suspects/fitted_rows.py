# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Suspects on all rows of a fit, whose columns are low-pass filtered like the torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import trial_samples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.rows import NO_ROW
from dynid_ros.estimation.suspects.suspect import in_any_gravity, Suspect, with_all_samples
from dynid_ros.utilities.arrays import Array, joined

#: Most rows of a recording: seven minutes at a cut-off of 10 Hz, 60 MB for a 7-joint arm.
MOST_ROWS = 2**14


def suspect_of_fit(arm: ArmModel, kept: KeptRows, theta: Array | None = None) -> Suspect:
    """
    Make a suspect of the rows of a fit.

    If a suspect changes the geometry, the change of the columns is not low-pass filtered: this
    error is of second order, the fault times the effect of the low-pass.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of the fit.
    kept : KeptRows
        Its rows.
    theta : (b,) ndarray, optional
        Its base parameters; needed by the ``load`` friction term only.

    Raises
    ------
    RecordingError
        There are no rows.

    """
    samples = trial_samples(kept.motions, kept.settings, most=np.iinfo(np.int64).max)
    step = -(-len(samples.t) // MOST_ROWS) or 1
    W, count = [], 0
    for block in kept.blocks(arm, theta):
        W.append(block.W[-count % step::step])
        count += len(block.t)
    if not W:
        raise RecordingError(NO_ROW)
    plain = with_all_samples(arm, samples.at(slice(None, None, step)))
    rows = plain.rows
    filtered = np.concatenate(W) @ base_parameters(arm).grouping[:, rows.columns]
    return replace(plain, rows=replace(rows, low_passed=filtered - rows.regressor()))


def with_recordings(base: Suspect, more: Sequence[Suspect], changed: NDArray[np.intp]) -> Suspect:
    """
    Append recordings in which some parameters may have other values.

    Parameters
    ----------
    base : Suspect
        Rows of the first recording.
    more : sequence of Suspect
        Rows of the others, with the same arm.
    changed : (l,) ndarray of int
        Standard parameters that may differ.

    """
    arm, groups, suspects = base.arm, base.groups, [base, *more]
    difference = base_parameters(in_any_gravity(arm)).grouping[:, changed]
    for each in more:
        groups = np.append(groups, groups.max() + 1 + each.groups)
    samples = joined([each.samples for each in suspects])
    presence = (np.arange(len(samples.t)) >= len(base.samples.t)).astype(float)
    rows = replace(
        base.rows, samples=samples, changed=changed, presence=presence, low_passed=None)
    W = np.concatenate([each.rows.regressor() for each in suspects])
    filtered = np.concatenate([W, W @ difference * presence[:, None, None]], axis=2)
    return replace(base, groups=groups, rows=replace(rows, low_passed=filtered - rows.regressor()))
