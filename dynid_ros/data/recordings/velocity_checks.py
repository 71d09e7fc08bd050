"""Checks of recorded velocities against the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.absurd_values import marked_defects
from dynid_ros.data.recordings.in_blocks import blocks, where
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
    found = [*_nonfinite(recording, qd)] or [*_zero(recording, qd), *_inconsistent(recording, qd)]
    if not found:
        return recording
    return replace(recording, qd=None, defects=(*recording.defects, *found))


def _nonfinite(recording: Recording, qd: Array) -> list[Defect]:
    beyond = where(qd, lambda part: ~(np.abs(part) <= absurd_values.THRESHOLDS.velocity))
    return marked_defects(
        recording, beyond, 'velocity_nan', 'warning',
        f'{{name}} has {{count}} NaN or infinite velocities: {LEFT_OUT}')


def _zero(recording: Recording, qd: Array) -> list[Defect]:
    still = moves(recording) & ~_any(qd)
    return marked_defects(
        recording, (still * len(recording.t), np.zeros(len(still), dtype=np.int64)),
        'velocity_zero', 'warning',
        f'{{name}} moves but its velocity is always zero: {LEFT_OUT}', value=0.0)


def _any(qd: Array) -> NDArray[np.bool_]:
    return where(qd, lambda part: part != 0)[0] > 0


def _inconsistent(recording: Recording, qd: Array) -> list[Defect]:
    """Compare the change of position over windows with the integral of the velocity."""
    t, q, window = recording.t, recording.q, THRESHOLDS.velocity_window
    width = round(window / float(np.median(np.diff(t))))
    if width < 2 or len(t) < 4 * width:
        return []
    # Sums of squares of the motion, of its difference from the integral, and of the integral, and
    # of their product.
    motion, apart, integrated, product = sums = np.zeros((4, q.shape[1]))
    for part in blocks(len(t) - width):
        near = slice(part.start, part.stop + width)
        time, place, v = t[near], q[near], qd[near]
        areas = 0.5 * (v[1:] + v[:-1]) * np.diff(time)[:, None]
        integral = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(areas, axis=0)])
        whole = time[width:] - time[:-width] < THRESHOLDS.velocity_stretch * window
        moved, expected = ((x[width:] - x[:-width])[whole] for x in (place, integral))
        sums += [(moved**2).sum(axis=0), ((moved - expected)**2).sum(axis=0),
                 (expected**2).sum(axis=0), (moved * expected).sum(axis=0)]
    found = []
    for j in np.flatnonzero(moves(recording) & _any(qd) & (motion > 0)):
        mismatch = float(np.sqrt(apart[j] / motion[j]))
        if mismatch > THRESHOLDS.velocity_mismatch:
            scale = float(product[j] / max(integrated[j], TINY))
            found.append(_mismatch(recording.joint_names[j], len(t), mismatch, scale))
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
