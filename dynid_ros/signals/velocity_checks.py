"""Whether the recorded velocities can be used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.signals.log import Array, Defect, JointLog
from dynid_ros.signals.position_checks import moves
from dynid_ros.signals.stamp_checks import first_stamp

# Velocities are compared with positions by their integral over so long, s: the noise of
# differentiated positions does not enter, and lags of filters hardly do.
WINDOW = 0.5
# Of the distance moved; velocities of real drivers were seen to differ by 0.3 to 3 %.
MISMATCH = 0.25
# Windows stretched by gaps, where the integral is unknown.
STRETCH = 1.2
# Uninitialised memory, rad/s or m/s.
ABSURD_VELOCITY = 1e4


def without_bad_velocities(log: JointLog) -> JointLog:
    """Leave out velocities that are no number, zero, or contradict the positions; say so."""
    if log.qd is None or len(log.t) < 3:
        return log
    found = [*_nonfinite(log, log.qd)] or [*_zero(log, log.qd), *_inconsistent(log, log.qd)]
    if not found:
        return log
    return replace(log, qd=None, defects=(*log.defects, *found))


def _nonfinite(log: JointLog, qd: Array) -> list[Defect]:
    bad = ~(np.abs(qd) <= ABSURD_VELOCITY)
    return [
        Defect(
            'velocity_nan',
            'warning',
            f'{log.joint_names[j]} has {int(bad[:, j].sum())} velocities that are no number: '
            f'velocities are left out and positions differentiated.',
            log.joint_names[j],
            int(bad[:, j].sum()),
            first_stamp(log, bad[:, j]),
        )
        for j in np.flatnonzero(bad.any(axis=0))
    ]


def _zero(log: JointLog, qd: Array) -> list[Defect]:
    return [
        Defect(
            'velocity_zero',
            'warning',
            f'{log.joint_names[j]} moves but its velocity is always zero: velocities are left '
            f'out and positions differentiated.',
            log.joint_names[j],
            len(log.t),
            0.0,
            0.0,
        )
        for j in np.flatnonzero(moves(log) & ~qd.any(axis=0))
    ]


def _inconsistent(log: JointLog, qd: Array) -> list[Defect]:
    """Compare the change of position over windows with the integral of the velocity."""
    time = np.diff(log.t)
    width = round(WINDOW / float(np.median(time)))
    if width < 2 or len(log.t) < 4 * width:
        return []
    whole = log.t[width:] - log.t[:-width] < STRETCH * WINDOW
    if not whole.any():
        return []
    found = []
    for j in np.flatnonzero(moves(log) & qd.any(axis=0)):
        integral = np.concatenate([[0.0], np.cumsum(0.5 * (qd[1:, j] + qd[:-1, j]) * time)])
        moved = (log.q[width:, j] - log.q[:-width, j])[whole]
        expected = (integral[width:] - integral[:-width])[whole]
        if not moved.any():
            continue
        mismatch = float(np.linalg.norm(moved - expected) / np.linalg.norm(moved))
        if mismatch > MISMATCH:
            scale = float(expected @ moved / (expected @ expected))
            found.append(_mismatch(log.joint_names[j], len(log.t), mismatch, scale))
    return found


def _mismatch(name: str, count: int, mismatch: float, scale: float) -> Defect:
    text = (
        f'The velocity of {name} misses the change of its position by {100 * mismatch:.0f} % '
        f'(a factor of {scale:.3g} would fit best): velocities are left out and positions '
        f'differentiated.'
    )
    return Defect(
        'velocity_inconsistent', 'warning', text, name, count, 0.0, mismatch, MISMATCH
    )
