# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The cause of a bad fit: suspects that the table reports, added to the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.absurd_values import NO_SIGNAL
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.calibration.gain_verdict import differs, ratios_of
from dynid_ros.estimation.diagnosis.copied_signals import UNIT, unit_findings
from dynid_ros.estimation.diagnosis.expected_error import HELD_OUT_ERROR_PERCENT
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import (
    Detectable,
    Finding,
    no_errors,
    SuspectLine,
    Verdict,
)
from dynid_ros.estimation.suspects.arm_suspects import GRAVITY
from dynid_ros.estimation.suspects.cross_validation import error_before_percent, evidence_of
from dynid_ros.estimation.suspects.likelihood import DEAD_SHARE, Likelihood
from dynid_ros.estimation.suspects.reported_lines import ERROR_DECIMALS, Line
from dynid_ros.estimation.suspects.signal_suspects import GAINS, silenced, SILENT_SIGNAL
from dynid_ros.estimation.suspects.suspect import (
    as_recorded,
    described,
    Fault,
    names,
    Suspect,
)
from dynid_ros.estimation.suspects.table import MOST_FAULTS, Table, table_of

#: Findings that any fault of the signals causes.
CONSEQUENCES = (
    'excitation', 'friction_drives', 'impossible', 'outliers', 'residual', 'rotor_negative')
#: Findings that leave nothing to explain.
DECIDED = ('still', UNIT, 'effort_dead', 'effort_copies_velocity',
           'effort_copies_position', 'effort_of_velocity')

#: Remedy where no suspect explains the torque.
COMPARE = 'compare arm.yaml with the arm, and the topics with the documentation of the driver'
#: Number of suspects kept in a result.
KEPT_SUSPECTS = 12
#: Faults that other parameters may absorb.
HIDDEN_FAULTS = {
    'position_zero': 'zeros off by some 10 degrees',
    'link_length': 'offsets between joints off by 20 %',
    'effort_scale': 'gains off by a factor of two',
    'effort_delay': 'delays of some 60 ms',
    GRAVITY: 'gravity tilted by some 10 degrees',
    'time_axis': 'time axes off by a fifth',
    'joint_exchanged': 'exchanges of positions and drive signals',
    'axis_reversed': 'axes of joints that point the other way',
}


