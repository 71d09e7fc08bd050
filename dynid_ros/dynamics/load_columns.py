"""Columns of the load that an arm carries, and of its friction while it carries it."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.utilities.arrays import Array

#: Standard deviation of each parameter of a load before any rows, kg, kg m and kg m²: far beyond
#: what an arm carries.
HEAVIEST = 100.0


def load_columns(arm: ArmModel, frame: Placement | None = None) -> Array:
    """
    Change of the base parameters with the load that the arm carries.

    The torque of a load is linear in its ten inertial parameters, and the parameters of the link
    that carries it are columns of the regressor, so that ``W @ load_columns(arm)`` are the columns
    of the load for any rows W, however they were filtered.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    frame : Placement, optional
        Frame of the load's parameters in the link that carries the tool; by default the tool.

    Returns
    -------
    (b, 10) ndarray
        For ``m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz`` of the load in that frame.

    """
    place = arm.tool.placement if frame is None else frame
    link = arm.layout.inertial(arm.tool_link)
    return np.asarray(base_parameters(arm).grouping[:, link] @ frame_change(place))


def frame_change(place: Placement) -> Array:
    """
    Map inertial parameters from a frame to the one in which it is placed, (10, 10).

    The pseudo-inertia P of a body becomes ``X P Xᵀ`` with X the homogeneous matrix of the frame
    (Wensing, Kim and Slotine 2018, Linear matrix inequalities for physically consistent inertial
    parameter identification).
    """
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = place.rotation, place.translation
    return np.column_stack([_parameters(X @ pseudo_inertia(unit) @ X.T)
                            for unit in np.eye(len(INERTIAL))])


def _parameters(P: Array) -> Array:
    """Inertial parameters (10,) of a pseudo-inertia."""
    inertia = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *inertia[np.triu_indices(3)]])


def own_friction(arm: ArmModel) -> Array:
    """Change of the base parameters with friction that a recording has of its own, (b, f)."""
    return np.asarray(np.eye(base_parameters(arm).count)[:, friction_places(arm)])


def friction_names(arm: ArmModel) -> list[str]:
    """Return the names of these parameters, in their order."""
    names = base_parameters(arm).names
    return [names[k] for k in friction_places(arm)]
