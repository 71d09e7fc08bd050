# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated arms that differ from what their descriptions state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com


def other_links(arm: ArmModel, rng: np.random.Generator) -> ArmModel:
    """Return an arm whose links, rotors and friction are not those that it states."""
    assert arm.inertial is not None
    links = []
    for link in arm.inertial:
        mass, center, inertia = inertial_to_com(link)
        factor = np.exp(0.5 * rng.normal(size=2))
        shift = 0.1 * np.sqrt(np.trace(inertia) / mass) * rng.normal(size=3)
        links.append(inertial_from_com(
            factor[0] * mass, center + shift, factor[0] * factor[1] * inertia))
    rotor = None if arm.rotor_nominal is None else (
        arm.rotor_nominal * np.exp(0.5 * rng.normal(size=arm.n)))
    friction = {name: value * np.exp(0.5 * rng.normal(size=arm.n))
                for name, value in arm.friction_nominal.items()}
    return replace(arm, inertial=np.array(links), rotor_nominal=rotor, friction_nominal=friction)
