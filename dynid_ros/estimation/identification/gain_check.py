"""Drive signals against a recording, for a check that identifies nothing otherwise."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.data.signals.trial_samples import trial_samples
from dynid_ros.errors import DynidError
from dynid_ros.estimation.band.choice import band_of_motion, choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import take_motions
from dynid_ros.estimation.diagnosis.copied_signals import unit_findings
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.gain_recordings import RICHEST
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import divide, Division
from dynid_ros.estimation.model.conditioning_words import lateness
from dynid_ros.estimation.verdict.refuted_gains import CODE, ONE, refuted_gains

#: Time from the start of a recording in which gains are looked at, s: more does not change the
#: outcome of a check, and an hour would take half a minute.
LONGEST = 300.0
#: Defect of signals that come later than the motion.
LATE = 'effort_late'


def drive_defects(arm: ArmModel, recording: Recording) -> tuple[Defect, ...]:
    """
    Report signals that are late or in another unit, or stated gains that a recording refutes.

    A fit with the most friction terms shows at once that nothing does. Otherwise all steps of
    an identification decides, since any other fault makes gains contradict each other, too.

    Parameters
    ----------
    arm : ArmModel
        The arm with its stated gains.
    recording : Recording
        A recording without an error.

    Returns
    -------
    tuple of Defect
        A warning for a delay, an error for the unit, a warning for gains, or nothing.

    """
    stop = int(np.searchsorted(recording.t, recording.t[0] + LONGEST))
    part = recording.part(0, stop)
    rich = arm.as_measured.with_friction(RICHEST)
    try:
        division = divide(rich, [part], (), None)
        # Of the training set: what a check promises of "dynid identify" is what that does.
        settings = choose_conditioning(rich.memoryless, division.train)
    except DynidError:
        # "dynid identify" gives the reason for which it shows nothing.
        return ()
    late = lateness(arm, settings)
    delay = [] if not late else [Defect(
        LATE, 'warning', f'{late} relative to the motion; dynid identify removes it.',
        value=settings.delay)]
    band = band_of_motion(settings, division.train)
    return (*delay, *_gain_defects(arm, part, division, band))


def _gain_defects(
    arm: ArmModel, part: Recording, division: Division, settings: ConditioningSettings,
) -> tuple[Defect, ...]:
    """Report the unit and the gains, by the arm with the most friction terms first."""
    rich = division.arm
    try:
        prepared = take_motions(
            rich, [*division.train, *(unseen for _, unseen in division.unseen)], settings)
        none = [np.zeros(motion.q.shape, dtype=np.bool_) for motion in prepared]
        unit = unit_findings(arm, trial_samples(prepared, settings, none))
        if unit:
            return tuple(Defect(each.code, 'error', each.sentence) for each in unit)
        rows = KeptRows(rich, prepared, settings, RICHEST)
        if refuted_gains(rich, rows, fit(rich, rows).theta) is None:
            return ()
        findings = identify(arm, [part]).verdict.findings
    except DynidError:
        return ()
    return tuple(Defect(CODE, 'warning', finding.sentence)
                 for finding in findings if finding.code in (CODE, ONE))