def with_cause(
    verdict: Verdict, arm: ArmModel, samples: TrialSamples, clipped: Sequence[Finding] = (),
    recordings: int = 1, wider: TrialSamples | None = None,
) -> tuple[Verdict, tuple[str, ...]]:
    """
    Add the cause of a bad fit to a verdict, as its first finding.

    Parameters
    ----------
    verdict : Verdict
        From error bars and held-out error.
    arm : ArmModel
        The arm, with the gravity that it states.
    samples : TrialSamples
        Of all recordings, held-out ones included, without clipped samples.
    clipped : sequence of Finding
        Findings of clipped drive signals.
    recordings : int
        Number of recordings, this one included, that share the probability of a false cause.
    wider : TrialSamples, optional
        The same samples in a wider band, in which a cause may show that the lower one hides.

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
    table = _table(arm.as_measured, samples, wider, recordings)
    weak_motion = [each for each in doubts if each.code == 'excitation']
    weak = not no_errors(weak_motion)
    cause: tuple[Finding, ...] = ()
    if table is not None:
        table = _without_silent(table, weak)
        cause = reported(table)
    if not no_errors(cause):
        doubts = [finding for finding in doubts if finding.code not in CONSEQUENCES]
    unsolved = not (cause or no_errors(doubts) or clipped or (weak and _fits(table)))
    unexplained = _unexplained(table) if unsolved else ()
    if unexplained and weak:
        # Error bars grow with the residual, so that another motion may not be the remedy.
        doubts = [each for each in doubts if each not in weak_motion]
        unexplained += tuple(weak_motion)
    findings = (*cause, *doubts, *unexplained)
    result = replace(verdict, trustworthy=no_errors(findings), findings=findings,
                     suspects=_lines(table), detectable=_detectable(table))
    gravity = () if cause else _gravity(table)
    return result, (*gravity, *_hidden(table)) if result.trustworthy else gravity


def _table(
    arm: ArmModel, samples: TrialSamples, wider: TrialSamples | None, recordings: int,
) -> Table | None:
    """
    Make the table, in a wider band if only that one reveals a fault.

    A fault that lowered the cut-off leaves no reason for it once it is undone, so that the wider
    band is then predicted at least as well as the lower one. Noise spoils the wider band, whatever
    is undone. Both tables share the probability of a false cause.
    """
    tables = 1 if wider is None else 2
    # Friction terms chosen for a wrong model would hide the cause.
    table = table_of(as_recorded(arm, samples), tables * recordings)
    if wider is None or table is None or table.winners:
        return table
    other = table_of(as_recorded(arm, wider), tables * recordings)
    if other is None or not other.winners:
        return table
    best = other.winners[0].prediction
    assert best is not None
    return other if best.error_percent <= table.prediction.error_percent else table


def _lines(table: Table | None) -> tuple[SuspectLine, ...]:
    """Return the lines of a table for the result: reported suspects, then the best others."""
    if table is None:
        return ()
    winners = {line.suspect.faults[-1:] for line in table.winners}
    rest = [line for line in table.lines if line.suspect.faults[-1:] not in winners]
    return tuple(SuspectLine(
        described(table.recorded.arm, line.suspect.faults), line.gain, line.evidence,
        line.prediction.error_percent if line.prediction else None, line in table.winners,
        line.estimated.words if line.estimated and line.suspect.fault.code != GAINS else None)
        for line in (*table.winners, *rest)[:KEPT_SUSPECTS])


def _detectable(table: Table | None) -> tuple[Detectable, ...]:
    """Return the smallest sizes of faults that the recording would detect."""
    if table is None:
        return ()
    joints, detectable = table.recorded.arm.joint_names, []
    for each in table.one_step:
        size, fault = each.suspect.size, each.suspect.fault
        smallest = each.smallest_detectable(table.least_gain)
        if size is not None and fault.code in HIDDEN_FAULTS:
            # A size beyond its prior is implausible.
            detectable.append(Detectable(
                fault.code, tuple(joints[joint] for joint in fault.joints),
                size.words(smallest) if smallest <= size.std.max() else None))
    return tuple(detectable)


def reported(table: Table) -> tuple[Finding, ...]:
    """Return a finding of the reported suspects, if there are any."""
    if not table.winners:
        return ()
    # Of those that the data do not distinguish, one may leave less of the torque than others do.
    arm, winners = table.recorded.arm, sorted(table.winners, key=lambda line: round(
        line.prediction.error_percent if line.prediction else np.inf, ERROR_DECIMALS))
    best, *others = winners
    assert best.prediction is not None
    text, joints = ', or '.join(
        described(arm, line.suspect.faults) for line in winners), best.suspect.joints
    if best.suspect.fault.code == GAINS:
        listed, joints = _refuted(arm, best)
        text += f': {listed}'
    if others:
        text += ' (the data do not distinguish these)'
    remedy = ', or '.join(dict.fromkeys(
        _remedy(arm, line.suspect.faults) for line in winners))
    left = best.prediction.error_percent
    if left > HELD_OUT_ERROR_PERCENT:
        text += f', which explains a part only: {left:.0f} % stay unexplained, so more is wrong'
        remedy = f'{COMPARE}; this part: {remedy}'
    return (Finding(
        best.suspect.faults[0].code, text, remedy,
        tuple(arm.joint_names[joint] for joint in joints),
        error_before_percent=error_before_percent(table.prediction, best.prediction),
        error_after_percent=left),)


def _remedy(arm: ArmModel, faults: Sequence[Fault]) -> str:
    """Join the remedies of faults that hold together, each with its joints if they differ."""
    alike: dict[str, list[int]] = {}
    for fault in faults:
        alike.setdefault(fault.remedy, []).extend(fault.joints)
    if len(alike) == 1:
        return next(iter(alike))
    return ', and '.join(f'{names(arm, joints)}: {remedy}' if joints else remedy
                         for remedy, joints in alike.items())


def _refuted(arm: ArmModel, line: Line) -> tuple[str, tuple[int, ...]]:
    """List the gains that a recording refutes, with their ratios to those stated."""
    joints, estimated = line.suspect.fault.joints, line.estimated
    assert estimated is not None
    ratios = ratios_of(estimated)
    assert ratios.reference is not None
    # If no single gain differs significantly, list the most significant one.
    significance = np.abs(ratios.value) / np.maximum(ratios.std, TINY)
    wrong = np.flatnonzero(differs(ratios)).tolist() or [int(significance.argmax())]
    ratio, std = np.exp(ratios.value), np.exp(ratios.value) * ratios.std
    listed = ', '.join(f'{names(arm, [joints[k]])} ({ratio[k]:.3g} ± {std[k]:.2g} times it)'
                       for k in wrong)
    reference = names(arm, [joints[ratios.reference]])
    return (f'{listed}, if the gain of {reference} is correct',
            tuple(joints[k] for k in wrong))


def _without_silent(table: Table, weak: bool) -> Table:
    """
    Leave out further joints of which a model explains nothing, if it explains the others.

    If a signal holds no torque, parameters without any effect on it are as likely as a dead
    signal. A signal that only impossible parameters predict is reported as such, unless the motion
    is too weak to separate the two.
    """
    if any(fault.code != SILENT_SIGNAL for line in table.winners for fault in line.suspect.faults):
        return table
    likelihood, recorded = Likelihood(table.recorded), table.prediction
    first = line = table.winners[0] if table.winners else Line(table.recorded, 0.0)
    prediction = line.prediction or recorded
    while (share := prediction.share_without_worst).max() > DEAD_SHARE:
        place = int(share.argmax())
        suspect = silenced(line.suspect, int(table.joints[place]))
        predictable = likelihood.predictable(line.suspect)[place]
        if len(suspect.rows.silent) == len(table.joints) or (predictable and weak):
            return table
        if predictable:
            suspect = _only_possible(suspect)
        value, fit = likelihood.possible(suspect)
        prediction = likelihood.blocks(suspect, fit)
        line = Line(suspect, value - likelihood.possible(table.recorded)[0],
                    evidence_of(prediction, recorded), prediction)
    left_out = line is not first and prediction.error_percent < HELD_OUT_ERROR_PERCENT
    return replace(table, winners=(line,)) if left_out else table


def _only_possible(suspect: Suspect) -> Suspect:
    """Say of a signal left out that impossible parameters predict it."""
    *others, fault = suspect.faults
    joint = names(suspect.arm, fault.joints)
    return replace(suspect, faults=(*others, Fault(
        'effort_impossible', fault.joints, 'physically possible parameters explain nothing of the '
        f'drive signal of {joint}, but impossible ones do',
        'check its sign and gain, and the axis and the zero of the joint')))


def _gravity(table: Table | None) -> tuple[str, ...]:
    """State how well the data agree with the direction of gravity, if the arm states one."""
    if table is None or any(line.suspect.fault.code == GRAVITY and line.gain > table.least_gain
                            for line in table.lines):
        return ()
    for tilt in table.one_step:
        size, off = tilt.suspect.size, float(np.linalg.norm(tilt.step))
        if (size is not None and tilt.suspect.fault.code == GRAVITY
                and 2 * tilt.std < size.typical):
            words = size.words(off, 2 * tilt.std)
            return (f'the stated gravity agrees with the data to {words}' if off < size.typical
                    else f'a direction of gravity {words} off the stated one fits, but does not '
                    'predict better',)
    return ()


def _fits(table: Table | None) -> bool:
    """Whether unconstrained parameters fit the samples, as they do after too little motion."""
    if table is None:
        return True
    power = table.prediction.power.sum(axis=0)
    share = Likelihood(table.recorded).free_share(table.recorded)
    return bool(100 * np.sqrt(share**2 @ power / max(power.sum(), TINY)) < HELD_OUT_ERROR_PERCENT)


def _unexplained(table: Table | None) -> tuple[Finding, ...]:
    """Report that no suspect explains the data."""
    if table is None or table.prediction.error_percent < HELD_OUT_ERROR_PERCENT:
        return ()
    best = [line for line in table.lines if (line.evidence or 0.0) > 0][:MOST_FAULTS]
    listed = '; '.join(
        f'{described(table.recorded.arm, line.suspect.faults)} '
        f'({line.prediction.error_percent:.0f} %)' for line in best if line.prediction)
    return (Finding(
        'unexplained',
        f'{table.prediction.error_percent:.0f} % of the torque on blocks that were not fitted '
        'stays unexplained, and no fault that was tried explains it'
        + (f'; the best were: {listed}' if listed else ''),
        COMPARE),)


def _hidden(table: Table | None) -> tuple[str, ...]:
    """List faults that this recording would not detect, in one sentence or none."""
    if table is None:
        return ()
    kinds: dict[str, set[int]] = {}
    for fault in (each for each in table.hidden if each.code in HIDDEN_FAULTS):
        kinds.setdefault(HIDDEN_FAULTS[fault.code], set()).update(fault.joints)
    if not kinds:
        return ()
    all_joints, arm = set(table.joints.tolist()), table.recorded.arm
    listed = '; '.join(
        kind + (f' ({"any joint" if joints >= all_joints else names(arm, sorted(joints))})'
                if joints else '') for kind, joints in kinds.items())
    return (f'this recording cannot reveal {listed}: other parameters compensate',)
