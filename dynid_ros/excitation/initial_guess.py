"""Random motions that keep all limits, from which a design starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.excitation.design_cost import DesignCost

Array = NDArray[np.float64]

#: Random positions that are tried as the middle of a motion.
TRIES = 500
#: Share of the largest amplitude of each joint with which a design starts.
SHARE = 0.8
#: Least share to which the amplitudes of all joints are cut together, so that nothing is hit.
LEAST = 1e-3
#: Random motions of which the one whose amplitudes need the least cut is taken.
CANDIDATES = 10
#: Share of the room around its middle in which a motion may be centred.
SPREAD = 0.6


def initial_guess(cost: DesignCost, arm: ArmModel, rng: np.random.Generator) -> Array:
    """
    Random coordinates that keep all limits at the samples.

    Parameters
    ----------
    cost : DesignCost
        Limits to keep.
    arm : ArmModel
        The arm, for messages.
    rng : numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    (n, m) ndarray
        Coordinates.

    Raises
    ------
    InputError
        No position keeps all clearances and torques; the message names the obstacle.

    """
    widest, best = 0.0, None
    for _ in range(CANDIDATES):
        center = _free_position(cost, arm, rng)
        shape = rng.normal(size=center.shape)
        shape[:, 0] = 0.0
        scale = np.array([
            SHARE * cost.allowed.reach(center, np.where(own[:, None], shape, 0.0))
            for own in np.eye(arm.n, dtype=bool)])
        move, share = scale[:, None] * shape, 1.0
        while share > max(widest, LEAST) and not cost.feasible(center + share * move):
            share *= 0.8
        if share > max(widest, LEAST):
            widest, best = share, center + share * move
        if widest == 1.0:
            break
    if best is None:
        raise InputError(
            f"'{arm.name}' can hold a position but hardly move within its effort limits and "
            'clearances; widen the limits or move the obstacles')
    return best


def _free_position(cost: DesignCost, arm: ArmModel, rng: np.random.Generator) -> Array:
    """Coordinates of a motion at rest at a collision-free position."""
    allowed = cost.allowed.allowed
    center = np.zeros((arm.n, cost.series.maps.shape[2]))
    for _ in range(TRIES):
        spread = SPREAD * (rng.random(arm.n) - 0.5)
        center[:, 0] = allowed.middle + spread * (allowed.upper - allowed.lower)
        if cost.feasible(center):
            return center
    raise InputError(_obstacle(cost, arm, center[:, 0]))


def _obstacle(cost: DesignCost, arm: ArmModel, q: Array) -> str:
    """Describe why no position is feasible."""
    collision, torque = cost.collision, cost.torque
    if collision is not None:
        distances = collision.scene.distances(q)
        worst = int(distances.argmin())
        clearance = collision.scene.clearance
        if distances[worst] < clearance:
            return (
                f"none of {TRIES} positions of '{arm.name}' keeps {clearance:g} m of clearance: "
                f'{collision.scene.names[worst]} lacks {clearance - distances[worst]:.3g} m at '
                'the last one; check "collision" and "environment" in arm.yaml')
    assert torque is not None
    return (
        f"'{arm.name}' cannot hold any of {TRIES} positions within its effort limits; check its "
        'nominal inertias and limits')
