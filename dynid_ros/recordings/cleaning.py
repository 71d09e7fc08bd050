"""Cleaning of recordings; each change is reported as a defect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.recordings.motion_checks import unwrapped, without_bad_velocities
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.recordings.stamp_checks import first_stamp, only_increasing, take, usable

# A driver that now and then fails to read an encoder; more than this is a broken recording.
NAN_FRACTION = 0.01
# Far beyond any arm, rad or m, well below what uninitialised memory looks like (1e224 was seen).
ABSURD_POSITION = 1e4


def clean(log: Recording, arm: ArmModel) -> Recording:
    """
    Return a recording whose stamps increase and whose positions are finite and unwrapped.

    Each change is added to the defects; a clean recording is returned unchanged. `check_quality`
    reports the defects that cannot be repaired.

    Parameters
    ----------
    log : Recording
        Recording.
    arm : ArmModel
        Kinds of the joints: revolute or prismatic.

    """
    log = only_increasing(log)
    log = _finite_positions(log)
    if not usable(log.t) or not (np.abs(log.q) <= ABSURD_POSITION).all():
        return log
    return without_bad_velocities(unwrapped(log, arm))


def _finite_positions(log: Recording) -> Recording:
    """Drop samples without a position, if they are few."""
    bad = ~np.isfinite(log.q)
    rows: NDArray[np.bool_] = np.asarray(bad.any(axis=1))
    fraction = float(rows.mean()) if len(log.t) else 0.0
    if not 0 < fraction <= NAN_FRACTION:
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
            NAN_FRACTION,
        )
        for j in np.flatnonzero(bad.any(axis=0))
    ]
    return take(log, ~rows, found)
