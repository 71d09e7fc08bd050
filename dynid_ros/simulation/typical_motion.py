"""Torques and speeds of an arm by its links and limits, before any motion is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.execution.tracking_control import random_positions, RigidArm
from dynid_ros.feasibility.planning_limits import planning_limits

Array = NDArray[np.float64]


def known_effort(arm: ArmModel) -> Array:
    """Effort limits (n,), infinite where there is none or one of zero, as URDFs have it."""
    effort = arm.limits.effort
    return np.where(effort > 0, effort, np.inf)


def typical_torque(arm: ArmModel) -> Array:
    """
    Spread of the torque of each joint, (n,), over random positions and accelerations.

    It is the standard deviation; accelerations are within the planning limits. There is no
    velocity, because limits of velocity are often far above what an arm reaches.
    """
    rigid, allowed = RigidArm(arm), planning_limits(arm).acceleration
    # Another seed than that of the positions, so that both are independent.
    rng, rest = np.random.default_rng(1), np.zeros(arm.n)
    tau = [rigid.torque(q, rest, rng.uniform(-allowed, allowed)) for q in random_positions(arm)]
    return np.asarray(np.std(tau, axis=0))


def typical_speed(arm: ArmModel) -> Array:
    """
    Speed of each joint, (n,), that its planning limits allow, rad/s or m/s.

    Where the limit of velocity is above it, the speed after half of the range at the largest
    acceleration.
    """
    allowed = planning_limits(arm)
    reached = np.sqrt(allowed.acceleration * (allowed.upper - allowed.lower))
    return np.asarray(np.minimum(allowed.velocity, reached))
