"""Suspects of all rows of a fit, whose columns have passed the low-pass of the torque."""

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
from dynid_ros.estimation.suspects.suspect import every_row, in_any_gravity, Suspect
from dynid_ros.utilities.arrays import Array, joined

#: Rows of a recording at most: seven minutes at a cut-off of 10 Hz, 60 MB of a 7-joint arm.
MOST = 2**14


def of_fit(arm: ArmModel, kept: KeptRows, theta: Array | None = None) -> Suspect:
    """
    Take the rows of a fit.

    A suspect of another geometry has what that changes of the columns as it is before the
    low-pass: the error is the product of the fault and of what the low-pass does.

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
    step = -(-len(samples.t) // MOST) or 1
    W, done = [], 0
    for block in kept.blocks(arm, theta):
        W.append(block.W[-done % step::step])
        done += len(block.t)
    if not W:
        raise RecordingError(NO_ROW)
    plain = every_row(arm, samples.at(slice(None, None, step)))
    rows = plain.rows
    through = np.concatenate(W) @ base_parameters(arm).grouping[:, rows.columns]
    return replace(plain, rows=replace(rows, low_passed=through - rows.regressor()))


def beside(base: Suspect, more: Sequence[Suspect], again: NDArray[np.intp]) -> Suspect:
    """
    Put recordings beside one, in which some parameters may have other values.

    Parameters
    ----------
    base : Suspect
        Rows of the one.
    more : sequence of Suspect
        Rows of the others, of the same arm.
    again : (l,) ndarray of int
        These standard parameters.

    """
    arm, groups, every = base.arm, base.groups, [base, *more]
    change = base_parameters(in_any_gravity(arm)).grouping[:, again]
    for each in more:
        groups = np.append(groups, groups.max() + 1 + each.groups)
    rows = replace(base.rows, samples=joined([each.samples for each in every]), again=again,
                   moment=len(base.samples.t), low_passed=None)
    W = np.concatenate([each.rows.regressor() for each in every])
    through = np.concatenate([W, W @ change], axis=2)
    through[:rows.moment, :, W.shape[2]:] = 0.0
    return replace(base, groups=groups, rows=replace(rows, low_passed=through - rows.regressor()))
