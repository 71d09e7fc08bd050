# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Rigid-body functions of an arm, with external wrenches.

Each takes one state or a batch, and an `ArmModel` with nominal parameters or an identified result.
Friction is omitted; rotor inertia is part of the mass matrix. External wrenches act on the arm:
``M(q) qdd + C(q, qd) qd + g(q) = tau + Jᵀ f``.

Base parameters do not determine single links, but inverse dynamics, mass matrix and gravity are
linear in them. So all come from the regressor, also for a nominal arm, and forward dynamics solves
``M qdd = tau - h``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import find_body, path_to, TOOL
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import (
    force_matrix,
    joint_force,
    joint_screws,
    link_poses,
)
from dynid_ros.dynamics.rigid_parameters import IdentifiedParameters, rigid_parameters
from dynid_ros.dynamics.state import as_states, States
from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array


def inverse_dynamics(
    arm: ArmModel | IdentifiedParameters, q: ArrayLike, qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None, fext: ArrayLike | None = None,
) -> Array:
    """
    Inverse dynamics: drive torque for a motion under external wrenches.

    Parameters
    ----------
    arm : ArmModel or IdentifiedParameters
        Nominal arm or identified result.
    q, qd, qdd : (n,) or (N, n) array_like
        rad, rad/s, rad/s² (m for prismatic joints); None or empty is zero for the rates.
    fext : (6, m) or (N, 6, m) array_like, optional
        See `external_force`.

    Returns
    -------
    (n,) or (N, n) ndarray
        Nm, or N for prismatic joints.

    Raises
    ------
    InputError
        A shape is wrong or the arm has no inertias.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    """
    parameters = rigid_parameters(arm)
    states, force = _states(parameters.arm, q, fext, qd=qd, qdd=qdd)
    return states.shaped(parameters.torque(states.q, *states.rates) - force)


def forward_dynamics(
    arm: ArmModel | IdentifiedParameters, q: ArrayLike, qd: ArrayLike | None = None,
    tau: ArrayLike | None = None, fext: ArrayLike | None = None,
) -> Array:
    """
    Forward dynamics: joint acceleration under drive torque and external wrenches.

    Parameters
    ----------
    arm : ArmModel or IdentifiedParameters
        Nominal arm or identified result.
    q, qd : (n,) or (N, n) array_like
        rad, rad/s (m for prismatic joints); None or empty is zero for the velocity.
    tau : (n,) or (N, n) array_like, optional
        Nm, or N for prismatic joints; None or empty is zero.
    fext : (6, m) or (N, 6, m) array_like, optional
        See `external_force`.

    Returns
    -------
    (n,) or (N, n) ndarray
        rad/s², or m/s² for prismatic joints.

    Raises
    ------
    InputError
        A shape is wrong, the arm has no inertias, or its mass matrix is not positive definite.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    """
    parameters = rigid_parameters(arm)
    states, force = _states(parameters.arm, q, fext, qd=qd, tau=tau)
    velocity, torque = states.rates
    mass = parameters.mass_matrix(states.q)
    bias = parameters.torque(states.q, velocity, np.zeros_like(velocity))
    try:
        np.linalg.cholesky(mass)
        return states.shaped(np.asarray(
            np.linalg.solve(mass, (torque + force - bias)[..., None])[..., 0], dtype=float))
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"the mass matrix of '{parameters.arm.name}' is not positive definite at q, so the "
            'acceleration is undefined; state inertias of all links, or identify from richer '
            'data') from error


def mass_matrix(arm: ArmModel | IdentifiedParameters, q: ArrayLike) -> Array:
    """
    Mass matrix, (n, n) or (N, n, n), kg m², for positions (n,) or (N, n).

    Raises
    ------
    InputError
        A shape is wrong or the arm has no inertias.

    """
    parameters = rigid_parameters(arm)
    states = as_states(parameters.arm, q)
    return states.shaped(parameters.mass_matrix(states.q))


def gravity_torque(arm: ArmModel | IdentifiedParameters, q: ArrayLike) -> Array:
    """
    Gravity torque, which holds the arm at rest, (n,) or (N, n), Nm.

    Raises
    ------
    InputError
        A shape is wrong or the arm has no inertias.

    """
    return inverse_dynamics(arm, q)


def geometric_jacobian(
    arm: ArmModel | IdentifiedParameters, q: ArrayLike, body: str = TOOL
) -> Array:
    """
    Geometric Jacobian, from joint velocity to angular and linear velocity of a body.

    Parameters
    ----------
    arm : ArmModel or IdentifiedParameters
        The arm; inertias are not needed.
    q : (n,) or (N, n) array_like
        Positions.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    (6, n) or (N, 6, n) ndarray
        Rows: angular velocity, then velocity of the origin of the body's frame, in the base
        frame.

    Raises
    ------
    InputError
        A shape is wrong or there is no such body.

    """
    kinematic = arm if isinstance(arm, ArmModel) else arm.arm
    states = as_states(kinematic, q)
    return states.shaped(jacobians(kinematic, states.q, body))


def jacobians(arm: ArmModel, q: Array, body: str = TOOL) -> Array:
    """Geometric Jacobians (N, 6, n) at positions (N, n), without a check of limits."""
    joint, placement = find_body(arm, body)
    poses = link_poses(arm, q)
    rotation = poses[:, joint, :9].reshape(-1, 3, 3)
    point = poses[:, joint, 9:] + rotation @ placement.translation
    screws, path = joint_screws(arm, poses), path_to(arm, joint)
    screws[..., 3:] += np.cross(screws[..., :3], point[:, None])
    result = np.zeros((len(q), 6, arm.links))
    result[:, :, path] = screws[:, path].swapaxes(1, 2)
    return result @ arm.tree.gearing if arm.tree.followers else result


def _states(
    arm: ArmModel, q: ArrayLike, fext: ArrayLike | None, **rates: ArrayLike | None,
) -> tuple[States, Array | float]:
    """Return states, broadcast with the force matrices, and the joint torque of these."""
    if fext is None or np.size(fext) == 0:
        return as_states(arm, q, **rates), 0.0
    force = force_matrix(arm, fext)
    states = as_states(arm, q, len(force) if force.ndim == 3 else None, **rates)
    return states, joint_force(arm, states.q, force)
