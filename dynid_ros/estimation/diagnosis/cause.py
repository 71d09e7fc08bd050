"""The cause of a bad fit: the verdict, opened by the explanation that won the contest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.friction import PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.absurd_values import THRESHOLDS as ABSURD
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.diagnosis.contest import Contest, contest, THRESHOLDS
from dynid_ros.estimation.diagnosis.copied_signals import UNIT, unit_findings
from dynid_ros.estimation.diagnosis.gravity_direction import (
    gravity_direction,
    GravityCheck,
    LEAVE_OUT,
)
from dynid_ros.estimation.diagnosis.hypothesis import as_recorded
from dynid_ros.estimation.model.verdict import Finding, no_errors, Verdict

#: Findings that follow from any other fault of the signals.
CONSEQUENCES = ('excitation', 'friction_drives', 'outliers', 'residual', 'rotor_negative')
#: Findings that leave nothing to explain.
DECIDED = ('still', UNIT, 'effort_dead', 'effort_copies_velocity',
           'effort_copies_position', 'effort_of_velocity')


def with_cause(
    verdict: Verdict, arm: ArmModel, samples: TrialSamples, clipped: Sequence[Finding] = (),
) -> tuple[Verdict, tuple[str, ...]]:
    """
    Open a verdict with the cause of what speaks against the model.

    Parameters
    ----------
    verdict : Verdict
        From error bars and held-out error.
    arm : ArmModel
        The arm, with the gravity that it states.
    samples : TrialSamples
        Of all recordings, held-out ones included, without what is cut off.
    clipped : sequence of Finding
        Drive signals that are cut off.

    Returns
    -------
    verdict : Verdict
        Not trustworthy if an explanation beats the recording as it is.
    notes : tuple of str
        Remarks.

    """
    doubts = [*clipped, *unit_findings(arm, samples), *verdict.findings]
    decided = [finding for finding in doubts if finding.code in DECIDED]
    if decided or not (np.abs(samples.tau[samples.moving]) > ABSURD.nothing).any():
        findings = (*decided, *(each for each in verdict.findings if each not in decided
                                and not (decided and each.code in CONSEQUENCES)))
        return replace(verdict, trustworthy=no_errors(findings), findings=findings), ()
    # Friction that was chosen for a wrong model hides its cause.
    # In few samples more friction terms pass for gravity.
    gravity = gravity_direction(arm.with_friction(PLAIN), samples)
    arm = arm.as_measured
    # Signs of friction mean little where the motion hardly determines it.
    vague = any(finding.code == 'excitation' for finding in doubts)
    driven = [] if vague else [
        name for finding in doubts if finding.code == 'friction_drives' for name in finding.joints]
    outcome = contest(as_recorded(arm, samples, driven), gravity, doubts)
    causes = (outcome.cause, () if vague else outcome.meaningless,
              _gravity(arm, gravity, outcome.recorded.error_percent))
    # A fault that hardly raises the error does not explain a joint that is missed.
    cause = next((each for each in causes if not no_errors(each)), outcome.cause)
    if cause:
        doubts = [finding for finding in doubts if finding.code not in CONSEQUENCES]
        findings = (*cause, *doubts)
    else:
        findings = (*doubts, *(
            () if no_errors(doubts) or clipped or vague else _unexplained(outcome)))
    found = replace(verdict, trustworthy=no_errors(findings), findings=findings)
    told = cause or not arm.drive.includes_gravity
    remarks = () if told else (gravity.remark,)
    return found, (*remarks, *outcome.unseen) if found.trustworthy else remarks


def _gravity(arm: ArmModel, check: GravityCheck, error: float) -> tuple[Finding, ...]:
    """Find gravity that the check refutes although the torque hardly gains by another one."""
    if not arm.drive.includes_gravity:
        return (HELD,) if check.loaded else ()
    if not np.any(arm.gravity):
        return ()
    if check.removed:
        return (Finding('gravity_removed', check.sentence),)
    if THRESHOLDS.good < error < THRESHOLDS.partly and not check.loaded:
        return (REMOVED,)
    return ()


REMOVED = Finding(
    'gravity_removed',
    'the effort seems to hold no gravity torque: without any, the model fits as well',
    LEAVE_OUT)
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
