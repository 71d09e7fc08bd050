"""Verdict on a result, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.model.identified_model import Verdict
from dynid_ros.model.metrics import Metrics, TINY
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.regression.weighted_least_squares import Solution

Array = NDArray[np.float64]

STATES = 400
SEED = 1997
EXPECTED_ERROR = 7.5
JOINT_ERROR = 25.0
HELD_OUT_ERROR = 25.0
WORSE_THAN_FIT = 3.0
NAMED = 8


def judge(
    arm: ArmModel,
    solution: Solution,
    covariance: Array,
    motion: Sequence[Prediction],
    acceleration: Array,
    fit: Metrics,
    validation: Metrics | None,
    known: Sequence[str] = (),
) -> Verdict:
    """
    Judge a result by its error bars and its held-out error.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    solution : Solution
        Estimate.
    covariance : (b, b) ndarray
        Of the estimate.
    motion : sequence of Prediction
        Fitted samples, for the range of the motion.
    acceleration : (n,) ndarray
        Largest acceleration of each joint, rad/s².
    fit, validation : Metrics
        In-sample and held-out figures.
    known : sequence of str
        Known reasons against it, a sentence each.

    Returns
    -------
    Verdict
        With a sentence for each reason against it.

    """
    base = base_parameters(arm)
    if not any(np.isfinite(part.tau).any() for part in motion):
        text = 'the arm stood still: no joint moved, so no parameter is identifiable'
        return Verdict(False, (text,), np.inf, arm.joint_names, base.names)
    q, qd, qdd = _states(motion, acceleration)
    load = gravity_load(arm, q, solution.theta)
    Y = regressor(arm, q, qd, qdd, load=load)[:, :, base.columns]
    variance = np.einsum('kib,bc,kic->i', Y, covariance, Y) / len(Y)
    # Without measured torque there is no prediction.
    power = np.maximum(((Y @ solution.theta) ** 2).mean(axis=0), TINY)
    expected = float(100 * np.sqrt(variance.sum() / power.sum()))
    by_joint = 100 * np.sqrt(variance / np.maximum(power, power.sum() * 1e-6))
    joints = tuple(
        name for name, error in zip(arm.joint_names, by_joint, strict=True) if error > JOINT_ERROR)
    spread = np.sqrt(np.diag(covariance) * np.einsum('kib,kib->b', Y, Y))
    weak = [base.names[k] for k in np.flatnonzero(solution.undetermined)]
    reasons = list(known)
    if len(weak):
        reasons.append(f'the motion does not excite {", ".join(weak)}')
    parameters: tuple[str, ...] = tuple(weak)
    against = held_out_reasons(fit, validation)
    # Poorly determined joints matter where held-out validation has failed.
    failed = against and validation is not None and np.isfinite(validation.relative_error_percent)
    if expected > EXPECTED_ERROR or (failed and joints):
        order = np.argsort(-spread)[:NAMED]
        parameters = tuple(dict.fromkeys([*weak, *(base.names[k] for k in order)]))
        size = f'{expected:.0f}' if expected < 1000 else 'more than 1000'
        reasons.append(
            f'too little excitation: the error bars alone give {size} % torque error on '
            f'other motions in the same range (condition number {solution.condition_number:.0f});'
            f' not determined: {", ".join(joints) or "no single joint"}, mainly '
            f'{", ".join(parameters)}'
        )
    reasons += against
    return Verdict(not reasons, tuple(reasons), expected, joints, parameters)


def held_out_reasons(fit: Metrics, validation: Metrics | None) -> list[str]:
    """Reasons against a model from its held-out error, a sentence each."""
    if validation is None:
        return []
    error, own = validation.relative_error_percent, fit.relative_error_percent
    if np.isnan(error):
        return [f'not validated: the arm stands still in the held-out set ({validation.source})']
    if error > HELD_OUT_ERROR:
        return [f'the torque error is {error:.1f} % on held-out data ({validation.source}); '
                f'the limit is {HELD_OUT_ERROR:.0f} %']
    if error > max(WORSE_THAN_FIT * own, EXPECTED_ERROR):
        return [f'the torque error is {error:.1f} % on held-out data, but {own:.1f} % in-sample: '
                'the model does not generalise']
    return []


def _states(motion: Sequence[Prediction], acceleration: Array) -> tuple[Array, Array, Array]:
    """Random states in the box of positions, velocities and accelerations of the motion."""
    rng = np.random.default_rng(SEED)
    q = np.concatenate([part.q for part in motion])
    speed = np.abs(np.concatenate([part.qd for part in motion])).max(axis=0)
    unit = rng.uniform(-1, 1, size=(2, STATES, q.shape[1]))
    inside = rng.uniform(q.min(axis=0), q.max(axis=0), size=(STATES, q.shape[1]))
    return inside, unit[0] * speed, unit[1] * acceleration
