"""The cause of a bad fit: the verdict, opened by the explanation that won the contest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.friction import PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.absurd_values import NO_SIGNAL
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.diagnosis import signal_rivals
from dynid_ros.estimation.diagnosis.contest import (
    Contest,
    contest,
    DEAD_SHARE,
    GOOD_PERCENT,
    PARTLY_PERCENT,
    SLIGHT_RATIO,
    unexplained_joints,
)
from dynid_ros.estimation.diagnosis.copied_signals import UNIT, unit_findings
from dynid_ros.estimation.diagnosis.gravity_direction import (
    gravity_direction,
    GravityCheck,
    LEAVE_OUT,
)
from dynid_ros.estimation.diagnosis.hypothesis import as_recorded, described, Hypothesis, names
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
    if decided or not (np.abs(samples.tau[samples.moving]) > NO_SIGNAL).any():
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
    explained = _explanation(outcome)
    causes = (explained, () if vague else _meaningless(outcome),
              _gravity(arm, gravity, outcome.recorded.error_percent))
    # A fault that hardly raises the error does not explain a joint that is missed.
    cause = next((each for each in causes if not no_errors(each)), explained)
    if not no_errors(cause):
        doubts = [finding for finding in doubts if finding.code not in CONSEQUENCES]
    unsolved = not (cause or no_errors(doubts) or clipped or vague)
    findings = (*cause, *doubts, *(_unexplained(outcome) if unsolved else ()))
    found = replace(verdict, trustworthy=no_errors(findings), findings=findings)
    told = cause or not arm.drive.includes_gravity
    remarks = () if told else (gravity.sentence,)
    return found, (*remarks, *outcome.unseen) if found.trustworthy else remarks


def _explanation(outcome: Contest) -> tuple[Finding, ...]:
    """State the explanation that holds, if there is one."""
    if not outcome.winners:
        return ()
    recorded, (first, *others) = outcome.recorded, outcome.winners
    best, arm = _with_all_that_are_dead(first), recorded.arm
    text = ', or '.join(described(arm, each.steps) for each in (best, *others))
    if others:
        text += ' (the data do not distinguish these)'
    driven = [joint for joint in recorded.still_driven if joint not in best.still_driven]
    if driven:
        text += f'; as recorded, friction drives {names(arm, driven)}'
    if recorded.beyond_range and not best.beyond_range:
        text += f'; as recorded, the limits allow {names(arm, recorded.beyond_range)} less motion'
    remedies = dict.fromkeys(step.remedy for each in outcome.winners for step in each.steps)
    # The torque of a model hardly suffers from a fault that hardly raises its error.
    slight = not driven and recorded.error_percent < SLIGHT_RATIO * best.error_percent
    return (Finding(
        best.steps[0].code, text, ', or '.join(remedies),
        tuple(arm.joint_names[joint] for joint in best.changed_joints),
        'warning' if slight else 'error', error_before_percent=recorded.error_percent,
        error_after_percent=best.error_percent),)


def _with_all_that_are_dead(best: Hypothesis) -> Hypothesis:
    """Name the joints together whose signals do not follow their motion."""
    if {step.code for step in best.steps} != {'effort_meaningless'}:
        return best
    dead = sorted({*best.excluded, *unexplained_joints(best)})
    return replace(best, steps=(signal_rivals.meaningless(best.arm, dead),))


def _meaningless(outcome: Contest) -> tuple[Finding, ...]:
    """Report joints that a model leaves unexplained although it is good otherwise."""
    recorded, bad = outcome.recorded, unexplained_joints(outcome.recorded)
    if not outcome.runners or not (recorded.score.left[bad] > DEAD_SHARE).any():
        return ()
    if len(bad) == len(recorded.joints) or recorded.error_percent >= GOOD_PERCENT:
        return ()
    step = signal_rivals.meaningless(recorded.arm, bad)
    return (Finding(step.code, step.text, step.remedy,
                    tuple(recorded.arm.joint_names[joint] for joint in bad)),)


def _gravity(arm: ArmModel, check: GravityCheck, error: float) -> tuple[Finding, ...]:
    """Find gravity that the check refutes although the torque hardly gains by another one."""
    if not arm.drive.includes_gravity:
        return (HELD,) if check.loaded else ()
    if not np.any(arm.gravity):
        return ()
    if check.removed:
        return (Finding('gravity_removed', check.sentence),)
    if GOOD_PERCENT < error < PARTLY_PERCENT and not check.loaded:
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
    if not outcome.runners or outcome.recorded.error_percent < GOOD_PERCENT:
        return ()
    listed = '; '.join(f'{described(each.arm, each.steps)} ({each.error_percent:.0f} %)'
                       for each in outcome.runners)
    return (Finding(
        'unexplained',
        f'{outcome.recorded.error_percent:.0f} % of the torque on blocks that were not fitted '
        f'stays unexplained, and no fault that was tried explains it; the best were: '
        f'{listed}',
        'compare arm.yaml with the arm, and the topics with the documentation of the driver'),)
