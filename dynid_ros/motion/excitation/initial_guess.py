# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Random motions that keep all limits, from which a design starts."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.deadline import Deadline, OutOfTimeError
from dynid_ros.motion.excitation.design_cost import DesignCost, Hindrance
from dynid_ros.utilities.arrays import Array

#: Most positions tried as the middle of a motion, and most repairs before a new random one.
MIDDLE_POSITIONS = 500
REPAIRS = 50
#: Initial amplitudes of a design, as a share of the largest ones.
START_AMPLITUDE = 0.8
#: Factor of the amplitudes of joints that bring bodies too near, or of all joints.
AMPLITUDE_FACTOR = 0.7
#: Least mean share to which amplitudes are cut to avoid contact.
LEAST_AMPLITUDE = 1e-3
#: Random motions, of which the one with the least cut amplitudes is taken, and the mean share of
#: the amplitudes that ends the trials.
RANDOM_MOTIONS = 10
ENOUGH_AMPLITUDE = 0.95
#: Share of the room around its middle in which a motion is centred, and that after `REPAIRS`.
SPREAD = 0.6
WIDE_AMPLITUDE = 0.95


def initial_guess(
    cost: DesignCost, arm: ArmModel, rng: np.random.Generator, deadline: Deadline,
) -> Array:
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
    deadline : Deadline
        Late in the search, the best motion so far is returned.

    Returns
    -------
    (n, m) ndarray
        Coordinates.

    Raises
    ------
    InputError
        No position keeps all clearances and torques; the message names the obstacle.
    OutOfTimeError
        None was found in time; the message names the violated limit.

    """
    widest, best = 0.0, None
    for _ in range(RANDOM_MOTIONS):
        try:
            center = _free_position(cost, arm, rng, deadline)
            shape = rng.normal(size=center.shape)
            shape[:, 0] = 0.0
            scale = np.array([
                START_AMPLITUDE * cost.allowed.reach(center, np.where(own[:, None], shape, 0.0))
                for own in np.eye(arm.n, dtype=bool)])
            move = scale[:, None] * shape
            share = _free_share(cost, arm, center, move, max(widest, LEAST_AMPLITUDE), deadline)
        except OutOfTimeError:
            if best is None:
                raise
            break
        if share is not None:
            widest, best = float(share.mean()), center + share[:, None] * move
        if widest > ENOUGH_AMPLITUDE or (best is not None and deadline.far_gone):
            break
    if best is None:
        raise InputError(
            f"'{arm.name}' can hold a position but hardly move within its effort limits and "
            'clearances; widen the limits or move the obstacles')
    return best


def _free_share(
    cost: DesignCost, arm: ArmModel, center: Array, move: Array, least: float, deadline: Deadline,
) -> Array | None:
    """Shares (n,) of a move that keep all limits; None if their mean falls to the least."""
    share = np.ones(len(move))
    while share.mean() > least:
        X = center + share[:, None] * move
        hindrance = cost.hindrance(cost.series.states(X))
        if hindrance is None:
            return share
        if deadline.late:
            q = cost.series.states(X)[0, hindrance.sample]
            raise OutOfTimeError(f'in the last motion {_lacking(cost, arm, q, hindrance)}')
        # Repair that sample alone, since all would take a hundred times as long.
        here = slice(hindrance.sample, hindrance.sample + 1)
        while hindrance is not None and share.mean() > least:
            share[hindrance.joints if len(hindrance.pairs) else slice(None)] *= AMPLITUDE_FACTOR
            X = center + share[:, None] * move
            hindrance = cost.hindrance(cost.series.states(X)[:, here])
    return None


def _free_position(
    cost: DesignCost, arm: ArmModel, rng: np.random.Generator, deadline: Deadline,
) -> Array:
    """
    Coordinates of a motion at rest at a position that keeps all clearances and torques.

    After `REPAIRS` random positions, only joints that bring bodies too near are drawn again
    (min-conflicts; Minton et al. 1992), since at a random position one of many pairs always
    touches.
    """
    allowed = cost.allowed.allowed
    center = np.zeros((arm.n, cost.series.maps.shape[2]))
    worst: tuple[float, Array, Hindrance] | None = None
    for k in range(MIDDLE_POSITIONS):
        if k % REPAIRS == 0:
            q, fewest, drawn_again = allowed.middle, np.inf, np.ones(arm.n, dtype=bool)
        spread = (SPREAD if k < REPAIRS else WIDE_AMPLITUDE) * (rng.random(arm.n) - 0.5)
        drawn = allowed.middle + spread * (allowed.upper - allowed.lower)
        trial = np.where(drawn_again, drawn, q)
        rest = np.zeros((1, arm.n))
        found = cost.hindrance(np.stack([trial[None], rest, rest]))
        if found is None:
            center[:, 0] = trial
            return center
        # Torque counts once the bodies are clear.
        conflicts = float(len(found.pairs)) or 0.5
        if conflicts <= fewest:
            # Any other joint may relieve a joint that carries too much.
            q, fewest = trial, conflicts
            repaired = k >= REPAIRS and len(found.pairs) > 0
            drawn_again = found.joints if repaired else np.ones(arm.n, dtype=bool)
        if worst is None or conflicts < worst[0]:
            worst = (conflicts, trial, found)
        if deadline.late:
            raise OutOfTimeError(f'at the best of {k + 1} positions '
                                 f'{_lacking(cost, arm, worst[1], worst[2])}')
    assert worst is not None
    raise InputError(
        f"none of {MIDDLE_POSITIONS} positions of '{arm.name}' keeps its effort limits and "
        f'clearances: at the best one {_lacking(cost, arm, worst[1], worst[2])}; check '
        '"collision" and "environment" in arm.yaml, nominal inertias and limits')


def _lacking(cost: DesignCost, arm: ArmModel, q: Array, hindrance: Hindrance) -> str:
    """Name the most violated limit at a position (n,), and the violation of a clearance."""
    pairs = hindrance.pairs
    if not len(pairs):
        over = [name for name, out in zip(arm.joint_names, hindrance.joints, strict=True) if out]
        return f'the effort limit of {", ".join(over)} is exceeded'
    assert cost.collision is not None
    scene = cost.collision.scene
    lack = (scene.kept - scene.distances(q))[pairs]
    others = f' and of {len(pairs) - 1} other pairs' if len(pairs) > 1 else ''
    return (f'the clearance of {scene.names[pairs[int(np.argmax(lack))]]}{others} lacks '
            f'{max(lack.max(), 0.0):.3g} m')
