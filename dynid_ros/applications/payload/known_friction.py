# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of a model, and how far that of another recording may differ."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import dry_friction, friction_terms, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, friction_places, standard_of
from dynid_ros.dynamics.load_columns import friction_names
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of a friction coefficient from one recording to another: the
#: viscous friction of UR3 and UR5 falls by a fifth while they warm up.
CHANGE = 0.2
OFFSET = 'offset'
#: Speeds of the slowest motion, rad/s or m/s.
SLOW_SPEEDS = np.geomspace(1e-3, 0.1, 41)


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
    slow = np.abs(dry_friction(held, SLOW_SPEEDS, model.arm.friction_shape))
    return np.asarray(slow.max(axis=0))


def with_offsets(arm: ArmModel) -> ArmModel:
    """Return an arm with torque offsets, which differ between recordings."""
    return arm if OFFSET in arm.friction else arm.with_friction((*arm.friction, OFFSET))


def friction_spread(model: IdentifiedModel, arm: ArmModel) -> Array:
    """
    Return how far the friction of another recording may be from a model's, (f,).

    These are standard deviations in the order of ``friction_names(arm)``, which may have other
    terms. That of an offset, which may be zero by chance, is at least a share of the torque that
    holds the joint, and at least the residual, which may hide it.
    """
    known = dict(zip(base_parameters(model.arm).names, model.theta.tolist(), strict=True))
    size = np.abs([known.get(name, 0.0) for name in friction_names(arm)])
    columns = base_parameters(arm).columns[friction_places(arm)]
    offset = np.isin(columns, arm.layout.friction_columns(TERMS[OFFSET].symbol))
    least = np.maximum(CHANGE * breakaway(model), model.sigma)[columns // arm.layout.block]
    return np.asarray(np.maximum(CHANGE * size, np.where(offset, least, 0.0)))
