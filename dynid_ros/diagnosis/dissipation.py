"""Friction that drives and rotors of negative inertia: signs that a signal has the wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.model.verdict import Finding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DissipationThresholds:
    """
    Bounds of a negative value that is no noise.

    Attributes
    ----------
    deviations : float
        Standard deviations below zero from which on a value is negative. Of good recordings the
        Panda's reaches 4.1 in the online estimate (rotor inertia of joint 6) and the UR10's 1.7
        in batch; the flipped signal of one wrist joint of the UR10 gives more than 5.

    """

    deviations: float = 5.0


THRESHOLDS = DissipationThresholds()


def negative_drives(
    arm: ArmModel, theta: Array, covariance: Array, motion: Sequence[Prediction],
) -> list[Finding]:
    """
    Find joints whose friction drives them, or whose rotor inertia is negative.

    The friction terms of a joint count together, at the root mean square of its speed: single
    coefficients may be negative where others outweigh them.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    theta, covariance : (b,) and (b, b) ndarray
        Estimate.
    motion : sequence of Prediction
        Fitted samples.

    """
    base, layout = base_parameters(arm), arm.layout
    place = {int(column): k for k, column in enumerate(base.columns)}
    speed = _speeds(arm, motion)
    terms = [term for term in friction_terms(arm.friction)
             if term.name != 'offset' and not term.needs_load]
    # A joint that moves at this speed is warm by it.
    history = replace(JointHistory.unknown(speed[None]), warmth=speed[None])
    values = {term.symbol: term.at(speed[None], speed[None], history, arm.friction_shape)[0]
              for term in terms}
    found = []
    for joint, (name, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        row = np.zeros(len(theta))
        for term in terms:
            column = place.get(layout.friction_column(joint, term.symbol))
            if column is not None:
                row[column] = values[term.symbol][joint]
        if _negative(row, theta, covariance):
            found.append(_finding(
                name, 'friction_drives', f'friction that drives it ({row @ theta:.3g} {unit} at '
                f'{speed[joint]:.2g} {"m" if arm.prismatic[joint] else "rad"}/s)'))
        rotor = place.get(layout.rotor(joint)) if layout.rotor_inertia else None
        if rotor is not None and _negative(np.eye(len(theta))[rotor], theta, covariance):
            found.append(_finding(
                name, 'rotor_negative', f'a rotor inertia of {theta[rotor]:.3g}'))
    return found


def friction_power(
    arm: ArmModel, qd: Array, W: Array, base: NDArray[np.intp],
) -> Array:
    """
    Make rows whose product with the parameters is the mean power that friction takes up.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    qd : (k, n) ndarray
        Velocity, rad/s or m/s; zero where a joint does not count.
    W : (k, n, b) ndarray
        Columns of the parameters.
    base : (b,) ndarray of int
        Their places among the standard parameters.

    Returns
    -------
    (n, b) ndarray
        Row of each joint, without constant offsets.

    """
    place = {column: k for k, column in enumerate(base.tolist())}
    pairs = [(i, place[column]) for term in friction_terms(arm.friction) if term.name != 'offset'
             for i in range(arm.n)
             if (column := arm.layout.friction_column(i, term.symbol)) in place]
    joint, at = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    power = np.zeros((arm.n, len(base)))
    power[joint, at] = (qd[:, joint] * W[:, joint, at]).sum(axis=0) / max(len(qd), 1)
    return power


def _speeds(arm: ArmModel, motion: Sequence[Prediction]) -> Array:
    """Root mean square speed of each joint while it moves, (n,); zero where it never does."""
    if not motion:
        return np.zeros(arm.n)
    qd = np.concatenate([part.qd for part in motion])
    moving = np.isfinite(np.concatenate([part.tau for part in motion]))
    squares = (np.where(moving, qd, 0.0)**2).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(moving.sum(axis=0), 1)))


def _negative(row: Array, theta: Array, covariance: Array) -> bool:
    return bool(row @ theta < -THRESHOLDS.deviations * np.sqrt(row @ covariance @ row))


def _finding(joint: str, code: str, found: str) -> Finding:
    return Finding(code, f"joint '{joint}' has {found}",
                   'check the sign of its drive signal first, in the gains of arm.yaml', (joint,))
