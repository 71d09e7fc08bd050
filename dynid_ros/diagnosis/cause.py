"""The cause of a bad fit: the verdict, opened by the explanation that won the contest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.contest import Contest, contest, THRESHOLDS
from dynid_ros.diagnosis.gravity_direction import gravity_direction, GravityCheck
from dynid_ros.diagnosis.hypothesis import as_recorded
from dynid_ros.diagnosis.trial_rows import TrialSamples
from dynid_ros.model.verdict import Finding, Verdict
from dynid_ros.regression.fit import fit
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]

#: Findings that follow from any other fault of the signals.
CONSEQUENCES = ('friction_drives', 'rotor_negative', 'outliers', 'residual')
#: Findings that leave nothing to explain.
DECIDED = ('still', 'effort_copies_velocity', 'effort_copies_position')


def check_gravity(
    arm: ArmModel, gravity: Array, motions: Sequence[ConditionedMotion],
    settings: ConditioningSettings, sigma: Array,
) -> GravityCheck:
    """
    Estimate the direction of gravity together with the dynamics.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the gravity included in its torque.
    gravity : (3,) ndarray
        Gravity as the arm states it, m/s².
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint in a fit, Nm; where a method gives less
        than that, the torque is fitted here.

    """
    arm = arm.without_load
    if len(sigma) < arm.n:
        sigma = fit(arm, motions, settings).sigma
    return gravity_direction(replace(arm, gravity=gravity), motions, settings, sigma)


def with_cause(
    verdict: Verdict, arm: ArmModel, samples: TrialSamples, gravity: GravityCheck,
    clipped: Sequence[Finding],
) -> tuple[Verdict, tuple[str, ...]]:
    """
    Open a verdict with the cause of what speaks against the model.

    Parameters
    ----------
    verdict : Verdict
        From error bars and held-out error.
    arm : ArmModel
        The arm, with the gravity included in its torque.
    samples : TrialSamples
        Of all recordings, held-out ones included, without what is cut off.
    gravity : GravityCheck
        From `check_gravity`.
    clipped : sequence of Finding
        Drive signals that are cut off.

    Returns
    -------
    verdict : Verdict
        Not trustworthy if an explanation beats the recording as it is.
    notes : tuple of str
        Remarks.

    """
    doubts = [*clipped, *verdict.findings]
    if any(finding.code in DECIDED for finding in doubts):
        return verdict, ()
    outcome = contest(as_recorded(arm, samples), gravity, bool(doubts))
    cause = outcome.findings or _gravity(arm, gravity)
    if cause:
        doubts = [finding for finding in doubts if finding.code not in CONSEQUENCES]
        findings = (*cause, *doubts)
    else:
        findings = (*doubts, *(_unexplained(outcome) if doubts and not clipped else ()))
    found = replace(verdict, trustworthy=not findings, findings=findings)
    told = cause or not arm.drive.includes_gravity
    return found, () if told else (gravity.sentence,)


def _gravity(arm: ArmModel, check: GravityCheck) -> tuple[Finding, ...]:
    """Gravity that the check refutes although the torque hardly gains by another one."""
    if not arm.drive.includes_gravity:
        return (HELD,) if check.loaded else ()
    if not np.any(arm.gravity):
        return ()
    if check.removed or check.wrong:
        return (Finding('gravity_removed' if check.removed else 'gravity_direction',
                        check.sentence),)
    return ()


HELD = Finding(
    'gravity_held', 'effort holds gravity torque although arm.yaml states otherwise',
    'remove "includes_gravity: false" under "drive"')


def _unexplained(outcome: Contest) -> tuple[Finding, ...]:
    """Report that no fault that was tried explains the data."""
    if not outcome.runners or outcome.recorded.error_percent < THRESHOLDS.good:
        return ()
    return (Finding(
        'unexplained',
        f'{outcome.recorded.error_percent:.0f} % of the torque on blocks that were not fitted '
        f'stays unexplained, and no fault that was tried explains it; the best were: '
        f'{outcome.close}',
        'compare arm.yaml with the arm, and the topics with the documentation of the driver'),)
