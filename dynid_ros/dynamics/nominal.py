"""The nominal parameters of an arm as one vector in the order of the regressor's columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import ArmError

Array = NDArray[np.float64]


def nominal_parameters(arm: ArmModel) -> Array:
    """
    Nominal standard parameters, zero where a rotor, friction or coupling term is not known.

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
    if arm.inertial is None:
        raise ArmError(
            f"the arm '{arm.name}' has no nominal inertias; add them to its URDF or arm.yaml")
    layout = arm.layout
    theta = np.zeros(layout.size)
    theta[layout.all_inertial()] = arm.inertial.ravel()
    for joint in range(arm.n):
        if layout.rotor_inertia and arm.rotor_nominal is not None:
            theta[layout.rotor(joint)] = arm.rotor_nominal[joint]
        for term in friction_terms(arm.friction):
            if term.name in arm.friction_nominal:
                column = layout.friction_column(joint, term.symbol)
                theta[column] = arm.friction_nominal[term.name][joint]
    return theta
