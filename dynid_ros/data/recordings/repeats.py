# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples that repeat the one before, because a logger is faster than its source or at rest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Index, Mask

#: Steps on both sides of a long repetition from which the arm moved during it, relative to the
#: root mean square step of a joint.
MOVED_SHARE = 0.2
#: Steps over which the speed before and after a stall is measured. A joint at rest, or so slow
#: that its encoder shows no motion in some samples, does not move in all of them.
SPEED_STEPS = 3
#: Most that an unseen motion covers, relative to its time at the mean speed before and after it.
#: It is 1 if the arm accelerates evenly. An encoder that fails meanwhile adds a way of its own.
MOST_WAY = 1.5


def measured_once(recording: Recording) -> tuple[Mask, Mask]:
    """
    Find the samples that are new measurements.

    A node that publishes at 30 Hz what a driver measures at 29.4 Hz repeats a sample every 1.6 s,
    and one that publishes at 500 Hz what a controller measures at 166.7 Hz repeats most of them,
    so derivatives see steps instead of the motion. A sample that equals the previous one bit by
    bit in all positions and drive signals is not a new measurement, unless the arm rests.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.

    Returns
    -------
    keep : (N,) ndarray of bool
        False for a repetition; of a rest, samples at the rate of the measurement are kept.
    still : (N,) ndarray of bool
        True within such a rest.

    """
    places = _repeated((*recording.q.T, *recording.u.T))
    keep, still = np.ones(len(recording.t), dtype=bool), np.zeros(len(recording.t), dtype=bool)
    keep[places] = False
    starts = np.flatnonzero(keep)
    if not len(places) or len(starts) < 3 or not moves(recording.span).any():
        return np.ones_like(keep), still
    published, usual = recording.step, _period(recording, starts)
    for start, stop in _rests(recording, starts, longest_step(usual)).tolist():
        # Keep samples at the rate of the measurement.
        keep[start:stop:max(1, round(usual / published))] = True
        still[start:stop + 1] = True
    return keep, still


def without_stalled(recording: Recording) -> Recording:
    """
    Drop samples whose positions stand still because nobody measured them.

    While an encoder publisher stalls, messages repeat its last positions bit by bit, and then
    these catch up in one step. It is a stall if the joint of the longest step moved in all samples
    around it, at a speed that explains the distance by the complete time rather than by one
    sample. Other jumps remain.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.

    """
    t, q, u = recording.t, recording.q, recording.u
    held = _repeated(q.T)
    # Samples before and behind each hold.
    first = held[np.diff(held, prepend=-1) > 1] - 1
    after = held[np.diff(held, append=len(t) + 1) > 1] + 1
    stale = np.zeros(len(t), dtype=np.bool_)
    inner = (first >= SPEED_STEPS) & (after + SPEED_STEPS < len(t))
    first, after = first[inner], after[inner]
    # A sensor that is slower than its messages holds too often to check each hold.
    repeated, beside = np.isin(np.arange(len(t)), held), np.arange(SPEED_STEPS)
    alone = ~(repeated[first[:, None] - beside]
              | repeated[after[:, None] + 1 + beside]).any(axis=1)
    for start, stop in zip(first[alone].tolist(), after[alone].tolist(), strict=True):
        # Where drive signals repeat, too, `measured_once` finds it.
        if (u[start:stop] != u[start]).any() and caught_up(t, q, start, stop):
            stale[start + 1:stop] = True
    if not stale.any():
        return recording
    count = int(stale.sum())
    text = (f'the positions of {count} of {len(t)} samples are those of the sample before while '
            'the arm moves, and then catch up: these samples are left out; see what delays the '
            'source of the positions.')
    return recording.take(~stale, [Defect(
        'position_stalled', 'warning', text, None, count,
        stamp_checks.stamp_of(recording, int(np.argmax(stale))), count / len(t))])


def caught_up(t: Array, q: Array, start: int, stop: int) -> bool:
    """
    Whether the joint of the longest step moved on, unseen, from one sample to another.

    It moves likewise before and after, at a speed that explains the way by the time between both
    rather than by the step to the last one alone.
    """
    first, last = start - SPEED_STEPS, stop + SPEED_STEPS
    if first < 0 or last >= len(t):
        return False
    x = q[:, np.argmax(np.abs(q[stop] - q[start]))]
    way = x[stop] - x[start]
    around = np.append(np.diff(x[first:start + 1]), np.diff(x[stop:last + 1]))
    speed = ((x[start] - x[first]) / (t[start] - t[first])
             + (x[last] - x[stop]) / (t[last] - t[stop])) / 2
    unseen, one = (speed * (t[stop] - t[k]) for k in (start, stop - 1))
    return bool((around * way > 0).all() and abs(way - unseen) < abs(way - one)
                and abs(way) < MOST_WAY * abs(unseen))


def longest_step(usual: float) -> float:
    """Time between two samples from which one is missing, given the usual time, s."""
    return max(stamp_checks.GAP_STEPS * usual, stamp_checks.GAP_SECONDS)


def _repeated(columns: Iterable[Array]) -> Index:
    """Find the samples that repeat all values of the previous one, (k,)."""
    first, *others = columns
    places: Index = 1 + np.flatnonzero(first[1:] == first[:-1])
    for column in others:
        # Compare only samples that are equal so far, which are few if none repeats.
        places = places[column[places] == column[places - 1]]
    return places


def _period(recording: Recording, starts: Index) -> float:
    """Find the time between measurements, as the median weighted by the motion, s."""
    steps, way = np.diff(recording.t[starts]), np.abs(np.diff(recording.q[starts], axis=0))
    order = np.argsort(steps)
    covered = np.cumsum(way.sum(axis=1)[order])
    return float(steps[order[np.searchsorted(covered, covered[-1] / 2)]])


def _rests(recording: Recording, starts: Index, longest: float) -> Index:
    """Find long repetitions during which no joint moved, (k, 2): begin and end."""
    t, q = recording.t, recording.q
    stops = np.append(starts[1:], len(t))
    long = t[np.minimum(stops, len(t) - 1)] - t[starts] > longest
    steps: Array = np.abs(np.diff(q[starts], axis=0))
    least = MOVED_SHARE * np.sqrt((steps**2).mean(axis=0))
    # A recording may begin or end at rest.
    edge = np.zeros((1, q.shape[1]))
    before, after = np.concatenate([edge, steps]), np.concatenate([steps, edge])
    moved = ((before > least) & (after > least)).any(axis=1)
    return np.asarray(np.column_stack([starts, stops])[long & ~moved])
