"""Constant arrays of an arm for the kernels, and the motion of all its joints in their order."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.link_tiles import WIDTH
from dynid_ros.dynamics.tiles import TILE
from dynid_ros.utilities.arrays import Array


class Tree(NamedTuple):
    """
    Constant arrays of an arm for the kernels, of all joints, each after its carrier.

    Attributes
    ----------
    parent : (m,) ndarray of int
        Joint that carries each joint, -1 for the base.
    prismatic : (m,) ndarray of bool
        Whether it slides.
    shapes : (m, 36) ndarray
        Placement of each joint, and the factors of ``sin q`` and of ``1 - cos q`` by which
        Rodrigues' formula gives the orientation of its link, 9 numbers each; then its translation,
        the axis in the parent's frame if it slides, else zero, and the axis.
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
    Arrays for the kernels, with Rodrigues' formula expanded once for each joint.

    ``R(q) = P + sin q P K + (1 - cos q) P K²`` with P the placement and K the cross-product
    matrix of the axis.
    """
    order = arm.tree.order
    # The base, -1, stands last.
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
    """Motion (..., m) of all joints, as the kernels number them, by those with drives."""
    if not arm.tree.followers:
        return tuple(np.ascontiguousarray(x, dtype=float) for x in (q, *rates))
    motion = (arm.tree.positions(q), *map(arm.tree.rates, rates))
    return tuple(
        np.ascontiguousarray(x[..., arm.tree.order], dtype=float) for x in motion)


class Pairs(NamedTuple):
    """
    Joints and first columns (pairs,) of the entries that kernels make, as they number them.

    Link by link: for the joint that moves it, and for those that carry this joint, inwards.
    """

    joints: NDArray[np.int64]
    columns: NDArray[np.int64]

    def tiles(self, samples: int) -> Array:
        """Make an array for the entries of some samples, (⌈samples / TILE⌉, pairs, 10 TILE)."""
        return np.empty((-(-samples // TILE), len(self.joints), WIDTH * TILE))


@lru_cache(maxsize=32)
def pairs(arm: ArmModel, block: int = WIDTH) -> Pairs:
    """Find the pairs of an arm, with so many columns a joint."""
    found, parent = [], tree(arm).parent
    for link in range(arm.links):
        joint = link
        while joint >= 0:
            found.append((joint, link * block))
            joint = int(parent[joint])
    return Pairs(*np.array(found, dtype=np.int64).T.copy())
