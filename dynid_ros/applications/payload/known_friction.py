"""Friction that a model knows, and how far another recording's may be from it."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import dry_friction, friction_terms
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.base import base_parameters, friction_places, standard_of
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of a friction coefficient from one recording to another: the
#: viscous friction of UR3 and UR5 falls by a fifth while they warm up.
CHANGE = 0.2
OFFSET = 'Fo'
#: Speeds of the slowest motion, rad/s or m/s.
SLOW = np.geomspace(1e-3, 0.1, 41)


def friction_coefficients(model: IdentifiedModel) -> dict[str, Array]:
    """Return the coefficients (n,) of each friction term, zero for joints without it."""
    known = standard_of(model.arm, model.theta)
    return {term.name: known[model.arm.layout.friction_columns(term.symbol)]
            for term in friction_terms(model.arm.friction)}


class KnownFriction:
    """
    Friction coefficients of a model.

    Parameters
    ----------
    model : IdentifiedModel
        The model.

    Attributes
    ----------
    breakaway : (n,) ndarray
        Torque up to which friction may hold a joint at rest, Nm: from the slowest motion.
    spread : (f,) ndarray
        Standard deviation of the coefficients of another recording from the model's, in
        the order of `friction_places`. That of an offset, which may be zero by chance, is no
        less than that of the torque that holds the joint.

    """

    def __init__(self, model: IdentifiedModel) -> None:
        layout, places = model.arm.layout, friction_places(model.arm)
        joint, column = np.divmod(base_parameters(model.arm).columns[places], layout.block)
        first = len(INERTIAL) + int(layout.rotor_inertia)
        symbols = np.array([layout.friction[k] for k in column - first], dtype=str)
        sizes = np.abs(model.theta[places])
        held, shape = friction_coefficients(model), model.arm.friction_shape
        self.breakaway: Array = np.abs(
            dry_friction(held, SLOW, shape)).max(axis=0) if held else np.zeros(model.arm.n)
        least = np.where(symbols == OFFSET, self.breakaway[joint], 0.0)
        self.spread: Array = CHANGE * np.maximum(sizes, least)
