# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of recorded velocities against the positions."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.absurd_values import marked_defects
from dynid_ros.data.recordings.motion_checks import (
    moves,
    VELOCITY_MISMATCH,
    VELOCITY_SECONDS,
    VELOCITY_STRETCH,
)
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import marked

#: Keeps a division finite.
TINY = float(np.finfo(float).tiny)
#: Largest factor of a time axis that is too long or too short. Velocities in degrees, turns and
#: turns a minute are off by 6.3 and more.
LARGEST_TIME_RATIO = 5.0
#: Least difference of positions and velocities that is reported if one factor explains it in all
#: joints, and share of it that may be left. A time axis that is off by 5 % changes accelerations
#: by 10 %.
SAME_FACTOR, LEFT_DIFFERENCE = 0.05, 0.5
#: The same, as a ratio of times, from which it is an error: drivers' velocities are off by less.
WRONG_TIME_RATIO = 1.2
LEFT_OUT = 'velocities are left out and positions differentiated.'


def without_bad_velocities(recording: Recording) -> Recording:
    """Drop velocities that are NaN, zero, or contradict the positions; report them."""
    qd = recording.qd
    if qd is None or len(recording.t) < 3:
        return recording
    still = moves(recording.span) & ~qd.any(axis=0)
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


class _Comparison(NamedTuple):
    """
    Change of the position of a joint over windows, beside the integral of its velocity.

    Attributes
    ----------
    joint : int
        Its number.
    moved, both, expected : float
        Sums over the windows: of the square of the change, of its product with the integral, and
        of the square of the integral.

    """

    joint: int
    moved: float
    both: float
    expected: float

    def mismatch(self, factor: float = 1.0) -> float:
        """Return the difference with velocities times a factor, relative to the motion."""
        squares = self.moved - 2 * factor * self.both + factor**2 * self.expected
        return float(np.sqrt(max(squares, 0.0) / self.moved))


def _inconsistent(recording: Recording, qd: Array) -> list[Defect]:
    """Compare the change of position over windows with the integral of the velocity."""
    compared = _comparisons(recording, qd)
    scaled = _other_time(recording, compared)
    if scaled is not None:
        return [scaled]
    wrong = [each for each in compared if each.mismatch() > VELOCITY_MISMATCH]
    return [Defect(
        'velocity_inconsistent', 'warning',
        f'The velocity of {recording.joint_names[each.joint]} differs from its differentiated '
        f'position by {100 * each.mismatch():.0f} % (a factor of {_factor([each]):.3g} would fit '
        f'best): {LEFT_OUT}', recording.joint_names[each.joint], len(recording.t), 0.0,
        each.mismatch(), VELOCITY_MISMATCH) for each in wrong]


def _factor(compared: list[_Comparison]) -> float:
    """Return the common factor of the velocities that fits best."""
    return sum(each.both for each in compared) / max(
        sum(each.expected for each in compared), TINY)


def _other_time(recording: Recording, compared: list[_Comparison]) -> Defect | None:
    """
    Report velocities that fit in all joints after a common factor.

    If the time axis is too short, differentiated positions are too large by the same factor. A
    model of such a recording predicts its own time axis well, so only velocities reveal it.
    """
    factor = _factor(compared)
    if len(compared) < 2 or not 1 / LARGEST_TIME_RATIO < factor < LARGEST_TIME_RATIO or any(
            each.mismatch() < SAME_FACTOR
            or each.mismatch(factor) > LEFT_DIFFERENCE * each.mismatch()
            for each in compared):
        return None
    fatal = max(factor, 1 / factor) > WRONG_TIME_RATIO
    remedy = ', or leave the velocities out of the file.' if fatal else f'; here, {LEFT_OUT}'
    return Defect(
        'stamps_scaled', 'error' if fatal else 'warning',
        f'The differentiated positions of all joints are {factor:.3g} times the recorded '
        f'velocities: the stamps cover {1 / factor:.3g} times the time of the motion, or all '
        f'velocities are in another unit; correct stamps or rate{remedy}',
        None, len(recording.t), 0.0, factor, WRONG_TIME_RATIO if fatal else 1 + SAME_FACTOR)


def _comparisons(recording: Recording, qd: Array) -> list[_Comparison]:
    """Compare each joint that moves and has a velocity."""
    t, q, window = recording.t, recording.q, VELOCITY_SECONDS
    width = round(window / float(np.median(np.diff(t))))
    if width < 2 or len(t) < 4 * width:
        return []
    whole = t[width:] - t[:-width] < VELOCITY_STRETCH * window
    found = []
    # Joint by joint, to avoid a copy of the recording.
    for j in np.flatnonzero(moves(recording.span) & qd.any(axis=0)).tolist():
        areas = 0.5 * (qd[1:, j] + qd[:-1, j]) * np.diff(t)
        integral = np.append(0.0, np.cumsum(areas))
        moved, expected = ((x[width:] - x[:-width])[whole] for x in (q[:, j], integral))
        found.append(_Comparison(j, *(float(x) for x in (
            moved @ moved, moved @ expected, expected @ expected))))
    return [each for each in found if each.moved > 0]
