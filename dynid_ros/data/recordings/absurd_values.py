# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Impossible values, steps and signals, defined alike for recordings and streams."""

from __future__ import annotations

from functools import partial

import numpy as np

from dynid_ros.arm.drive import DEVIATION
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.stamp_checks import stamp_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Index, marked, Mask, steps

# Bounds beyond which a value is no measurement of an arm. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.
# Batch checks and live checks read the same bounds, so that a stream accepts a sample if and only
# if a recording of it is accepted.

#: Largest position, rad or m. Joints of arms make tens of turns at most. Raw encoder counts (about
#: 1e5 a turn) and uninitialised memory (such as 1e224) exceed it. Good recordings reach 6 rad.
ABSURD_POSITION = 1e4
#: Largest velocity, rad/s or m/s. No joint of an arm reaches 50 rad/s.
ABSURD_VELOCITY = 1e4
#: Largest drive signal, Nm, N, A or V. The largest arms bear some 1e4 Nm. Good recordings reach
#: 180 Nm.
ABSURD_SIGNAL = 1e6
#: Largest drive signal that counts as zero, Nm, N, A or V: 1e-12 of the weakest friction of a
#: drive. Squares of smaller ones underflow.
NO_SIGNAL = 1e-12
#: Smallest step of a position between samples that counts as a jump, rad or m. The low-pass
#: smooths smaller steps. Steps of good recordings reach a seventh of the largest allowed one.
JUMP = 0.1
#: Speed that no joint reaches, rad/s or m/s, if its velocity limit is unknown.
JUMP_SPEED = 50.0
#: Speed that a joint does not reach, as a multiple of its velocity limit. Limits count as 1 rad/s
#: at least, since a description may state that of a slow mode.
JUMP_LIMITS, SLOWEST_LIMIT = 5.0, 1.0
#: Most samples in a row that are a spike if the joint is back behind them: the median of five
#: samples, by which streams judge, ignores two.
SPIKE_SAMPLES = 2


def largest_steps(time: Array, velocity: Array) -> Array:
    """
    Bound the steps of joints between samples.

    Parameters
    ----------
    time : (k,) ndarray
        Time between the samples, s.
    velocity : (n,) ndarray
        Velocity limits, rad/s or m/s; infinite where unknown.

    Returns
    -------
    (k, n) ndarray
        A larger step is a jump, rad or m.

    """
    speed = np.minimum(JUMP_SPEED, JUMP_LIMITS * np.maximum(velocity, SLOWEST_LIMIT))
    return np.asarray(np.maximum(JUMP, time[:, None] * speed))


def jumps(recording: Recording, velocity: Array) -> Index:
    """
    Find the steps between samples in which a joint jumps.

    Parameters
    ----------
    recording : Recording
        Stamps increase.
    velocity : (n,) ndarray
        As for `largest_steps`.

    Returns
    -------
    (k,) ndarray of int
        Numbers of the samples before these steps.

    """
    t, q = recording.t, recording.q
    if (recording.largest_step <= JUMP).all():
        return np.zeros(0, dtype=np.int64)
    found = [before.start + np.flatnonzero(
        (np.abs(q[after] - q[before]) > largest_steps(t[after] - t[before], velocity)).any(axis=1))
        for before, after in steps(len(q))]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def absurd_defects(recording: Recording) -> list[Defect]:
    """Report absurd finite values."""
    defects = []
    for code, what, values, (lowest, highest), limit in (
        ('position_absurd', 'positions', recording.q, recording.span, ABSURD_POSITION),
        ('effort_absurd', f'values of {recording.signal}', recording.u, recording.signal_span,
         ABSURD_SIGNAL),
    ):
        largest = np.maximum(-lowest, highest)
        if (largest > limit).any():
            defects += marked_defects(
                recording, marked(values, partial(_beyond, limit=limit)), code, 'error',
                f'{{name}}: {{count}} {what} reach {{value:.3g}}: uninitialised memory or a wrong '
                'unit.', value=largest, threshold=limit)
    return defects


def _beyond(values: Array, limit: float) -> Mask:
    return np.asarray(np.isfinite(values) & (np.abs(values) > limit))


def marked_defects(
    recording: Recording, marks: Mask, code: str, severity: str, text: str,
    **numbers: float | Array,
) -> list[Defect]:
    """
    Report marked samples, by joint.

    Parameters
    ----------
    recording : Recording
        The recording.
    marks : (N, n) ndarray of bool
        The samples.
    code, severity, text : str
        Of the defects; ``{name}``, ``{count}``, ``{total}`` and the numbers are filled in.
    **numbers : float or (n,) ndarray
        ``value`` and ``threshold``, of all joints or of each.

    """
    found = []
    for j in np.flatnonzero(marks.any(axis=0)):
        name, count = recording.joint_names[j], int(marks[:, j].sum())
        joint_numbers = {key: float(np.broadcast_to(each, marks.shape[1])[j])
                         for key, each in numbers.items()}
        message = text.format(name=name, count=count, total=len(recording.t), **joint_numbers)
        begin = stamp_of(recording, int(np.argmax(marks[:, j])))
        found.append(Defect(code, severity, message, name, count, begin, **joint_numbers))
    return found


def unmeasured(joint: str, signal: str, value: float) -> str:
    """Describe a drive signal that is constant although its joint moves."""
    if signal == DEVIATION:
        return (f'{joint} moves but its command differs from its position by {value:g} '
                'throughout: it is a copy of the position')
    return (f'{joint} moves but its {signal} is {value:g} throughout: the driver does not measure '
            'it')


def measured_or_passive(joint: str, signal: str, value: float) -> str:
    """Return the remedy for such a signal, for a sentence."""
    return 'record a topic that holds it' + (
        '' if value or signal == DEVIATION else
        f', or state drive: {{passive: [{joint}]}} in arm.yaml if no drive moves the joint')


def driven_passively(joint: str, signal: str, value: float) -> tuple[str, str, str]:
    """Code, clause and remedy of a signal whose joint is stated to have no drive."""
    return ('effort_of_passive', f'drive.passive of arm.yaml states that no drive moves {joint}, '
            f'but its {signal} reaches {value:.3g}', 'correct the one or the other')
