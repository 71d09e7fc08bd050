# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Held-out error of the parameters that a description states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, random_regressor, random_states
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import ArmError
from dynid_ros.estimation.identification.conditioned_data import ConditionedData, ConditionedSet
from dynid_ros.estimation.identification.validation import held_out_metrics
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array

#: Stated parameters as they are, and with friction and rotor inertia, which few descriptions
#: state, fitted to the training set.
AS_STATED, DRIVES_FITTED = 'as stated', 'with friction and rotor inertia fitted'
#: Error at which stated parameters miss half of the mean square torque, %.
MOST_PERCENT = 100 * 0.5**0.5
#: Largest difference, relative to a joint's torque, between descriptions of the same joints: a
#: URDF rounds angles to 1e-3, an axis in another direction causes 1.
SAME_TORQUE = 0.02


def compare_parameters(
    model: IdentifiedModel, data: ConditionedData, stated: ArmModel | None,
) -> IdentifiedModel:
    """Add the errors of possible and of stated parameters on the held-out set, if there is one."""
    held_out = data.held_out
    if not held_out:
        return model
    possible = base_parameters(model.arm).grouping @ model.standard_parameters().values
    errors = {} if stated is None else stated_errors(model, stated, held_out)
    return replace(
        model, consistent=model.validation if model.possible else held_out_metrics(
            model.arm, held_out, possible),
        stated=errors, verdict=replace(model.verdict, findings=(
            *model.verdict.findings, *stated_findings(model, errors))))


def stated_findings(model: IdentifiedModel, errors: Mapping[str, Metrics]) -> list[Finding]:
    """
    Warn of a description whose masses do not account for most of the torque.

    The kinematics of another arm may fit, with masses that differ from its description.

    Parameters
    ----------
    model : IdentifiedModel
        The identified model.
    errors : mapping of str to Metrics
        From `stated_errors`.

    """
    found = errors.get(DRIVES_FITTED)
    if (not model.arm.drive.in_newton_metres or not model.verdict.trustworthy or found is None
            or not found.relative_error_percent > MOST_PERCENT):
        return []
    return [Finding(
        'other_masses', 'the masses that the description states miss '
        f'{found.relative_error_percent:.0f} % of the torque even with friction and rotor inertia '
        'fitted: it describes another arm, its masses are placeholders, its inertias are not '
        'about the centres of mass, or drive gains are wrong',
        'compare its kinematics with the arm, and the gains by "dynid gains"',
        severity='warning')]


def stated_errors(
    model: IdentifiedModel, stated: ArmModel, unseen: Sequence[ConditionedSet],
) -> dict[str, Metrics]:
    """
    Predict the held-out set of a model with the parameters that a description states.

    Parameters
    ----------
    model : IdentifiedModel
        The identified model, for its kinematics, friction terms and training set.
    stated : ArmModel
        The same joints, with nominal parameters; its frames may be others.
    unseen : sequence of Unseen
        Held-out set.

    Returns
    -------
    dict of str to Metrics
        `AS_STATED` and `DRIVES_FITTED`.

    Raises
    ------
    ArmError
        The two do not have the same joints; the message names one.

    """
    arm, layout = model.arm, model.arm.layout
    free = np.setdiff1d(np.arange(layout.size), layout.all_inertial())
    inertias = base_of(arm, stated.rigid)
    # With R the root of the information, |R (theta - theta_fit)|² is the increase of the squares.
    drives = base_parameters(arm).grouping[:, free]
    root = model.root_information
    fitted, *_ = np.linalg.lstsq(root @ drives, root @ (model.theta - inertias), rcond=None)
    bare = replace(
        arm.with_friction(tuple(stated.friction_nominal)), coupling=(),
        rotor_inertia=stated.rotor_nominal is not None)
    whole = replace(
        stated, friction=bare.friction, coupling=(), rotor_inertia=bare.rotor_inertia)
    return {
        AS_STATED: held_out_metrics(bare, unseen, base_of(bare, whole)),
        DRIVES_FITTED: held_out_metrics(arm, unseen, inertias + drives @ fitted),
    }


def base_of(arm: ArmModel, stated: ArmModel) -> Array:
    """
    Find the base parameters with which an arm has the torque of another description.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of the other description at least.
    stated : ArmModel
        The same joints in the same order, with nominal parameters.

    Returns
    -------
    (b,) ndarray
        In the order of ``base_parameters(arm)``.

    Raises
    ------
    ArmError
        The joints are not the same; the message names one.

    """
    q, qd, qdd, load, history = random_states(arm)
    moved = replace(stated, gravity=arm.gravity)
    tau = regressor(moved, q, qd, qdd, load=load, history=history) @ nominal_parameters(moved)
    W = random_regressor(arm)[:, base_parameters(arm).columns]
    theta, *_ = np.linalg.lstsq(W, tau.ravel(), rcond=None)
    error = np.linalg.norm(tau - (W @ theta).reshape(tau.shape), axis=0)
    share = error / np.maximum(np.linalg.norm(tau, axis=0), 1e-9 * np.linalg.norm(tau))
    if tau.any() and share.max() > SAME_TORQUE:
        joint = int(share.argmax())
        raise ArmError(
            f"the description '{stated.name}' is not of the arm '{arm.name}': its joint "
            f"'{arm.joint_names[joint]}' moves otherwise, and {100 * share[joint]:.0f} % of that "
            'torque has no parameters here; compare axes, directions and zeros of the two')
    return np.asarray(theta)
