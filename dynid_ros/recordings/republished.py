"""Streams that repeat samples: a driver publishes at its own rate what another one measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.recordings.stamp_checks import take

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Samples at which the motion is compared with its neighbours; more of them change nothing.
COMPARED = 20_000


@dataclass(frozen=True)
class RepublishedThresholds:
    """
    Bounds from which a stream counts as republished.

    Attributes
    ----------
    repeats : int
        Repeated samples from which the period of the measurement is known: fewer may be messages
        that came late.
    span : float
        Largest range of the ages of the samples, in periods of the publisher, or of the
        measurement where that is longer. An age that grows until a sample is published twice
        ranges over one; jitter of the stamps adds to it. The real Panda has 1.21.
    smoother : float
        Largest roughness of the motion by even stamps, relative to that by the stamps of the
        messages. The real Panda has 0.20. Where a message came late, and the next one shows the
        motion of two periods, it is 1 or more.

    """

    repeats: int = 3
    span: float = 1.5
    smoother: float = 0.5


THRESHOLDS = RepublishedThresholds()
REPUBLISHED = 'samples_republished'
#: What becomes of them in a recording and in a stream, of which later samples are unknown.
LEFT_OUT = 'they are left out, and the others get even stamps'
KEPT = 'a stream does not know it in time and keeps them'


def as_measured(recording: Recording) -> Recording:
    """
    Leave out samples that were published twice, and restore the even stamps of the others.

    A node that publishes at 30 Hz what a driver measures at 29.4 Hz repeats a sample every 1.6 s,
    and the age of its samples grows to one period meanwhile: velocities jump at each repetition.
    Positions and drive signals that are equal bit by bit in all joints show the repetitions. The
    stamps become even where those of the messages then fit, and the motion is smoother by them.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.

    Returns
    -------
    Recording
        The same recording if its samples are not repeated that way.

    """
    again = repeated(recording)
    if len(again) < THRESHOLDS.repeats:
        return recording
    keep = np.ones(len(recording.t), dtype=bool)
    keep[again] = False
    stamps = recording.t[keep]
    if len(stamps) < 5:
        return recording
    even, span = _even(stamps)
    period, published = even[1] - even[0], float(np.median(np.diff(recording.t)))
    if span > THRESHOLDS.span * max(period, published):
        return recording
    q = recording.q[keep][:COMPARED]
    # Measured every few periods of the publisher, samples have even stamps without repair.
    uneven = np.ptp(np.diff(stamps)) > 0.5 * published
    if uneven and _roughness(even, q) > THRESHOLDS.smoother * _roughness(stamps, q):
        return recording
    text = (
        f'{len(again)} of {len(keep)} samples repeat the one before: a node publishes at '
        f'{1 / published:.4g} Hz the samples of a driver that measures at {1 / period:.4g} Hz; '
        f'{LEFT_OUT}.')
    first = float(recording.t[again[0]] - recording.t[0])
    found = [Defect(REPUBLISHED, 'info', text, None, len(again), first,
                    len(again) / len(keep))]
    return replace(take(recording, keep, found), t=even)


def as_streamed(defects: Sequence[Defect]) -> tuple[Defect, ...]:
    """Say of samples that were published twice that a stream keeps them."""
    return tuple(replace(each, message=each.message.replace(LEFT_OUT, KEPT))
                 if each.code == REPUBLISHED else each for each in defects)


def repeated(recording: Recording) -> Index:
    """Find the samples that repeat the one before in all positions and drive signals, (k,)."""
    places = np.arange(1, len(recording.t))
    for column in (*recording.q.T, *recording.u.T):
        # Only samples that are equal so far; those are few.
        places = places[column[places] == column[places - 1]]
    return places


def _even(stamps: Array) -> tuple[Array, float]:
    """Fit even stamps, and find the range of the differences from them, s."""
    count = np.arange(len(stamps), dtype=np.float64)
    middle = count - count.mean()
    period = float(middle @ stamps / (middle @ middle))
    even = stamps.mean() + period * middle
    return even, float(np.ptp(stamps - even))


def _roughness(t: Array, q: Array) -> float:
    """Distance of samples from the cubic through four neighbours, relative to the steps."""
    at = [t[k:len(q) - 4 + k] for k in range(5)]
    away = q[2:-2].copy()
    for k in (0, 1, 3, 4):
        others = [i for i in (0, 1, 3, 4) if i != k]
        weight = np.prod([(at[2] - at[i]) / (at[k] - at[i]) for i in others], axis=0)
        away -= weight[:, None] * q[k:len(q) - 4 + k]
    scale = np.abs(np.diff(q, axis=0)).mean(axis=0)
    return float(np.sqrt(np.mean((away / np.where(scale > 0, scale, 1.0))**2)))
