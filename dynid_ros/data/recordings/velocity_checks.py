"""Checks of recorded velocities against the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.absurd_values import marked_defects
from dynid_ros.data.recordings.motion_checks import moves, THRESHOLDS
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

#: Keeps a division finite.
TINY = float(np.finfo(float).tiny)
LEFT_OUT = 'velocities are left out and positions differentiated.'


def without_bad_velocities(recording: Recording) -> Recording:
    """Leave out velocities that are NaN, zero, or contradict the positions; report them."""
    qd = recording.qd
    if qd is None or len(recording.t) < 3:
        return recording
    still = moves(recording) & ~qd.any(axis=0)
    found = marked_defects(
        recording, ~(np.abs(qd) <= absurd_values.THRESHOLDS.velocity), 'velocity_nan', 'warning',
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
    t, q, window = recording.t, recording.q, THRESHOLDS.velocity_window
    width = round(window / float(np.median(np.diff(t))))
    if width < 2 or len(t) < 4 * width:
        return []
    areas = 0.5 * (qd[1:] + qd[:-1]) * np.diff(t)[:, None]
    integral = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(areas, axis=0)])
    whole = t[width:] - t[:-width] < THRESHOLDS.velocity_stretch * window
    moved, expected = ((x[width:] - x[:-width])[whole] for x in (q, integral))
    motion, apart, integrated, product = (x.sum(axis=0) for x in (
        moved**2, (moved - expected)**2, expected**2, moved * expected))
    found = []
    for j in np.flatnonzero(moves(recording) & qd.any(axis=0) & (motion > 0)):
        mismatch = float(np.sqrt(apart[j] / motion[j]))
        if mismatch > THRESHOLDS.velocity_mismatch:
            scale = float(product[j] / max(integrated[j], TINY))
            name = recording.joint_names[j]
            found.append(Defect(
                'velocity_inconsistent', 'warning',
                f'The velocity of {name} differs from its differentiated position by '
                f'{100 * mismatch:.0f} % (a factor of {scale:.3g} would fit best): {LEFT_OUT}',
                name, len(t), 0.0, mismatch, THRESHOLDS.velocity_mismatch))
    return found
