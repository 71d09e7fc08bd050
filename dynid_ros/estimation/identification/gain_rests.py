# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive gains from rests without and with a weighed load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.rests import find_rests, Rests
from dynid_ros.data.signals.trial_samples import CANDIDATE_DELAYS, TrialSamples
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import condition_recording, settings_for
from dynid_ros.estimation.calibration.drive_gains import estimate_gains
from dynid_ros.estimation.calibration.gain_verdict import DriveGains
from dynid_ros.estimation.suspects.suspect import with_all_samples
from dynid_ros.utilities.arrays import joined

#: Least number of rests, and least share of time at rest, for recordings of rests: a motion has
#: two rests, before and after it.
FEWEST_GAIN_RESTS, STILL = 4, 0.4
#: Friction of a joint at rest: a part with the direction of approach, and a constant.
REST_FRICTION = ('coulomb', 'offset')
#: Speed that encodes the direction of approach, rad/s or m/s: so small that velocity torques are
#: negligible.
CREEP = 1e-6


def rests_of(arm: ArmModel, recordings: Sequence[Recording]) -> Rests | None:
    """
    Find the rests in recordings of an arm that mostly rests.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Checked recordings, one at least.

    Returns
    -------
    Rests or None
        None if they hold a motion, or too few rests.

    """
    # Without motion, the delay is unknown and does not matter.
    quiet = replace(arm, conditioning=replace(arm.conditioning, delay=0.0)).memoryless
    settings = choose_conditioning(quiet, recordings)
    parts, still, samples = [], 0, 0
    for recording in recordings:
        adapted = settings_for(settings, recording)
        prepared = condition_recording(quiet, recording, adapted)
        parts.append(find_rests(prepared, adapted.rate_hz))
        still += sum(int((~motion.moving).all(axis=1).sum()) for motion in prepared)
        samples += sum(len(motion.t) for motion in prepared)
    rests = joined(parts)
    return rests if len(rests.q) >= FEWEST_GAIN_RESTS and still >= STILL * samples else None


def gains_at_rest(arm: ArmModel, free: Rests, loaded: Rests, mass: float) -> DriveGains:
    """
    Find drive gains from the weight of a load.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its stated gains.
    free, loaded : Rests
        Rests without the load, and with it. Positions may differ: rests without the load
        determine the gravity torque of the arm.
    mass : float
        Mass of the load, kg.

    Returns
    -------
    DriveGains
        Without a ratio for joints that gravity does not load.

    """
    arm = arm.as_measured.with_friction(REST_FRICTION)
    without, with_load = (with_all_samples(arm, _samples(rests)) for rests in (free, loaded))
    found = estimate_gains(without, [with_load], mass, own_friction=False)
    return replace(found, notes=_notes(arm, free, loaded))


def _samples(rests: Rests) -> TrialSamples:
    """Return rests as samples of a motion so slow that only gravity and friction matter."""
    count, still = len(rests.q), np.zeros_like(rests.q)
    return TrialSamples(
        np.arange(float(count)), rests.q, CREEP * rests.approach, still, rests.tau,
        np.ones(still.shape, dtype=np.bool_),
        np.repeat(rests.tau[:, :, None], len(CANDIDATE_DELAYS), axis=2), np.zeros(count),
        np.sign(rests.approach))


def _notes(arm: ArmModel, free: Rests, loaded: Rests) -> tuple[str, ...]:
    notes = [f'{len(free.q)} rests without the load and {len(loaded.q)} with it, by gravity alone']
    both = free.both_directions & loaded.both_directions
    if not both.all():
        one = ', '.join(name for name, known in zip(arm.joint_names, both, strict=True)
                        if not known)
        notes.append(f'{one} did not come to rest from both directions, so that friction passes '
                     'for a part of the load; approach positions from both sides')
    return tuple(notes)
