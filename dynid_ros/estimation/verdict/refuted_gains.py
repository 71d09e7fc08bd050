"""Stated drive gains that the rows of a fit refute, as a reason against its model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.calibration.drive_gains import GainProjection
from dynid_ros.estimation.calibration.gain_verdict import differs, with_reference
from dynid_ros.estimation.calibration.motor_rows import MotorRows, without_reversals
from dynid_ros.estimation.model.verdict import Finding, no_errors, Verdict
from dynid_ros.estimation.verdict.cause import CONSEQUENCES
from dynid_ros.utilities.arrays import Array

#: Finding of one wrong gain, and all those that wrong gains make.
ONE = 'effort_scale'
OF_GAINS = (ONE, 'unexplained', 'held_out_error', 'not_general', 'joint_error', *CONSEQUENCES)
#: Finding that takes gains out of the reach of the data.
VAGUE = 'excitation'
CODE = 'gains_refuted'

# Bounds of stated gains that speak against a model, above the bounds of ``dynid gains``, which
# looks for nothing else. Measured figures come from benchmarks/drive_gains.py.
#: Share by which a stated gain must be wrong, beside the bounds of ``dynid gains``. No known gain
#: of the real arms differs by more than 0.075.
WRONG_SHARE = 0.1
#: Logarithms of the residuals, summed over the joints, by which gains must make them less. Right
#: ones gain up to 0.09, and 0.36 where the open gain of the Panda's last joint takes up noise.
BETTER_FIT = 0.4


def refuted_gains(arm: ArmModel, rows: KeptRows, theta: Array) -> Finding | None:
    """
    Compare the gains of an arm with those that the rows of a fit have.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of the fit.
    rows : KeptRows
        Its rows.
    theta : (b,) ndarray
        Its base parameters; friction by load follows from them.

    Returns
    -------
    Finding or None
        None if the rows refute none.

    """
    if arm.n < 2:
        return None
    recorded = [MotorRows(rows.masked(without_reversals(arm, rows.motions, rows.settings)))]
    try:
        problem = GainProjection(arm, recorded, [theta], np.zeros(arm.n))
    except RecordingError:
        return None
    if (np.abs(problem.step()) < np.log1p(WRONG_SHARE)).all():
        return None
    stated = problem.sigma
    problem.minimise(np.zeros(arm.n))
    if np.log(stated / problem.sigma).sum() < BETTER_FIT:
        return None
    found = with_reference(problem.gains(None))
    wrong = differs(found)
    if not (np.abs(found.value[wrong]) > np.log1p(WRONG_SHARE)).any():
        return None
    assert found.reference is not None
    names, ratio = arm.joint_names, np.exp(found.value)
    listed = ', '.join(f"'{names[j]}' ({ratio[j]:.3g} ± {ratio[j] * found.std[j]:.2g} times it)"
                       for j in np.flatnonzero(wrong))
    return Finding(
        CODE,
        f'the data refute the stated gain of {listed}; that of '
        f"'{names[found.reference]}' is taken as stated",
        'find the gains with "dynid gains", which writes them into a copy of arm.yaml',
        tuple(names[j] for j in np.flatnonzero(wrong)), 'warning')


def with_gains(verdict: Verdict, refuted: Finding | None) -> Verdict:
    """
    Open a verdict with refuted gains, where they are the cause.

    Parameters
    ----------
    verdict : Verdict
        With the cause of a bad fit, if one was found.
    refuted : Finding or None
        From `refuted_gains`.

    """
    codes = {finding.code for finding in verdict.findings}
    # Another fault makes gains contradict each other, too.
    if refuted is None or VAGUE in codes or not codes <= set(OF_GAINS):
        return verdict
    single = {name for each in verdict.findings if each.code == ONE for name in each.joints}
    # Of two gains, either may be the wrong one.
    if single and (len(refuted.joints) < 2 or set(refuted.joints) <= single):
        return verdict
    caused = [each for each in verdict.findings
              if each.code in (*CONSEQUENCES, ONE, 'unexplained')]
    # On their own, gains that a recording refutes belong to a model that predicts well.
    refuted = refuted if no_errors(caused) else replace(refuted, severity='error')
    findings = (refuted, *(each for each in verdict.findings if each not in caused))
    return replace(verdict, trustworthy=no_errors(findings), findings=findings)
