# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cut-off and delay of a stream, from the first seconds of its motion."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.standstill import motion_windows, time_in_motion
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.band.ladder import USUAL_HZ
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.utilities.arrays import Array

#: Time in motion that determines a band, s: the lowest band of the ladder then has ten blocks.
FIRST_SECONDS = 10.0
#: Time from the first motion after which samples are no longer held, s: an arm that hardly moves
#: would fill memory. Before the first motion, this many of the last seconds are held.
HELD_SECONDS = 60.0

#: Cut-off, Hz, delay of the drive signal, s, and cut-offs of positions, Hz.
Band = tuple[float, float, tuple[float, ...]]


def from_motion(samples: Array) -> tuple[Array, bool]:
    """
    Drop a long rest before the motion.

    Parameters
    ----------
    samples : (m, 1 + 2 n) ndarray
        Stamps, s, positions and drive signals.

    Returns
    -------
    samples : (k, 1 + 2 n) ndarray
        From the begin of the motion on; during a rest, the last `HELD_SECONDS`.
    enough : bool
        Whether the motion has lasted long enough to choose a band.

    """
    begin, moved = _motion(samples)
    resting, last = begin == np.inf, float(samples[-1, 0])
    kept = samples[~(samples[:, 0] < (last - HELD_SECONDS if resting else begin))]
    return kept, not resting and (
        moved >= FIRST_SECONDS or last - float(kept[0, 0]) >= HELD_SECONDS)


def _motion(samples: Array) -> tuple[float, float]:
    """Return the begin of the motion and its duration, s, from samples in order of time."""
    t, q = samples[:, 0], samples[:, 1:1 + samples.shape[1] // 2]
    good = np.isfinite(t) & np.isfinite(q).all(axis=1)
    t, q = t[good], q[good]
    later = t > np.maximum.accumulate(np.append(-np.inf, t))[:-1]
    t, q = t[later], q[later]
    windows = motion_windows(t, q) if len(t) > 2 else None
    if windows is None or not windows[1].any():
        return np.inf, 0.0
    edges, moves = windows
    return float(edges[moves.any(axis=1).argmax()]), float(time_in_motion(t, q)[-1])


def choose_band(arm: ArmModel, samples: Array, delay: float | None) -> Band:
    """
    Choose the band for samples, and the delay unless it is known.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    samples : (m, 1 + 2 n) ndarray
        Stamps, s, positions and drive signals.
    delay : float or None
        Known delay of the drive signals, s.

    Returns
    -------
    Band
        The usual cut-off if the samples make no valid recording.

    """
    t, q, u = np.split(samples, [1, 1 + arm.n], axis=1)
    try:
        recording, _ = checked_recording(
            Recording(t[:, 0], q, u, arm.joint_names, arm.drive.signal, as_logged=True), arm,
            stamped=True)
        chosen = choose_conditioning(arm, [recording])
    except RecordingError:
        return USUAL_HZ, delay or 0.0, ()
    return chosen.cutoff_hz, chosen.delay if delay is None else delay, chosen.position_hz
