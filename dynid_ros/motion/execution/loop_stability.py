# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gains of the PD control, given or proposed, and the stability of the sampled loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.tracking_control import (
    Gains,
    random_positions,
    RigidArm,
    tracking_gains,
)
from dynid_ros.utilities.arrays import Array

#: Time from a state to the effect of its command beyond the period of the states, s: topics on a
#: busy machine.
DELAY = 0.004


def proposed_gains(arm: ArmModel, period: float) -> Gains:
    """
    Propose gains with which an arm is stable behind topics.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    period : float
        Period of its states, s.

    """
    return tracking_gains(arm, period + DELAY)


def given_gains(arm: ArmModel, stiffness: Sequence[float], damping: Sequence[float]) -> Gains:
    """
    Gains as the user gives them, in the order of the arm's joints.

    Raises
    ------
    InputError
        There is not one positive number for each joint.

    """
    for name, values in (('stiffness', stiffness), ('damping', damping)):
        if len(values) != arm.n:
            raise InputError(
                f"the parameter '{name}' must hold a number for each of the {arm.n} joints of "
                f"'{arm.name}', not {len(values)}; leave out stiffness and damping to have them "
                'proposed')
        for joint, value in zip(arm.joint_names, values, strict=True):
            if not (np.isfinite(value) and value > 0):
                raise InputError(
                    f"the parameter '{name}' must be positive, but is {value:g} for joint "
                    f"'{joint}'")
    return Gains(np.array(stiffness, dtype=float), np.array(damping, dtype=float))


def check_stable(arm: ArmModel, gains: Gains, period: float) -> None:
    """
    Make sure that the sampled loop is stable, at positions throughout the range of the joints.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    gains : Gains
        Of the PD control.
    period : float
        Period of the states, s.

    Raises
    ------
    InputError
        It is not; names the joint that moves most in the growing motion.

    """
    rigid = RigidArm(arm)
    worst, joint = 0.0, 0
    for q in random_positions(arm):
        values, vectors = np.linalg.eig(sampled_loop(rigid.mass_matrix(q), gains, period))
        k = int(np.argmax(np.abs(values)))
        if abs(values[k]) > worst:
            worst = float(abs(values[k]))
            joint = int(np.argmax(np.abs(vectors[:arm.n, k])))
    if worst < 1:
        return
    better = proposed_gains(arm, period)
    raise InputError(
        f'with stiffness {gains.stiffness[joint]:.3g} and damping {gains.damping[joint]:.3g} '
        f"joint '{arm.joint_names[joint]}' swings up at {1 / period:.0f} states a second; at most "
        f'{better.stiffness[joint]:.3g} and {better.damping[joint]:.3g} are proposed for it')


def sampled_loop(M: Array, gains: Gains, period: float) -> Array:
    """
    One period of a PD control whose torque acts a period after the state that it follows from.

    Parameters
    ----------
    M : (n, n) ndarray
        Mass matrix, kg m².
    gains : Gains
        Of the PD control.
    period : float
        s.

    Returns
    -------
    (3 n, 3 n) ndarray
        Maps distances from the reference, velocities and acting torques to those a period later,
        exact for a constant mass matrix (Åström and Wittenmark 1997, Computer-Controlled Systems,
        section 2.3).

    """
    n = len(M)
    one, none, inverse = np.eye(n), np.zeros((n, n)), np.linalg.inv(M)
    return np.block([
        [one, period * one, period**2 / 2 * inverse],
        [none, one, period * inverse],
        [-np.diag(gains.stiffness), -np.diag(gains.damping), none]])
