# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check the drive signals of a recording without identifying a model."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.errors import DynidError
from dynid_ros.estimation.diagnosis.copied_signals import UNIT
from dynid_ros.estimation.identification.conditioned_data import condition
from dynid_ros.estimation.identification.train_test_split import divide
from dynid_ros.estimation.model.conditioning_words import lateness
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.estimation.verdict.cause import with_cause

#: Time from the start of a recording that is checked, s: more does not change the outcome, and an
#: hour would take half a minute.
CHECKED_SECONDS = 300.0
#: Defects of signals that come later than the motion, and before it.
LATE_CODE, EARLY = 'effort_late', 'effort_early'


def drive_defects(arm: ArmModel, recording: Recording) -> tuple[Defect, ...]:
    """
    Report late or early signals, signals in another unit, and suspects.

    Parameters
    ----------
    arm : ArmModel
        The arm with its stated gains.
    recording : Recording
        A recording without an error.

    Returns
    -------
    tuple of Defect
        A warning for a delay, an error for the unit, a warning for a suspect, or nothing.

    """
    stop = int(np.searchsorted(recording.t, recording.t[0] + CHECKED_SECONDS))
    part = recording.part(0, stop)
    try:
        # As "dynid identify" does.
        data = condition(divide(arm.as_measured.memoryless, [part], (), None))
    except DynidError:
        # "dynid identify" reports the reason.
        return ()
    settings = data.train.settings
    late = lateness(arm, settings)
    delay = [] if not late else [Defect(
        LATE_CODE if settings.delay > 0 else EARLY, 'warning',
        f'{late} relative to the motion; dynid identify removes it.', value=settings.delay)]
    # An empty verdict, to which the table adds its findings.
    verdict, _ = with_cause(
        Verdict(True, (), 0.0), arm.memoryless, data.trial, wider=data.wider)
    return (*delay, *(
        Defect(each.code, 'error' if each.code == UNIT else 'warning', each.sentence)
        for each in verdict.findings))
