"""Checks of recorded velocities against the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.recordings import absurd_values
from dynid_ros.recordings.motion_checks import moves, THRESHOLDS
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.recordings.stamp_checks import first_stamp

Array = NDArray[np.float64]


def without_bad_velocities(recording: Recording) -> Recording:
    """Leave out velocities that are NaN, zero, or contradict the positions; report them."""
    qd = recording.qd
    if qd is None or len(recording.t) < 3:
        return recording
    found = [*_nonfinite(recording, qd)] or [*_zero(recording, qd), *_inconsistent(recording, qd)]
    if not found:
        return recording
    return replace(recording, qd=None, defects=(*recording.defects, *found))


def _nonfinite(recording: Recording, qd: Array) -> list[Defect]:
    bad = ~(np.abs(qd) <= absurd_values.THRESHOLDS.velocity)
    return [
        Defect(
            'velocity_nan',
            'warning',
            f'{recording.joint_names[j]} has {int(bad[:, j].sum())} NaN or infinite velocities: '
            f'velocities are left out and positions differentiated.',
            recording.joint_names[j],
            int(bad[:, j].sum()),
            first_stamp(recording, bad[:, j]),
        )
        for j in np.flatnonzero(bad.any(axis=0))
    ]


def _zero(recording: Recording, qd: Array) -> list[Defect]:
    return [
        Defect(
            'velocity_zero',
            'warning',
            f'{recording.joint_names[j]} moves but its velocity is always zero: velocities are '
            f'left out and positions differentiated.',
            recording.joint_names[j],
            len(recording.t),
            0.0,
            0.0,
        )
        for j in np.flatnonzero(moves(recording) & ~qd.any(axis=0))
    ]


def _inconsistent(recording: Recording, qd: Array) -> list[Defect]:
    """Compare the change of position over windows with the integral of the velocity."""
    time, window = np.diff(recording.t), THRESHOLDS.velocity_window
    width = round(window / float(np.median(time)))
    if width < 2 or len(recording.t) < 4 * width:
        return []
    whole = recording.t[width:] - recording.t[:-width] < THRESHOLDS.velocity_stretch * window
    if not whole.any():
        return []
    found = []
    for j in np.flatnonzero(moves(recording) & qd.any(axis=0)):
        integral = np.concatenate([[0.0], np.cumsum(0.5 * (qd[1:, j] + qd[:-1, j]) * time)])
        moved = (recording.q[width:, j] - recording.q[:-width, j])[whole]
        expected = (integral[width:] - integral[:-width])[whole]
        if not moved.any():
            continue
        mismatch = float(np.linalg.norm(moved - expected) / np.linalg.norm(moved))
        if mismatch > THRESHOLDS.velocity_mismatch:
            scale = float(expected @ moved / (expected @ expected))
            found.append(_mismatch(recording.joint_names[j], len(recording.t), mismatch, scale))
    return found


def _mismatch(name: str, count: int, mismatch: float, scale: float) -> Defect:
    text = (
        f'The velocity of {name} differs from its differentiated position by '
        f'{100 * mismatch:.0f} % '
        f'(a factor of {scale:.3g} would fit best): velocities are left out and positions '
        f'differentiated.'
    )
    return Defect(
        'velocity_inconsistent', 'warning', text, name, count, 0.0, mismatch,
        THRESHOLDS.velocity_mismatch,
    )
