"""Friction that a model knows, and how far another recording's may be from it."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import dry_friction, friction_terms
from dynid_ros.dynamics.base import base_parameters, friction_places, standard_of
from dynid_ros.estimation.calibration.loaded_rows import friction_names
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


def breakaway(model: IdentifiedModel) -> Array:
    """Torque (n,) up to which friction may hold a joint at rest, Nm: from the slowest motion."""
    held = friction_coefficients(model)
    if not held:
        return np.zeros(model.arm.n)
    slow = np.abs(dry_friction(held, SLOW, model.arm.friction_shape))
    return np.asarray(slow.max(axis=0))


def friction_spread(model: IdentifiedModel) -> Array:
    """
    Return how far the friction of another recording may be from a model's.

    Returns
    -------
    (f,) ndarray
        Standard deviations of the coefficients, in the order of `friction_places`. An
        offset, which may be zero by chance, has no less than the torque that holds the
        joint.

    """
    places = friction_places(model.arm)
    joint = base_parameters(model.arm).columns[places] // model.arm.layout.block
    offset = [name.startswith(OFFSET) for name in friction_names(model.arm)]
    least = np.where(offset, breakaway(model)[joint], 0.0)
    return np.asarray(CHANGE * np.maximum(np.abs(model.theta[places]), least))
