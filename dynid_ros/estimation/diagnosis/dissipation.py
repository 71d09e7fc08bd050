# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction that adds energy, and negative rotor inertia: values that no arm has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array, rms

#: Standard deviations from which a value is negative, or a stated gain refuted: by Student's t
#: with the nine degrees of freedom of ten groups, two in a thousand good values lie beyond, on one
#: side. The gains of real arms, believed to be right, differ by at most 1.5 where they are known.
SIGNIFICANT_DEVIATIONS = 4.0
SIGN_REMEDY = ('check the sign of its drive signal first, then its gain, in arm.yaml, and whether '
               'another joint is coupled to it')
#: The same where the torque is small.
SMALL_REMEDY = f'errors of the model may make so little torque; otherwise {SIGN_REMEDY}'


def negative_drives(
    arm: ArmModel, theta: Array, covariance: Array, samples: TrialSamples, residual: Array,
    largest: Array,
) -> list[Finding]:
    """
    Find joints whose friction drives them, or whose rotor inertia is negative.

    The friction terms of a joint count together, at the root mean square of its speed: a single
    coefficient may be negative if others outweigh it. A finding is an error if its torque exceeds
    the residual of the joint, and if no trusted model may leave both unexplained, else a warning:
    error bars do not hold model errors, so that small torque may be of friction of another shape.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    theta, covariance : (b,) and (b, b) ndarray
        Estimate.
    samples : TrialSamples
        The motion.
    residual : (n,) ndarray
        Root mean square residual of each joint, Nm.
    largest : (n,) ndarray
        Largest root mean square error of each joint of a trusted model, Nm.

    """
    columns, layout = base_parameters(arm).columns, arm.layout
    speed, acceleration = (rms(np.where(samples.moving, x, np.nan))
                           for x in (samples.qd, samples.qdd))
    terms = [term for term in friction_terms(arm.friction)
             if term.name != 'offset' and not term.needs_load]
    # A joint that moves at this speed is as warm as the speed makes it.
    history = replace(JointHistory.unknown(speed[None]), warmth=speed[None])
    rows = np.zeros((arm.n, layout.size))
    for term in terms:
        rows[range(arm.n), layout.friction_columns(term.symbol)] = term.at(
            speed[None], speed[None], history, arm.friction_shape)
    findings = []
    for joint, (name, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        row = rows[joint, columns]
        if _negative(row, theta, covariance):
            findings.append(_finding(
                name, 'friction_drives', f'friction that drives it ({row @ theta:.3g} {unit} at '
                f'{speed[joint]:.2g} {joint_units("rad/s", arm.prismatic)[joint]})',
                row @ theta, residual[joint], largest[joint]))
        rotor = (columns == layout.rotors[joint]).astype(float) if layout.rotor_inertia else (
            0 * row)
        if _negative(rotor, theta, covariance):
            std = float(np.sqrt(rotor @ covariance @ rotor))
            findings.append(_finding(
                name, 'rotor_negative', f'a rotor inertia of {rotor @ theta:.3g} ± {std:.2g}',
                rotor @ theta * acceleration[joint], residual[joint], largest[joint]))
    return findings


def _negative(row: Array, theta: Array, covariance: Array) -> bool:
    return bool(row @ theta < -SIGNIFICANT_DEVIATIONS * np.sqrt(row @ covariance @ row))


def _finding(
    joint: str, code: str, text: str, torque: float, residual: float, largest: float,
) -> Finding:
    matters = abs(torque) > residual and np.hypot(torque, residual) > largest
    return Finding(
        code, f"joint '{joint}' has {text}, which no joint has",
        SIGN_REMEDY if matters else SMALL_REMEDY, (joint,), 'error' if matters else 'warning')
