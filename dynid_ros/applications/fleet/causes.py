# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Find why a bag does not belong, by the table of suspects."""

from __future__ import annotations

from dynid_ros.applications.fleet.bags import Bag, local_copy
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.data.signals.trial_samples import trial_samples
from dynid_ros.errors import DynidError
from dynid_ros.estimation.band.choice import band_of_motion
from dynid_ros.estimation.blocks.preparation import condition_recording, settings_for
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels, clipped_samples
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.verdict.cause import with_cause

#: Finding for a bag that does not fit, before the table of suspects finds its cause.
MISFIT = Finding('residual', 'the bag does not fit its arm')


def explain(settings: FleetSettings, bag: Bag, recordings: int) -> tuple[Finding, ...]:
    """
    Find why a bag does not fit, if the table of suspects reports a cause.

    The recordings of the fleet share the probability of a false cause.
    """
    arm = settings.arm.memoryless
    try:
        with local_copy(bag) as local:
            recording = settings.read(bag, local)
        own = band_of_motion(settings_for(settings.conditioning, recording), [recording])
    except DynidError:
        return ()
    prepared = condition_recording(arm, recording, own)
    clipped = clipped_samples(arm, prepared, clip_levels([recording]))
    verdict, _ = with_cause(
        Verdict(False, (MISFIT,), 0.0), arm, trial_samples(prepared, own, clipped),
        recordings=recordings)
    reported = any(line.reported for line in verdict.suspects)
    return verdict.findings[:1] if reported else ()
