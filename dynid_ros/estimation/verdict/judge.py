# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The verdict on a result: physical consistency, error bars and held-out error."""

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
    HELD_OUT_ERROR_PERCENT,
    LARGEST_EXPECTED_PERCENT,
    WEAKEST,
)
from dynid_ros.estimation.estimate.chosen_estimate import Estimate
from dynid_ros.estimation.estimate.folds import CLEARLY_WORSE, clearly_worse
from dynid_ros.estimation.model.metrics import Metrics, TINY
from dynid_ros.estimation.model.verdict import Finding, no_errors, Verdict
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.signal_suspects import with_presliding
from dynid_ros.estimation.suspects.suspect import as_recorded
from dynid_ros.estimation.verdict.cause import with_cause
from dynid_ros.utilities.arrays import Array, joined, rms

# Bounds of a model that can be trusted. Measured figures come from benchmarks/thresholds.py: real
# arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Held-out error below which a model generalises, whatever its fit. Good recordings reach 5.7 %.
GENERAL_ERROR_PERCENT = 7.5
#: Largest error of one joint on data not used for fitting, by its own torque. Good recordings
#: reach 39 %; half the gain of a joint that friction and noise move most gives 62 %.
ONE_JOINT_PERCENT = 50.0
#: The same from which a prediction of zero torque would be better.
NO_BETTER_THAN_NONE_PERCENT = 100.0
#: Largest held-out error as a multiple of the error of the fit. Good recordings reach 1.6 (fits
#: below 2.5 % count as 2.5 %, by the other bound); a wrong gain and exchanged torques start at
#: 6.5.
WORSE_THAN_FIT = 3.0
#: Most undetermined parameters that are listed, the least certain first.
LISTED_PARAMETERS = 8
#: Data share below which the motion does not excite a parameter.
UNEXCITED_SHARE = 1e-3
#: Remedy of a value that friction of a contact explains.
BENDING = ('friction that bends before it slides explains this torque as well: move the joint '
           'farther')


def judge(
    arm: ArmModel, estimate: Estimate, motion: Sequence[Prediction], acceleration: Array,
    fit: Metrics, validation: Metrics | None, samples: TrialSamples, *, gravity: Array,
    earlier: Sequence[Finding] = (), clipped: Sequence[Finding] = (),
    wider: TrialSamples | None = None,
) -> tuple[Verdict, tuple[str, ...]]:
    """
    Judge a model from a batch or a stream: first its errors, then their cause.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of the model.
    estimate : Estimate
        Its parameters.
    motion : sequence of Prediction
        Fitted samples, which give the range of the motion.
    acceleration : (n,) ndarray
        Largest acceleration of each joint, rad/s².
    fit, validation : Metrics
        In-sample and held-out figures.
    samples : TrialSamples
        Samples on which suspects are compared, without clipped ones.
    gravity : (3,) ndarray
        Gravity as the arm states it, m/s².
    earlier : sequence of Finding
        Findings of earlier stages.
    clipped : sequence of Finding
        Findings of clipped drive signals.
    wider : TrialSamples, optional
        Samples in a wider band, if a fault may have lowered the cut-off.

    Returns
    -------
    verdict : Verdict
        With a finding for each reason against the model.
    remarks : tuple of str
        On gravity, and on faults that these samples would not detect.

    """
    verdict = _judge_errors(
        arm, estimate, joined(motion), acceleration, fit, validation, samples, earlier)
    # A wrong model would reject the samples that reveal its cause as outliers.
    return with_cause(verdict, replace(arm.memoryless, gravity=gravity), samples, clipped,
                      wider=wider)


