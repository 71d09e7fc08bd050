"""Cleaning of recordings; each change is reported as a defect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.recordings import absurd_values
from dynid_ros.recordings.motion_checks import unwrapped, without_bad_velocities
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.recordings.stamp_checks import first_stamp, only_increasing, take, usable


@dataclass(frozen=True)
class CleaningThresholds:
    """
    Bounds of the defects that cleaning mends.

    Attributes
    ----------
    missing_share : float
        Largest share of samples without a position that are left out. A driver now and then fails
        to read an encoder; a recording that lacks more is broken.

    """

    missing_share: float = 0.01


THRESHOLDS = CleaningThresholds()


def clean(log: Recording, arm: ArmModel) -> Recording:
    """
    Return a recording whose stamps increase and whose positions are finite and unwrapped.

    Each change is added to the defects; a clean recording is returned unchanged.
    `check_recording` reports the defects that cannot be repaired.

    Parameters
    ----------
    log : Recording
        Recording.
    arm : ArmModel
        Kinds of the joints: revolute or prismatic.

    """
    log = only_increasing(log)
    log = _finite_positions(log)
    if not usable(log.t) or not (np.abs(log.q) <= absurd_values.THRESHOLDS.position).all():
        return log
    return without_bad_velocities(unwrapped(log, arm))


def _finite_positions(log: Recording) -> Recording:
    """Drop samples without a position, if they are few."""
    bad = ~np.isfinite(log.q)
    rows: NDArray[np.bool_] = np.asarray(bad.any(axis=1))
    fraction = float(rows.mean()) if len(log.t) else 0.0
    if not 0 < fraction <= THRESHOLDS.missing_share:
        return log
    found = [
        Defect(
            'position_nan',
            'warning',
            f'{log.joint_names[j]} has {int(bad[:, j].sum())} NaN or infinite positions; '
            f'these samples are left out.',
            log.joint_names[j],
            int(bad[:, j].sum()),
            first_stamp(log, bad[:, j]),
            fraction,
            THRESHOLDS.missing_share,
        )
        for j in np.flatnonzero(bad.any(axis=0))
    ]
    return take(log, ~rows, found)
