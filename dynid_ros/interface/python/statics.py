# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An arm at rest under a wrench, and the pose error of its tool, each in one call."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.dynamics import rigid_body
from dynid_ros.dynamics.rigid_parameters import check_possible
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.interface.python.boundary import Arm, as_arm, as_arm_or_model, Model
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import as_flag, NOT_NEGATIVE, NotNegative, numbers

if TYPE_CHECKING:
    from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget


class WrenchEffect(NamedTuple):
    """
    An arm at rest under a wrench, (n,) or (N, n) each.

    Attributes
    ----------
    gravity : ndarray
        Torque that holds the arm without the wrench, Nm (N for prismatic joints).
    holding : ndarray
        Torque that holds it under the wrench.
    acceleration : ndarray
        Of joints that are held against gravity alone, rad/s² (m/s²).

    """

    gravity: Array
    holding: Array
    acceleration: Array


def external_force(
    arm: Arm | Model, wrench: ArrayLike, q: ArrayLike, *, body: str = 'tool',
    in_base: bool = False,
) -> WrenchEffect:
    """
    Compute the joint torques of a wrench on a body, as ``dynid external-force`` does.

    Parameters
    ----------
    arm : str, Path, ArmModel or IdentifiedModel
        The arm, or its model.
    wrench : (6,) or (N, 6) array_like
        ``[Tx Ty Tz Fx Fy Fz]`` on the body, Nm and N, in its frame.
    q : (n,) or (N, n) array_like
        Positions, rad or m.
    body : str
        ``tool``, or the joint that moves the link.
    in_base : bool
        The wrench is in the base frame, its moment about the origin of that frame.

    Returns
    -------
    WrenchEffect
        Torque that holds the arm, and acceleration without it.

    Raises
    ------
    InputError
        There is no such body, or a shape is wrong.

    """
    from dynid_ros.dynamics import external_force as on_bodies

    model = as_arm_or_model(arm)
    if not isinstance(model, IdentifiedModel):
        check_possible(model)
    q = numbers('q', q)
    in_base = as_flag('in_base', in_base)
    fext = on_bodies.external_force(model, body, wrench, None if in_base else q)
    gravity = rigid_body.gravity_torque(model, q)
    return WrenchEffect(gravity, rigid_body.inverse_dynamics(model, q, fext=fext),
                        rigid_body.forward_dynamics(model, q, tau=gravity, fext=fext))


def pose_error(
    arm: Arm, q: ArrayLike, *, body: str = 'tool', angle_std: NotNegative = 0.05 * np.pi / 180,
    length_std: NotNegative = 2e-4,
) -> Budget:
    """
    Compute the pose error of a tool by its sources, as ``dynid pose-error`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm, with its tolerances.
    q : (n,) or (N, n) array_like
        Positions, rad or m.
    body : str
        ``tool``, or the joint that moves the link.
    angle_std, length_std : float
        Standard deviations of every angle, rad, and length, m, of an arm without tolerances.

    Returns
    -------
    Budget
        With ``position_std``, m, ``rotation_std``, rad, ``by_group`` and ``largest``.

    Raises
    ------
    InputError
        There is no such body, or a shape is wrong.

    """
    from dynid_ros.dynamics.kinematics.error_sources import uniform_tolerances
    from dynid_ros.dynamics.kinematics.pose_uncertainty import error_budget

    known = as_arm(arm)
    return error_budget(known, numbers('q', q), known.tolerances or uniform_tolerances(
        known, NOT_NEGATIVE.take('angle_std', angle_std),
        NOT_NEGATIVE.take('length_std', length_std)), body)