def _judge_errors(
    arm: ArmModel, estimate: Estimate, motion: Prediction, acceleration: Array,
    fit: Metrics, validation: Metrics | None, samples: TrialSamples, earlier: Sequence[Finding],
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
    # Error bars grow with the residual. So the motion is to blame only if the expected error
    # exceeds that of the fit, or, in a single joint, exceeds it by far. A joint of the good Panda
    # recording reaches 45 %, so this bound counts only if the model fails elsewhere, too.
    fit_error = fit.relative_error_percent
    undetermined = (by_joint > max(HELD_OUT_ERROR_PERCENT, WORSE_THAN_FIT * fit_error)) | ~moved
    joints = tuple(np.array(arm.joint_names)[undetermined].tolist())
    weak = [base.names[k] for k in np.flatnonzero(estimate.excited_share < UNEXCITED_SHARE)]
    findings = [*earlier, *not_excited(arm, moved, weak)]
    parameters: tuple[str, ...] = tuple(weak)
    against = held_out_findings(fit, validation)
    # Poorly determined joints matter where held-out validation has failed.
    validation_failed = against and validation is not None and (
        np.isfinite(validation.relative_error_percent))
    # For these joints, zero torque predicts as well as the model.
    no_prediction = validation is not None and any(
        joint.name in joints and joint.relative_error_percent > NO_BETTER_THAN_NONE_PERCENT
        for joint in validation.joints)
    blamed = expected > max(LARGEST_EXPECTED_PERCENT, fit_error)
    if blamed or (validation_failed and joints) or no_prediction:
        order = np.argsort(-spread)[:LISTED_PARAMETERS]
        parameters = tuple(base.names[k] for k in order)
        # The new finding lists the weakest parameters; only joints at rest remain.
        findings = [each for each in findings if each.code != 'not_excited' or each.joints]
        # If held-out samples are predicted, it is an error only if other motions would not be.
        passes = validation is not None and not against and not no_prediction and (
            np.hypot(fit_error, expected) < largest_general_error(fit))
        findings.append(replace(
            _too_little(expected, joints, parameters),
            severity='warning' if passes else 'error'))
    elif expected > LARGEST_EXPECTED_PERCENT:
        findings.append(Finding(
            'residual', f'the fit leaves {fit_error:.0f} % of the torque '
            f'unexplained, so that the error bars alone give {expected:.0f} % torque error on '
            'other motions in the same range',
            severity='warning' if validation is not None
            and fit_error < HELD_OUT_ERROR_PERCENT else 'error'))
    findings += against
    # A coefficient of a joint that the motion hardly determines means little.
    findings += [*impossible(estimate.excess, fit), *unless_a_contact_bends(arm, samples, [
        each for each in negative_drives(
            arm, estimate.free, estimate.covariance_within, samples,
            rms(motion.tau - motion.tau_hat),
            largest_general_error(fit) / 100 * rms(motion.tau))
        if not set(each.joints) & set(joints)])]
    vague_motion = [finding for finding in findings if finding.code == 'excitation']
    # In a few seconds, torque may look like a function of velocity.
    findings += [each for each in copied_signals(arm, samples)
                 if each.code != 'effort_of_velocity' or not vague_motion]
    poor = joint_findings(validation)
    if no_errors(vague_motion) and not no_errors(poor):
        findings = [*poor, *findings]
    elif no_errors(findings) and not vague_motion:
        findings += poor
    return Verdict(no_errors(findings), tuple(findings), expected, joints, parameters)


def unless_a_contact_bends(
    arm: ArmModel, samples: TrialSamples, findings: Sequence[Finding],
) -> list[Finding]:
    """
    Warn only of negative values that friction of a contact that bends explains as well.

    On a small or narrow motion, the stiffness of such a contact acts as a negative rotor inertia
    and, as it turns over late, as friction that drives. So possible parameters with a column of it
    have to predict the torque of the joint clearly worse than any parameters without.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    samples : TrialSamples
        Motion and torque.
    findings : sequence of Finding
        Of `negative_drives`.

    """
    if no_errors(findings):
        return list(findings)
    base, result = as_recorded(arm.memoryless.as_measured, samples), []
    likelihood = Likelihood(base)
    free = likelihood.unconstrained_blocks(base)
    for each in findings:
        place = likelihood.joints == arm.joint_names.index(each.joints[0])
        if each.is_error and place.any():
            bending = with_presliding(base, int(likelihood.joints[place][0]))
            possible = likelihood.blocks(bending, likelihood.possible(bending)[1])
            worse = clearly_worse(*(prediction.residual_squares[:, place][:, 0]
                                    for prediction in (possible, free)))
            if not worse:
                each = replace(each, severity='warning', remedy=BENDING)
        result.append(each)
    return result


def not_excited(arm: ArmModel, moved: NDArray[np.bool_], weak: Sequence[str]) -> list[Finding]:
    """
    Report joints at rest and parameters that nothing excites.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    moved : (n,) ndarray of bool
        Joints that move in the fitted motion.
    weak : sequence of str
        Base parameters that the prior gives.

    """
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
    """Return findings from the held-out error."""
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


def single_files(
    fit: Metrics, validation: Metrics | None, files: Sequence[Metrics],
) -> list[Finding]:
    """
    Warn of single held-out files that the model does not predict, though it does all together.

    Parameters
    ----------
    fit, validation : Metrics
        Of the fitted and of all held-out samples.
    files : sequence of Metrics
        Of each held-out file.

    """
    missed = [each for each in files if held_out_findings(fit, each)]
    if held_out_findings(fit, validation) or not missed:
        return []
    listed = ', '.join(
        f'{each.source} {each.relative_error_percent:.0f} %' for each in missed
        if np.isfinite(each.relative_error_percent))
    return [Finding(
        'held_out_file', f'the torque error is too large on single held-out files: {listed}',
        'compare them with the others', severity='warning')] if listed else []


def largest_general_error(fit: Metrics) -> float:
    """Largest error on another motion up to which a model generalises, %."""
    return min(HELD_OUT_ERROR_PERCENT, max(
        WORSE_THAN_FIT * fit.relative_error_percent, GENERAL_ERROR_PERCENT))


def joint_findings(validation: Metrics | None) -> list[Finding]:
    """
    Return findings from the held-out error of each joint, for a model that is good overall.

    Joints with negligible torque do not count.
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


def impossible(excess: float, fit: Metrics) -> list[Finding]:
    """
    Report that no physical links explain the torque; an error if they would not generalise.

    Parameters
    ----------
    excess : float
        Ratio of the error of possible parameters to that of the unconstrained ones.
    fit : Metrics
        In-sample figures.

    """
    if excess <= CLEARLY_WORSE:
        return []
    error = excess * fit.relative_error_percent
    return [Finding(
        'impossible', 'no physically possible parameters predict as well: they leave '
        f'{100 * (excess - 1):.0f} % more torque in parts of the motion that were not '
        'fitted', 'check the signs and gains of the drive signals, the kinematics, and couplings '
        'between joints',
        severity='error' if error > largest_general_error(fit) else 'warning')]
