# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Links, capsules, walls and boxes as bodies of a collision library."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.bodies import path_to
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import Box, Surroundings, Wall
from dynid_ros.errors import ArmError
from dynid_ros.motion.feasibility.clearance_pairs import choose_pairs
from dynid_ros.motion.feasibility.link_shapes import Body, capsule_body, urdf_bodies
from dynid_ros.motion.feasibility.pair_distances import PairDistances
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.arrays import Array

#: Width of the barrier of the clearance, m; for smaller bodies it is their length, since all
#: fingers of a hand are nearer to each other.
CLEARANCE_WIDTH_M = 0.1
#: Points at which a straight way from rest to rest is checked.
WAY_POINTS = 60


class Scene:
    """
    Bodies of an arm and of its obstacles, and the pairs of them that must not touch.

    Declared capsules replace the geometry of the URDF, and convex hulls its meshes.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    around : Surroundings
        From `load_surroundings`.

    Attributes
    ----------
    between : PairDistances
        Distances of the pairs, P of them.
    names : tuple of str
        Names of the pairs.
    ignored : tuple of str
        Pairs of links that touch nearly everywhere and are not checked.
    clearance : float
        Distance to keep, m.
    kept : (P,) ndarray
        The distance that each pair keeps, less where links are never so far apart, m.
    width : (P,) ndarray
        Width of the barrier beyond that distance, m.
    carries : (P, 2, m) ndarray
        One where a joint carries the first or the second body of a pair, else zero.
    levers : (P, n) ndarray
        Largest relative motion of the bodies of a pair for a unit of each joint: m/rad or m/m.
    gaps : dict of str to float
        Largest distance of the convex hulls of each mesh from it, m.
    notes : tuple of str
        Lines on meshes that are missing and what replaces them.

    Raises
    ------
    ArmError
        There are obstacles but the shape of the arm is unknown.

    """

    def __init__(self, arm: ArmModel, around: Surroundings) -> None:
        links = [capsule_body(capsule) for capsule in around.capsules]
        self.notes: tuple[str, ...] = ()
        if not links and around.urdf is not None:
            links, self.notes = urdf_bodies(arm, around.urdf, around.locked)
        if not links and (around.walls or around.boxes):
            raise ArmError(
                f'{arm.name}: "environment" is given, but the arm has no collision shape; add '
                '"collision" capsules to arm.yaml, or collision geometry to its URDF')
        obstacles = [_wall(wall) for wall in around.walls] + [_box(box) for box in around.boxes]
        # Declared capsules can be shaped to leave room for the clearance.
        pairs, self.names, self.kept, self.ignored, self.gaps = choose_pairs(
            arm, links, obstacles, around.clearance, strict=bool(around.capsules))
        self.clearance = around.clearance
        self.between = PairDistances(arm, pairs)
        joints, lengths = np.arange(arm.links), np.array([
            np.inf if capsule is None else capsule.length for capsule in self.between.capsules])
        self.width = np.minimum(CLEARANCE_WIDTH_M, lengths[self.between.pairs].min(axis=1))
        self.carries = np.array(
            [[np.isin(joints, path_to(arm, body.joint)) for body in pair] for pair in pairs],
            dtype=float)
        self.levers = _levers(arm, self.between)

    def distances(self, q: Array) -> Array:
        """Distances (P,) at a position (n,), m; negative where bodies overlap."""
        return np.asarray(self.between.distances(q[None], np.inf)[0])

    def nearest(self, begin: Array, end: Array) -> Array:
        """Least distances (P,) on the straight way between two positions (n,), m."""
        ways = begin + np.linspace(0, 1, WAY_POINTS)[:, None] * (end - begin)
        return np.asarray(np.min([self.distances(q) for q in ways], axis=0))


def build_scene(arm: ArmModel, around: Surroundings) -> Scene | None:
    """Make the scene of an arm, or None where no bodies can touch."""
    scene = Scene(arm, around)
    return scene if scene.names else None


def _wall(wall: Wall) -> Body:
    import coal
    import pinocchio

    shape = coal.Halfspace(wall.normal, float(wall.normal @ wall.point))
    return Body(wall.name, -1, pinocchio.SE3.Identity(), shape)


def _box(box: Box) -> Body:
    import coal
    import pinocchio

    return Body(box.name, -1, pinocchio.SE3(box.rotation, box.center), coal.Box(*box.size))


def _levers(arm: ArmModel, between: PairDistances) -> Array:
    """Bounds (P, n) from the lengths of links, over all positions within the limits."""
    allowed = planning_limits(arm)
    travel = arm.tree.travel(allowed.lower, allowed.upper)
    lengths = np.linalg.norm(arm.translation, axis=1) + travel
    reach = np.zeros((len(between.bodies), arm.links))
    for i, (body, capsule) in enumerate(zip(between.bodies, between.capsules, strict=True)):
        if capsule is None:
            continue
        extent = capsule.extent
        for joint in reversed(path_to(arm, body.joint)):
            extent += travel[joint]
            reach[i, joint] = 1.0 if arm.tree.prismatic[joint] else extent
            extent += lengths[joint] - travel[joint]
    first, second = reach[between.pairs[:, 0]], reach[between.pairs[:, 1]]
    # A joint that carries both bodies moves them together.
    apart = np.where((first > 0) != (second > 0), first + second, 0.0)
    return np.asarray(apart @ np.abs(arm.tree.gearing))
