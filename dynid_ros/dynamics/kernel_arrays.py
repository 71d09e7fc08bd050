# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Constant arrays of an arm for the kernels, and the motion of all joints in kernel order."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.link_tiles import LINK_WIDTH
from dynid_ros.dynamics.tiles import TILE
from dynid_ros.utilities.arrays import Array


class Tree(NamedTuple):
    """
    Constant arrays of an arm for the kernels; parents come before children.

    Attributes
    ----------
    parent : (m,) ndarray of int
        Parent of each joint, -1 for the base.
    prismatic : (m,) ndarray of bool
        Whether each joint is prismatic.
    shapes : (m, 36) ndarray
        Orientation of the joint's placement, and the factors of ``sin q`` and ``1 - cos q`` in
        Rodrigues' formula for the orientation of its link, 9 numbers each. Then the translation of
        the placement, the axis of a prismatic joint in the parent's frame (else zero), the axis.
    gravity : (3,) ndarray
        m/s².

    """

    parent: NDArray[np.int64]
    prismatic: NDArray[np.bool_]
    shapes: Array
    gravity: Array


@lru_cache(maxsize=32)
def tree(arm: ArmModel) -> Tree:
    """
    Make the arrays for the kernels, with Rodrigues' formula expanded once for each joint.

    ``R(q) = P + sin q P K + (1 - cos q) P K²`` with P the placement and K the cross-product
    matrix of the axis.
    """
    order = arm.tree.order
    # Index -1, the base, is last.
    place = np.append(np.argsort(order), -1)
    axis, P, prismatic = arm.axis[order], arm.rotation[order], arm.tree.prismatic[order]
    K = np.cross(np.eye(3), axis[:, None, :])
    turns = np.stack([P, P @ K, P @ K @ K], axis=1).reshape(arm.links, 27)
    slide = np.where(prismatic[:, None], np.einsum('jab,jb->ja', P, axis), 0.0)
    return Tree(
        np.ascontiguousarray(place[arm.parent[order]], dtype=np.int64),
        np.ascontiguousarray(prismatic, dtype=np.bool_),
        np.hstack([turns, arm.translation[order], slide, axis]),
        np.ascontiguousarray(arm.gravity, dtype=float),
    )


def all_joints(arm: ArmModel, q: Array, *rates: Array) -> tuple[Array, ...]:
    """Motion (..., m) of all joints in kernel order, given that of the driven joints."""
    if not arm.tree.followers:
        return tuple(np.ascontiguousarray(x, dtype=float) for x in (q, *rates))
    motion = (arm.tree.positions(q), *map(arm.tree.rates, rates))
    return tuple(
        np.ascontiguousarray(x[..., arm.tree.order], dtype=float) for x in motion)


class Pairs(NamedTuple):
    """
    Joints and first columns (pairs,) of the entries that kernels compute, in kernel order.

    For each link: the joint that moves it, then the ancestors of this joint towards the base.
    """

    joints: NDArray[np.int64]
    columns: NDArray[np.int64]

    def tiles(self, samples: int) -> Array:
        """Allocate an array for the entries of samples, (⌈samples / TILE⌉, pairs, 10 TILE)."""
        return np.empty((-(-samples // TILE), len(self.joints), LINK_WIDTH * TILE))


@lru_cache(maxsize=32)
def pairs(arm: ArmModel, block: int = LINK_WIDTH) -> Pairs:
    """List the pairs of an arm, given the number of columns for each joint."""
    entries, parent = [], tree(arm).parent
    for link in range(arm.links):
        joint = link
        while joint >= 0:
            entries.append((joint, link * block))
            joint = int(parent[joint])
    return Pairs(*np.array(entries, dtype=np.int64).T.copy())
