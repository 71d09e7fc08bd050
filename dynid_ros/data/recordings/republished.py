"""Streams that repeat samples: a driver publishes at its own rate what another one measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.in_blocks import Index
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

#: Samples at which the motion is compared with its neighbours; more of them change nothing.
COMPARED = 20_000


# Bounds from which stamps become even, and from which a long repetition is no rest.

#: Largest range of the differences of stamps from even ones, in periods of the publisher. No stamp
#: is truer than one of these, and jitter adds to it.
SPAN_PERIODS = 1.5
#: Largest roughness of the motion by even stamps beyond that range, relative to that by the stamps
#: of the messages. Real recordings have 0.20 (Panda) and 0.04 (a Sawyer). Where a message came
#: late, and the next one shows the motion of two periods, it is 1 or more.
SMOOTHER_SHARE = 0.5
#: Step on both sides of a long repetition from which the arm moved meanwhile, relative to the root
#: mean square step of a joint.
MOVED_SHARE = 0.2


def as_measured(recording: Recording) -> Recording:
    """
    Leave out samples that were published again, and restore the even stamps of the others.

    A node that publishes at 30 Hz what a driver measures at 29.4 Hz repeats a sample every 1.6 s,
    and one that publishes at 500 Hz what a controller measures at 166.7 Hz repeats most of them:
    derivatives see steps instead of the motion. A sample that equals the one before bit by bit in
    all positions and drive signals is no new measurement, unless the arm rests.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.

    Returns
    -------
    Recording
        The same recording if nothing repeats but rests.

    """
    places = _repeated(recording)
    keep = np.ones(len(recording.t), dtype=bool)
    keep[places] = False
    starts = np.flatnonzero(keep)
    if not len(places) or len(starts) < 3 or not moves(recording).any():
        return recording
    published, usual = float(np.median(np.diff(recording.t))), _period(recording, starts)
    longest = max(stamp_checks.GAP_STEPS * usual, stamp_checks.GAP_SECONDS)
    rests, edges = _rests(recording, starts, longest), np.zeros(len(keep), dtype=np.int64)
    for start, stop in rests.tolist():
        # As if it had been measured all the time.
        keep[start:stop:max(1, round(usual / published))] = True
        edges[start] += 1
        edges[stop:stop + 1] -= 1
    if keep.all():
        return recording
    stamps, still = recording.t[keep], np.cumsum(edges)[keep] > 0
    # Age and period of the measurement go on within a stretch.
    stretch = np.append(0, np.cumsum((np.diff(stamps) > longest) | still[1:] | still[:-1]))
    even, period = _even_stamps(stamps, recording.q[keep], stretch, usual, published)
    count, first = int(np.count_nonzero(~keep)), float(recording.t[np.argmin(keep)])
    text = f'{count} of {len(keep)} samples repeat the one before'
    if even is not None or usual > SPAN_PERIODS * published:
        text += (f': a node publishes at {1 / published:.4g} Hz the samples of a driver that '
                 f'measures at {1 / period:.4g} Hz')
    text += '; they are left out' + ('' if even is None else ', and the others get even stamps')
    measured = recording.take(keep, [Defect(
        'samples_republished', 'info', f'{text}; a stream keeps them.', None, count,
        first - float(recording.t[0]), count / len(keep))])
    return measured if even is None else replace(measured, t=even)


def _repeated(recording: Recording) -> Index:
    """Find the samples that repeat the one before in all positions and drive signals, (k,)."""
    places = np.arange(1, len(recording.t))
    for column in (*recording.q.T, *recording.u.T):
        # Only samples that are equal so far; where none repeats, those are few.
        places = places[column[places] == column[places - 1]]
    return places


def _period(recording: Recording, starts: Index) -> float:
    """Find the time between two measurements in which the arm covers most of its way, s."""
    steps, way = np.diff(recording.t[starts]), np.abs(np.diff(recording.q[starts], axis=0))
    order = np.argsort(steps)
    covered = np.cumsum(way.sum(axis=1)[order])
    return float(steps[order[np.searchsorted(covered, covered[-1] / 2)]])


def _rests(recording: Recording, starts: Index, longest: float) -> Index:
    """Find long repetitions during which no joint moved, (k, 2): begin and end."""
    t, q = recording.t, recording.q
    stops = np.append(starts[1:], len(t))
    long = t[np.minimum(stops, len(t) - 1)] - t[starts] > longest
    steps = np.abs(np.diff(q[starts], axis=0))
    least = MOVED_SHARE * np.sqrt((steps**2).mean(axis=0))
    # A recording that begins or ends in a rest shows no step there.
    edge = np.zeros((1, q.shape[1]))
    before, after = np.concatenate([edge, steps]), np.concatenate([steps, edge])
    moves = ((before > least) & (after > least)).any(axis=1)
    return np.asarray(np.column_stack([starts, stops])[long & ~moves])


def _even_stamps(
    stamps: Array, q: Array, stretch: Index, usual: float, published: float,
) -> tuple[Array | None, float]:
    """
    Find the even stamps of a measurement, if that is safe, and its period, s.

    They are those that the messages have but for the period of the publisher; or those by which
    the motion is much smoother.

    Parameters
    ----------
    stamps : (N,) ndarray
        Stamps of the messages, s.
    q : (N, n) ndarray
        Positions.
    stretch : (N,) ndarray of int
        Number of the stretch that a sample belongs to.
    usual, published : float
        Usual time between two measurements, and between two messages, s.

    """
    found: Array | None = None
    period, near = usual, SPAN_PERIODS * published
    roughest = SMOOTHER_SHARE * _roughness(stamps, q, stretch)
    # Measurements that never arrived take their time; or none is missing.
    for passed in (np.rint(np.diff(stamps) / usual), np.zeros(len(stamps) - 1)):
        even, own = _even(stamps, np.append(0, np.cumsum(np.maximum(passed, 1))), stretch)
        rough = _roughness(even, q, stretch)
        # The first sample may have been published before the recording began.
        close = passed.any() and usual > near and np.ptp((stamps - even)[1:]) <= near
        if (close or rough < roughest) and np.diff(even).min() > 0:
            found, period, roughest = even, own, SMOOTHER_SHARE * rough
    return found, period


def _even(stamps: Array, count: Array, stretch: Index) -> tuple[Array, float]:
    """Fit even stamps of one period, each stretch with its own beginning."""
    size = np.bincount(stretch)

    def centred(x: Array) -> Array:
        return np.asarray(x - (np.bincount(stretch, x) / size)[stretch])

    middle, own = centred(count), centred(stamps)
    period = float(middle @ own) / max(float(middle @ middle), 1.0)
    return stamps - own + period * middle, period


def _roughness(t: Array, q: Array, stretch: Index) -> float:
    """Root mean square distance of samples from the cubic through four neighbours, rad or m."""
    first = np.flatnonzero(stretch[4:] == stretch[:-4])[:COMPARED]
    at = [t[first + k] for k in range(5)]
    away = q[first + 2]
    for k in (0, 1, 3, 4):
        others = [i for i in (0, 1, 3, 4) if i != k]
        weight = np.prod([(at[2] - at[i]) / (at[k] - at[i]) for i in others], axis=0)
        away = away - weight[:, None] * q[first + k]
    return float(np.sqrt((away**2).sum()))
