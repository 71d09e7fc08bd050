"""The cause of a bad fit: the verdict, opened by what the table of suspects reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.absurd_values import NO_SIGNAL
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.calibration.gain_verdict import differs, ratios_of
from dynid_ros.estimation.diagnosis.copied_signals import UNIT, unit_findings
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import (
    Detectable,
    Finding,
    no_errors,
    SuspectLine,
    Verdict,
)
from dynid_ros.estimation.suspects.signal_suspects import GAINS
from dynid_ros.estimation.suspects.suspect import as_recorded, described, names
from dynid_ros.estimation.suspects.table import Line, Table, table_of

#: Findings that follow from any other fault of the signals.
CONSEQUENCES = (
    'excitation', 'friction_drives', 'impossible', 'outliers', 'residual', 'rotor_negative')
#: Findings that leave nothing to explain.
DECIDED = ('still', UNIT, 'effort_dead', 'effort_copies_velocity',
           'effort_copies_position', 'effort_of_velocity')

#: Error up to which a model is good, %.
GOOD_PERCENT = 15.0
#: Share of the torque of a joint that is left, from which its signal has nothing to do with its
#: motion.
DEAD_SHARE = 0.9
#: Suspects that are listed where none explains the data, and that a result keeps.
LISTED, KEPT = 3, 12
#: Faults that parameters may absorb.
KINDS = {
    'position_zero': 'zeros off by some 10 degrees',
    'link_length': 'offsets between joints off by 20 %',
    'effort_scale': 'gains off by a factor of two',
    'effort_delay': 'delays of some 60 ms',
    'gravity_direction': 'gravity tilted by some 10 degrees',
    'joint_exchanged': 'exchanges of positions and drive signals',
}


def with_cause(
    verdict: Verdict, arm: ArmModel, samples: TrialSamples, clipped: Sequence[Finding] = (),
    recordings: int = 1,
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
    recordings : int
        Recordings that share the probability of a false cause, of which this is one.

    Returns
    -------
    verdict : Verdict
        Not trustworthy if a suspect is reported.
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
    table = table_of(as_recorded(arm.as_measured, samples), recordings)
    vague = any(finding.code == 'excitation' for finding in doubts)
    cause: tuple[Finding, ...] = ()
    if table is not None:
        dead = () if vague and not table.winners else _meaningless(table)
        cause = dead or reported(table)
    if not no_errors(cause):
        doubts = [finding for finding in doubts if finding.code not in CONSEQUENCES]
    unsolved = not (cause or no_errors(doubts) or clipped or vague)
    findings = (*cause, *doubts, *(_unexplained(table) if unsolved else ()))
    found = replace(verdict, trustworthy=no_errors(findings), findings=findings,
                    suspects=_lines(table), detectable=_detectable(table))
    gravity = () if cause else _gravity(table)
    return found, (*gravity, *_hidden(table)) if found.trustworthy else gravity


def _lines(table: Table | None) -> tuple[SuspectLine, ...]:
    """Return the first lines of a table for the result, those that are reported before them."""
    if table is None:
        return ()
    winners = {line.suspect.faults[-1:] for line in table.winners}
    rest = [line for line in table.lines if line.suspect.faults[-1:] not in winners]
    return tuple(SuspectLine(
        described(table.recorded.arm, line.suspect.faults), line.gain, line.evidence,
        line.prediction.error_percent if line.prediction else None, line in table.winners,
        line.estimated.words if line.estimated and line.suspect.fault.code != GAINS else None)
        for line in (*table.winners, *rest)[:KEPT])


def _detectable(table: Table | None) -> tuple[Detectable, ...]:
    """Return which sizes of faults the recording would show."""
    if table is None:
        return ()
    joints, found = table.recorded.arm.joint_names, []
    for each in table.one_step:
        size, fault = each.suspect.size, each.suspect.fault
        smallest = each.smallest_detectable(table.threshold)
        if size is not None and fault.code in KINDS:
            # A size beyond its prior is one that nobody expects.
            found.append(Detectable(
                fault.code, tuple(joints[joint] for joint in fault.joints),
                size.words(smallest) if smallest <= size.std.max() else None))
    return tuple(found)


def reported(table: Table) -> tuple[Finding, ...]:
    """State the suspects that are reported, if there are any."""
    if not table.winners:
        return ()
    arm, (best, *others) = table.recorded.arm, table.winners
    assert best.prediction is not None
    text, joints = ', or '.join(
        described(arm, line.suspect.faults) for line in table.winners), best.suspect.joints
    if best.suspect.fault.code == GAINS:
        listed, joints = _refuted(arm, best)
        text += f': {listed}'
    if others:
        text += ' (the data do not distinguish these)'
    remedies = dict.fromkeys(
        fault.remedy for line in table.winners for fault in line.suspect.faults)
    return (Finding(
        best.suspect.faults[0].code, text, ', or '.join(remedies),
        tuple(arm.joint_names[joint] for joint in joints),
        error_before_percent=table.prediction.error_percent,
        error_after_percent=best.prediction.error_percent),)


def _refuted(arm: ArmModel, line: Line) -> tuple[str, tuple[int, ...]]:
    """List the gains that a recording refutes, with their ratios to those stated."""
    joints, every = line.suspect.fault.joints, line.estimated
    assert every is not None
    found = ratios_of(every)
    assert found.reference is not None
    # Where no single one differs by more than the data leave open, the surest of all.
    sure = np.abs(found.value) / np.maximum(found.std, TINY)
    wrong = np.flatnonzero(differs(found)).tolist() or [int(sure.argmax())]
    ratio, std = np.exp(found.value), np.exp(found.value) * found.std
    listed = ', '.join(f'{names(arm, [joints[k]])} ({ratio[k]:.3g} ± {std[k]:.2g} times it)'
                       for k in wrong)
    reference = names(arm, [joints[found.reference]])
    return (f'that of {listed}; that of {reference} is taken to be correct',
            tuple(joints[k] for k in wrong))


def _meaningless(table: Table) -> tuple[Finding, ...]:
    """Report joints that a model leaves unexplained although it is good otherwise."""
    best = table.winners[0] if table.winners else None
    prediction = best.prediction if best and best.prediction else table.prediction
    left, power = prediction.residual_squares.sum(axis=0), prediction.power.sum(axis=0)
    follows = prediction.share_without_worst <= DEAD_SHARE
    dead = table.joints[~follows].tolist()
    error = 100 * float(np.sqrt(left[follows].sum() / max(power[follows].sum(), TINY)))
    if not dead or not follows.any() or error >= GOOD_PERCENT:
        return ()
    # A factor that leaves a joint unexplained only takes its weight away.
    if best is not None and best.suspect.fault.code != GAINS and not (
            best.suspect.fault.code == 'effort_scale' and set(best.suspect.joints) <= set(dead)):
        return ()
    arm = table.recorded.arm
    return (Finding(
        'effort_meaningless',
        f'the drive signal of {names(arm, dead)} does not follow its motion',
        'it is dead, too coarse, or of another quantity: record a topic that holds its torque',
        tuple(arm.joint_names[joint] for joint in dead),
        error_before_percent=table.prediction.error_percent, error_after_percent=error),)


def _gravity(table: Table | None) -> tuple[str, ...]:
    """State how well the data agree with the direction of gravity, if the arm states one."""
    for tilt in table.one_step if table else ():
        size, off = tilt.suspect.size, float(np.linalg.norm(tilt.step))
        if (size is not None and tilt.suspect.fault.code == 'gravity_direction'
                and 2 * tilt.std < size.typical):
            words = size.words(off, 2 * tilt.std)
            return (f'the stated gravity agrees with the data to {words}' if off < size.typical
                    else f'a direction of gravity {words} off the stated one fits, but does not '
                    'predict better',)
    return ()


def _unexplained(table: Table | None) -> tuple[Finding, ...]:
    """Report that no suspect explains the data."""
    if table is None or table.prediction.error_percent < GOOD_PERCENT:
        return ()
    best = [line for line in table.lines if line.prediction is not None][:LISTED]
    listed = '; '.join(
        f'{described(table.recorded.arm, line.suspect.faults)} '
        f'({line.prediction.error_percent:.0f} %)' for line in best if line.prediction)
    return (Finding(
        'unexplained',
        f'{table.prediction.error_percent:.0f} % of the torque on blocks that were not fitted '
        'stays unexplained, and no fault that was tried explains it'
        + (f'; the best were: {listed}' if listed else ''),
        'compare arm.yaml with the arm, and the topics with the documentation of the driver'),)


def _hidden(table: Table | None) -> tuple[str, ...]:
    """List faults that this recording would not show, in one sentence or none."""
    if table is None:
        return ()
    kinds: dict[str, set[int]] = {}
    for fault in (each for each in table.hidden if each.code in KINDS):
        kinds.setdefault(KINDS[fault.code], set()).update(fault.joints)
    if not kinds:
        return ()
    every, arm = set(table.joints.tolist()), table.recorded.arm
    listed = '; '.join(
        kind + (f' ({"any joint" if joints >= every else names(arm, sorted(joints))})'
                if joints else '') for kind, joints in kinds.items())
    return (f'this recording cannot reveal {listed}: other parameters compensate',)
