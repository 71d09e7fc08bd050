"""The verdict on a result: its consistency with the arm, its error bars and held-out error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import listed
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.diagnosis.copied_signals import copied_signals
from dynid_ros.estimation.diagnosis.dissipation import negative_drives
from dynid_ros.estimation.diagnosis.expected_error import (
    expected_errors,
    LARGEST_EXPECTED_PERCENT,
    WEAKEST,
)
from dynid_ros.estimation.estimate.chosen_estimate import ChosenEstimate
from dynid_ros.estimation.model.metrics import Metrics, TINY
from dynid_ros.estimation.model.verdict import Finding, no_errors, Verdict
from dynid_ros.estimation.verdict.cause import with_cause
from dynid_ros.utilities.arrays import Array, joined, rms

# Bounds of a model that can be trusted. Measured figures come from benchmarks/thresholds.py: real
# arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Smallest held-out error that is compared with the one of the fit. Good recordings reach 5.7 %.
GENERAL_ERROR_PERCENT = 7.5
#: Expected error of one joint from which it is listed as undetermined. It has no margin: a joint
#: of the Panda recording reaches 45 %, so that it counts only where the model fails elsewhere.
JOINT_ERROR_PERCENT = 25.0
#: The same as a multiple of the error of the fit.
JOINT_RATIO = 5.0
#: Largest error on data not used for fitting. Good recordings reach 5.7 %; a drive gain of 1.3
#: gives 23 %, and exchanged torques of two joints give more.
HELD_OUT_ERROR_PERCENT = 25.0
#: Largest error of one joint on data not used for fitting, by its own torque. Good recordings
#: reach 39 %; half the gain of a joint that friction and noise move most gives 62 %.
ONE_JOINT_PERCENT = 50.0
#: The same from which no torque at all would be nearer.
NO_BETTER_THAN_NONE_PERCENT = 100.0
#: Largest held-out error as a multiple of the error of the fit. Good recordings reach 1.6 (fits
#: below 2.5 % count as 2.5 %, by the other bound); a wrong gain and exchanged torques start at
#: 6.5.
WORSE_THAN_FIT = 3.0
#: Undetermined parameters that are listed at most, the vaguest first.
LISTED = 8
#: Share of the data in a parameter below which the motion shows nothing of it.
NOTHING = 1e-3


def judge(
    arm: ArmModel, estimate: ChosenEstimate, motion: Sequence[Prediction], acceleration: Array,
    fit: Metrics, validation: Metrics | None, samples: TrialSamples, *, gravity: Array,
    known: Sequence[Finding] = (), clipped: Sequence[Finding] = (),
) -> tuple[Verdict, tuple[str, ...]]:
    """
    Judge a model, of a batch or of a stream: its figures first, then the cause of its errors.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of the model.
    estimate : ChosenEstimate
        Its parameters.
    motion : sequence of Prediction
        Fitted samples, for the range of the motion.
    acceleration : (n,) ndarray
        Largest acceleration of each joint, rad/s².
    fit, validation : Metrics
        In-sample and held-out figures.
    samples : TrialSamples
        Samples on which fault hypotheses are compared, without those that are cut off.
    gravity : (3,) ndarray
        Gravity as the arm states it, m/s².
    known : sequence of Finding
        Known reasons against the model.
    clipped : sequence of Finding
        Drive signals that are cut off.

    Returns
    -------
    verdict : Verdict
        With a finding for each reason against the model.
    remarks : tuple of str
        Gravity, and faults that these samples would not show.

    """
    verdict = _of_figures(
        arm, estimate, joined(motion), acceleration, fit, validation, samples, known)
    # A wrong model leaves out as outliers what would show its cause.
    return with_cause(verdict, replace(arm.memoryless, gravity=gravity), samples, clipped)


def _of_figures(
    arm: ArmModel, estimate: ChosenEstimate, motion: Prediction, acceleration: Array,
    fit: Metrics, validation: Metrics | None, samples: TrialSamples, known: Sequence[Finding],
) -> Verdict:
    """Judge a model by its error bars and its held-out error."""
    base = base_parameters(arm)
    moved = np.asarray(np.isfinite(motion.tau).any(axis=0))
    if not moved.any():
        still = Finding('still', 'the arm stood still: no joint moved, so no parameter is '
                        'identifiable', 'record a motion')
        return Verdict(False, (still,), np.inf, arm.joint_names, base.names)
    covariance = estimate.data_covariance
    expected, by_joint, spread = expected_errors(
        arm, estimate.theta, covariance, motion, acceleration)
    # Error bars follow the residual. A motion is to blame for an error on others that is larger
    # than that of the fit itself, and much larger in a single joint.
    own = fit.relative_error_percent
    vague = (by_joint > max(JOINT_ERROR_PERCENT, JOINT_RATIO * own)) | ~moved
    joints = tuple(np.array(arm.joint_names)[vague].tolist())
    weak = [base.names[k] for k in np.flatnonzero(estimate.excited_share < NOTHING)]
    findings = [*known, *_not_excited(arm, moved, weak)]
    parameters: tuple[str, ...] = tuple(weak)
    against = held_out_findings(fit, validation)
    # Poorly determined joints matter where held-out validation has failed.
    failed = against and validation is not None and np.isfinite(validation.relative_error_percent)
    # No torque at all predicts as well as the model of these.
    missed = validation is not None and any(
        joint.name in joints and joint.relative_error_percent > 100.0
        for joint in validation.joints)
    blamed = expected > max(LARGEST_EXPECTED_PERCENT, own)
    if blamed or (failed and joints) or missed:
        order = np.argsort(-spread)[:LISTED]
        parameters = tuple(base.names[k] for k in order)
        # It names the weakest parameters itself; joints at rest remain.
        findings = [each for each in findings if each.code != 'not_excited' or each.joints]
        # Where held-out samples are predicted, it is an error only if others would not be.
        passes = validation is not None and not against and not missed and (
            np.hypot(own, expected) < largest_general_error(fit))
        findings.append(replace(
            _too_little(expected, joints, parameters),
            severity='warning' if passes else 'error'))
    elif expected > LARGEST_EXPECTED_PERCENT:
        findings.append(Finding(
            'residual', f'the fit leaves {own:.0f} % of the torque '
            f'unexplained, so that the error bars alone give {expected:.0f} % torque error on '
            'other motions in the same range',
            severity='warning' if validation is not None
            and own < HELD_OUT_ERROR_PERCENT else 'error'))
    findings += against
    # A coefficient of a joint that the motion hardly determines means little.
    findings += [*_impossible(estimate, fit), *(each for each in negative_drives(
        arm, estimate.free, estimate.covariance, samples, rms(motion.tau - motion.tau_hat))
        if not set(each.joints) & set(joints))]
    vague_motion = [finding for finding in findings if finding.code == 'excitation']
    # In few seconds much is a function of velocity.
    findings += [each for each in copied_signals(arm, samples)
                 if each.code != 'effort_of_velocity' or not vague_motion]
    poor = joint_findings(validation)
    if no_errors(vague_motion) and not no_errors(poor):
        findings = [*poor, *findings]
    elif no_errors(findings) and not vague_motion:
        findings += poor
    return Verdict(no_errors(findings), tuple(findings), expected, joints, parameters)


def _not_excited(arm: ArmModel, moved: NDArray[np.bool_], weak: Sequence[str]) -> list[Finding]:
    """Report joints at rest, and parameters of which nothing else shows anything either."""
    still = tuple(np.array(arm.joint_names)[~moved].tolist())
    if not (still or weak):
        return []
    count = f'{len(weak)} parameter{"s" if len(weak) > 1 else ""}'
    if not still:
        return [Finding('not_excited', f'the motion does not excite {count}, which the prior '
                        f'gives: {listed(weak)}', MORE_MOTION, severity='warning')]
    return [Finding('not_excited', f'at rest in the fitted motion: {", ".join(still)}'
                    + (f'; the prior gives {count}: {listed(weak)}' if weak else ''),
                    MORE_MOTION, still, 'warning')]


MORE_MOTION = 'record a motion that excites them, by "dynid design ARM --given RESULT"'


def _too_little(error: float, joints: Sequence[str], parameters: Sequence[str]) -> Finding:
    size = f'{error:.0f}' if error < 1000 else 'more than 1000'
    return Finding(
        'excitation',
        f'the motion excites too little, so that the error bars alone give {size} % torque error '
        'on other motions in the same range; not determined: '
        f'{", ".join(joints) or "no single joint"}, mainly {", ".join(parameters)}',
        MORE_MOTION, tuple(joints))


def held_out_findings(fit: Metrics, validation: Metrics | None) -> list[Finding]:
    """Reasons against a model from its held-out error."""
    if validation is None:
        return []
    error, own = validation.relative_error_percent, fit.relative_error_percent
    if np.isnan(error):
        return [Finding('not_validated', 'nothing validates the model: the arm stands still in '
                        f'the held-out set ({validation.source})')]
    largest = HELD_OUT_ERROR_PERCENT
    if error > largest:
        return [Finding('held_out_error', f'the torque error is {error:.1f} % on held-out data '
                        f'({validation.source}); the limit is {largest:.0f} %')]
    if error > largest_general_error(fit):
        return [Finding('not_general', f'the torque error is {error:.1f} % on held-out data, but '
                        f'{own:.1f} % in-sample: the model does not generalise')]
    return []


def largest_general_error(fit: Metrics) -> float:
    """Largest error on another motion with which a model generalises, %."""
    return min(HELD_OUT_ERROR_PERCENT, max(
        WORSE_THAN_FIT * fit.relative_error_percent, GENERAL_ERROR_PERCENT))


def joint_findings(validation: Metrics | None) -> list[Finding]:
    """
    Reasons against a model that is good as a whole, from the held-out error of each joint.

    The error of a joint whose torque is nothing beside that of all joints means nothing.
    """
    if validation is None:
        return []
    limit, joints = ONE_JOINT_PERCENT, validation.joints
    error = np.array([joint.relative_error_percent for joint in joints])
    rmse = np.array([joint.rmse for joint in joints])
    power = np.nan_to_num((100 * rmse / np.maximum(error, TINY))**2)
    missed = (error > limit) & (power > WEAKEST * power.sum())
    poor = {joint.name: joint.relative_error_percent
            for joint, far in zip(joints, missed, strict=True) if far}
    if not poor:
        return []
    return [Finding(
        'joint_error', f'the model misses the torque of single joints on held-out data '
        f'({validation.source}): {", ".join(f"{name} {e:.0f} %" for name, e in poor.items())}; '
        f'the limit is {limit:.0f} %',
        'compare their drive signals with the data sheet, and move them faster', tuple(poor),
        'error' if max(poor.values()) > NO_BETTER_THAN_NONE_PERCENT else 'warning')]


def _impossible(estimate: ChosenEstimate, fit: Metrics) -> list[Finding]:
    """Report that no possible links explain the torque: an error if they would not generalise."""
    if estimate.excess <= 1:
        return []
    error = estimate.excess * fit.relative_error_percent
    return [Finding(
        'impossible', 'no physically possible parameters predict as well: they leave '
        f'{100 * (estimate.excess - 1):.0f} % more torque in parts of the motion that were not '
        'fitted', 'check the signs and gains of the drive signals, the kinematics, and couplings '
        'between joints',
        severity='error' if error > largest_general_error(fit) else 'warning')]
