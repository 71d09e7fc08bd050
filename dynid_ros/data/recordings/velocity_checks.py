"""Checks of recorded velocities against the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.absurd_values import marked_defects
from dynid_ros.data.recordings.in_blocks import marked
from dynid_ros.data.recordings.motion_checks import (
    moves,
    VELOCITY_MISMATCH,
    VELOCITY_SECONDS,
    VELOCITY_STRETCH,
)
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

#: Keeps a division finite.
TINY = float(np.finfo(float).tiny)
LEFT_OUT = 'velocities are left out and positions differentiated.'


def without_bad_velocities(recording: Recording) -> Recording:
    """Drop velocities that are NaN, zero, or contradict the positions; report them."""
    qd = recording.qd
    if qd is None or len(recording.t) < 3:
        return recording
    still = moves(recording) & ~qd.any(axis=0)
    found = marked_defects(
        recording, marked(qd, lambda x: ~(np.abs(x) <= absurd_values.ABSURD_VELOCITY)),
        'velocity_nan', 'warning',
        f'{{name}} has {{count}} NaN or infinite velocities: {LEFT_OUT}',
    ) or [*marked_defects(
        recording, np.broadcast_to(still, qd.shape), 'velocity_zero', 'warning',
        f'{{name}} moves but its velocity is always zero: {LEFT_OUT}', value=0.0),
        *_inconsistent(recording, qd)]
    if not found:
        return recording
    return replace(recording, qd=None, defects=(*recording.defects, *found))


def _inconsistent(recording: Recording, qd: Array) -> list[Defect]:
    """Compare the change of position over windows with the integral of the velocity."""
    t, q, window = recording.t, recording.q, VELOCITY_SECONDS
    width = round(window / float(np.median(np.diff(t))))
    if width < 2 or len(t) < 4 * width:
        return []
    whole = t[width:] - t[:-width] < VELOCITY_STRETCH * window
    found = []
    # Joint by joint, to avoid a copy of the recording.
    for j in np.flatnonzero(moves(recording) & qd.any(axis=0)):
        areas = 0.5 * (qd[1:, j] + qd[:-1, j]) * np.diff(t)
        integral = np.append(0.0, np.cumsum(areas))
        moved, expected = ((x[width:] - x[:-width])[whole] for x in (q[:, j], integral))
        motion = float(moved @ moved)
        mismatch = float(np.sqrt(((moved - expected)**2).sum() / max(motion, TINY)))
        if motion > 0 and mismatch > VELOCITY_MISMATCH:
            scale = float(moved @ expected / max(float(expected @ expected), TINY))
            name = recording.joint_names[j]
            found.append(Defect(
                'velocity_inconsistent', 'warning',
                f'The velocity of {name} differs from its differentiated position by '
                f'{100 * mismatch:.0f} % (a factor of {scale:.3g} would fit best): {LEFT_OUT}',
                name, len(t), 0.0, mismatch, VELOCITY_MISMATCH))
    return found
