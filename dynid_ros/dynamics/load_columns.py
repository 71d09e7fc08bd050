# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Regressor columns of a load, and of a change of friction between recordings."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, inertial_of, pseudo_inertia
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.utilities.arrays import Array

#: Prior standard deviation of each parameter of a load, kg, kg m and kg m²: far beyond what an arm
#: carries.
LOAD_STD = 100.0


def load_columns(arm: ArmModel, frame: Placement | None = None) -> Array:
    """
    Differentiate the base parameters with respect to the parameters of a load.

    The inertial parameters of a load add to those of the link that carries it, which are columns
    of the regressor. So ``W @ load_columns(arm)`` are the columns of the load for any rows W,
    filtered or not.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    frame : Placement, optional
        Frame of the load's parameters, relative to the link of the tool; by default the tool.

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
    Map inertial parameters from a frame to its reference frame, (10, 10).

    The pseudo-inertia P of a body becomes ``X P Xᵀ`` with X the homogeneous matrix of the frame
    (Wensing, Kim and Slotine 2018, Linear matrix inequalities for physically consistent inertial
    parameter identification).
    """
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = place.rotation, place.translation
    return np.column_stack([inertial_of(X @ pseudo_inertia(unit) @ X.T)
                            for unit in np.eye(len(INERTIAL))])


def friction_change(arm: ArmModel) -> Array:
    """Differentiate the base parameters with respect to a change of friction, (b, f)."""
    return np.asarray(np.eye(base_parameters(arm).count)[:, friction_places(arm)])


def friction_names(arm: ArmModel) -> list[str]:
    """Return the names of the friction parameters, in the order of `friction_change`."""
    names = base_parameters(arm).names
    return [names[k] for k in friction_places(arm)]
