# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rigid-body parameters of an arm, nominal or identified, with its torque and mass matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import pseudo_inertia
from dynid_ros.dynamics.base import standard_of
from dynid_ros.dynamics.regressor import rigid_torque
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

#: Rounding of the smallest eigenvalue of a pseudo-inertia, relative to the largest one.
EIGENVALUE_ROUNDING = 1e-13


def nominal_parameters(arm: ArmModel) -> Array:
    """
    Nominal standard parameters, zero for an unknown rotor, friction or coupling term.

    Parameters
    ----------
    arm : ArmModel
        The arm, with nominal inertial parameters.

    Returns
    -------
    (p,) ndarray
        In the order of ``arm.layout``.

    Raises
    ------
    ArmError
        The arm has no nominal inertial parameters.

    """
    layout = arm.layout
    theta = np.zeros(layout.size)
    theta[layout.all_inertial()] = _stated(arm).ravel()
    if layout.rotor_inertia and arm.rotor_nominal is not None:
        theta[layout.rotors] = arm.rotor_nominal
    for term in friction_terms(arm.friction):
        theta[layout.friction_columns(term.symbol)] = arm.friction_nominal.get(term.name, 0.0)
    return theta


class IdentifiedParameters(Protocol):
    """Interface of an identified result for the rigid-body functions."""

    @property
    def arm(self) -> ArmModel:
        """Return the arm."""

    @property
    def theta(self) -> Array:
        """Return the base parameters (b,), in the order of ``base_parameters(arm)``."""


@dataclass(frozen=True, eq=False)
class RigidParameters:
    """
    Parameters of the rigid-body dynamics, without friction.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    inertial : (m, 10) ndarray
        Inertial parameters of the links. Those of an identified arm represent its base parameters,
        with dependent ones set to zero: the torque is correct, but single links need not be
        physical.
    rotor : (n, n) ndarray
        Rotor part of the mass matrix: rotor inertia, and the couplings by acceleration.

    """

    arm: ArmModel
    inertial: Array
    rotor: Array

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the drive torque of states (N, n), Nm (N for prismatic joints)."""
        links = rigid_torque(self.arm, self.inertial.ravel(), q, qd, qdd)
        return np.asarray(links + qdd @ self.rotor.T)

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrices (N, n, n): their columns are torques of unit accelerations."""
        n = self.arm.n
        states, units = np.repeat(q, n, axis=0), np.tile(np.eye(n), (len(q), 1))
        links = rigid_torque(
            self.arm, self.inertial.ravel(), states, np.zeros_like(states), units,
            weightless=True)
        return links.reshape(len(q), n, n).swapaxes(1, 2) + self.rotor


def rigid_parameters(model: ArmModel | IdentifiedParameters) -> RigidParameters:
    """
    Collect the rigid-body parameters of an arm or of a result.

    Raises
    ------
    ArmError
        The arm has no nominal inertial parameters.

    """
    if isinstance(model, ArmModel):
        rotor = np.zeros(model.n) if model.rotor_nominal is None else model.rotor_nominal
        return RigidParameters(model, _stated(model), np.diag(rotor))
    arm, layout = model.arm, model.arm.layout
    standard = standard_of(arm, model.theta)
    matrix = np.diag(standard[layout.rotors]) if layout.rotor_inertia else (
        np.zeros((arm.n, arm.n)))
    for value, column in zip(standard[layout.first_coupling:], arm.coupling, strict=True):
        if column.quantity == 'qdd':
            matrix += value * column.matrix
    return RigidParameters(
        arm, standard[layout.all_inertial()].reshape(arm.links, -1), matrix)


def _stated(arm: ArmModel) -> Array:
    if arm.inertial is None:
        raise ArmError(
            f"the arm '{arm.name}' has no nominal inertias; add them to its URDF or arm.yaml, "
            'or use an identified result')
    return arm.inertial


def check_physical(arm: ArmModel) -> None:
    """
    Make sure that an arm can be simulated.

    Raises
    ------
    ArmError
        Nominal inertial parameters of a link are missing or not physical.

    """
    for name, link in zip(arm.tree.link_names, _stated(arm), strict=True):
        if link[0] == 0:
            raise ArmError(
                f"the arm '{arm.name}' cannot be simulated: the link at joint '{name}' has no "
                'mass; state it in the URDF or arm.yaml')
    check_possible(arm)


def check_possible(arm: ArmModel) -> None:
    """
    Make sure that the nominal inertias of an arm, if any, are physical.

    Raises
    ------
    ArmError
        A link is not physical; the message names its joint and the value.

    """
    for name, link in zip(arm.tree.link_names, () if arm.inertial is None else arm.inertial,
                          strict=arm.inertial is not None):
        eigenvalues = np.linalg.eigvalsh(pseudo_inertia(link))
        if link[0] >= 0 and eigenvalues[0] >= -EIGENVALUE_ROUNDING * eigenvalues[-1]:
            continue
        reason = f'its mass is {link[0]:.4g} kg' if link[0] <= 0 else (
            'a principal moment of inertia is negative or above the sum of the others')
        raise ArmError(
            f"no body is like the link at joint '{name}' of the arm '{arm.name}': {reason}; "
            'correct the link in the URDF, or state it under "nominal" in arm.yaml')
