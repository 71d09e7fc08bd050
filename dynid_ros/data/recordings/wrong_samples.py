# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Single samples whose stamps or states are wrong, so that joints jump."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.recordings import absurd_values, stamp_checks
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.repeats import caught_up, measured_once
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Index, Mask


def without_wrong_samples(recording: Recording, velocity: Array) -> Recording:
    """
    Drop single samples by which joints jump, if those around them show that they are wrong.

    A stamp is wrong if it is so near to a neighbour that joints jump, but not in the usual time
    between samples. A logger that writes the newest state may write a late one, after it repeated
    another while the source stalled: the arm then moves on in the step behind it by the way of all
    that time. A state is wrong if joints jump to it and back. Other jumps remain, and so does a
    recording with many of them.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are finite.
    velocity : (n,) ndarray
        Velocity limits, rad/s or m/s; infinite where unknown.

    """
    if len(recording.t) < 3 or not len(absurd_values.jumps(recording, velocity)):
        return recording
    # Repetitions hide how long the step to the next measurement took.
    first = measured_once(recording)[0]
    measured = recording.take(first)
    places = absurd_values.jumps(measured, velocity)
    if len(places) > stamp_checks.BACKWARDS_SHARE * len(measured.t):
        return recording
    stamps, states = _wrong(measured.t, measured.q, places, velocity)
    number = np.cumsum(first) - 1
    late, spikes = stamps[number], states[number]
    if not (late | spikes).any():
        return recording
    return recording.take(~(late | spikes), [*stamp_checks.left_out(
        recording, late, 'stamps_misplaced', stamp_checks.BACKWARDS_SHARE,
        '{count} of {total} stamps are early or late, so that joints would jump, and their '
        'samples are left out.'), *_spike_defects(recording, spikes)])


def _wrong(t: Array, q: Array, places: Index, velocity: Array) -> tuple[Mask, Mask]:
    """Mark wrong stamps and wrong states, (N,) each, given the samples before jumps."""
    usual, stamps = float(np.median(np.diff(t))), np.zeros(len(t), dtype=np.bool_)
    states = np.zeros_like(stamps)

    def is_possible(first: int, second: int, time: float) -> bool:
        allowed = absurd_values.largest_steps(np.array([time]), velocity)[0]
        return bool((np.abs(q[second] - q[first]) <= allowed).all())

    def is_spike(before: int, after: int) -> bool:
        out, home = q[before + 1] - q[before], q[after] - q[after - 1]
        joint = np.argmax(np.abs(out))
        return bool(out[joint] * home[joint] < 0) and is_possible(
            before, after, t[after] - t[before])

    for k in places.tolist():
        if states[k]:
            continue
        before = next((m for m in range(k - 1, -1, -1) if not stamps[m]), -1)
        # A late stamp is near to the next one, and an early stamp to the one before.
        spare = [(t[c] - t[a], b) for a, b, c in ((before, k, k + 1), (k, k + 1, k + 2))
                 if a >= 0 and c < len(t) and is_possible(a, c, t[c] - t[a])]
        back = [m + 1 for m in places[(places > k) & (places <= k + absurd_values.SPIKE_SAMPLES)]
                if is_spike(k, m + 1)]
        if not stamps[k] and spare and is_possible(k, k + 1, usual):
            stamps[max(spare)[1]] = True
        elif back:
            states[k + 1:back[0]] = True
        elif before == k - 1 and caught_up(t, q, before, k + 1):
            stamps[k] = True
    return stamps, states


def _spike_defects(recording: Recording, spikes: Mask) -> list[Defect]:
    """Report wrong states, and where the first one is."""
    if not spikes.any():
        return []
    first = int(np.argmax(spikes))
    step = recording.q[first] - recording.q[first - 1]
    joint = int(np.argmax(np.abs(step)))
    return stamp_checks.left_out(
        recording, spikes, 'position_spike', stamp_checks.BACKWARDS_SHARE,
        '{count} of {total} states are wrong: joints jump to them and back, and their samples are '
        f'left out; the first after {recording.t[first] - recording.t[0]:.6g} s of the '
        f'recording, where {recording.joint_names[joint]} jumps by {step[joint]:.4g} to '
        f'{recording.q[first, joint]:.4g}.')
