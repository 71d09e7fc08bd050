"""Friction that drives and rotors of negative inertia: values that no arm has."""

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

#: Standard deviations below zero from which on a value is negative: by Student's t with the nine
#: degrees of freedom of ten groups, two in a thousand good values lie there.
NEGATIVE_DEVIATIONS = 4.0
REMEDY = ('check the sign of its drive signal first, then its gain, in arm.yaml, and whether '
          'another joint is coupled to it')


def negative_drives(
    arm: ArmModel, theta: Array, covariance: Array, samples: TrialSamples, left: Array,
) -> list[Finding]:
    """
    Find joints whose friction drives them, or whose rotor inertia is negative.

    The friction terms of a joint count together, at the root mean square of its speed: single
    coefficients may be negative where others outweigh them. It is an error where the model owes
    it more torque than it leaves of the joint: less is what it does not know of it anyway.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    theta, covariance : (b,) and (b, b) ndarray
        Estimate.
    samples : TrialSamples
        The motion.
    left : (n,) ndarray
        Root mean square of what the model leaves of each joint, Nm.

    """
    columns, layout = base_parameters(arm).columns, arm.layout
    speed, acceleration = (rms(np.where(samples.moving, x, np.nan))
                           for x in (samples.qd, samples.qdd))
    terms = [term for term in friction_terms(arm.friction)
             if term.name != 'offset' and not term.needs_load]
    # A joint that moves at this speed is warm by it.
    history = replace(JointHistory.unknown(speed[None]), warmth=speed[None])
    rows = np.zeros((arm.n, layout.size))
    for term in terms:
        rows[range(arm.n), layout.friction_columns(term.symbol)] = term.at(
            speed[None], speed[None], history, arm.friction_shape)
    found = []
    for joint, (name, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        row = rows[joint, columns]
        if _negative(row, theta, covariance):
            found.append(_finding(
                name, 'friction_drives', f'friction that drives it ({row @ theta:.3g} {unit} at '
                f'{speed[joint]:.2g} {joint_units("rad/s", arm.prismatic)[joint]})',
                row @ theta, left[joint]))
        own = (columns == layout.rotors[joint]).astype(float) if layout.rotor_inertia else 0 * row
        if _negative(own, theta, covariance):
            std = float(np.sqrt(own @ covariance @ own))
            found.append(_finding(
                name, 'rotor_negative', f'a rotor inertia of {own @ theta:.3g} ± {std:.2g}',
                own @ theta * acceleration[joint], left[joint]))
    return found


def _negative(row: Array, theta: Array, covariance: Array) -> bool:
    return bool(row @ theta < -NEGATIVE_DEVIATIONS * np.sqrt(row @ covariance @ row))


def _finding(joint: str, code: str, found: str, torque: float, left: float) -> Finding:
    return Finding(code, f"joint '{joint}' has {found}, which no joint has", REMEDY, (joint,),
                   'error' if abs(torque) > left else 'warning')
