# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nearest points of pairs of bodies, against the collision library."""

import coal
import numpy as np
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import Box, Capsule, Surroundings, Wall
from dynid_ros.motion.feasibility.scene import build_scene

#: Distance that bodies of the test keep at most, m.
FAR = 10.0


@pytest.fixture(scope='module')
def scene():
    """Capsules of an arm, one of them a sphere, a slanted wall and a box."""
    rng = np.random.default_rng(3)
    arm = load_arm('panda')
    capsules = tuple(
        Capsule(name, joint, start, start + (joint != 2) * rng.normal(0.0, 0.1, 3), 0.02)
        for joint, (name, start) in enumerate(zip(
            arm.joint_names, rng.normal(0.0, 0.05, (arm.n, 3)), strict=True)))
    slanted = np.array([0.6, 0.0, 0.8])
    return arm, build_scene(arm, Surroundings(
        capsules, (Wall('wall', -slanted, slanted),),
        (Box('box', np.array([1.0, 0.4, 0.3]), np.full(3, 0.3), np.eye(3)),)))


def test_nearest_points_and_normals_are_those_of_the_library(scene):
    arm, between = scene[0], scene[1].between
    assert between.exact.any() and not between.exact.all()
    limits = arm.motion_limits
    q = np.random.default_rng(4).uniform(limits.lower, limits.upper, (40, arm.n))
    count = len(between.pairs)
    near = between.near(q, np.full(count, FAR), np.full(count, -np.inf))
    assert len(near.pairs) == 40 * count
    rotation, origin = between._poses(q)
    for sample, pair, normal, points in zip(
            near.samples, near.pairs, near.normals, near.points, strict=True):
        placed = [coal.Transform3s(
            rotation[sample, b] @ between.bodies[b].placement.rotation,
            origin[sample, b] + rotation[sample, b] @ between.bodies[b].placement.translation)
            for b in between.pairs[pair]]
        found = coal.DistanceResult()
        first, second = (between.bodies[b].shape for b in between.pairs[pair])
        coal.distance(first, placed[0], second, placed[1], coal.DistanceRequest(), found)
        assert near.distances[sample, pair] == pytest.approx(found.min_distance, abs=1e-5)
        # Of bodies that overlap, the library and the lines of capsules differ in the direction.
        if found.min_distance > 1e-3:
            np.testing.assert_allclose(normal, found.normal, atol=1e-3)
            np.testing.assert_allclose(points[0], found.getNearestPoint1(), atol=1e-4)
            np.testing.assert_allclose(points[1], found.getNearestPoint2(), atol=1e-4)


def test_near_pairs_end_where_one_is_at_its_floor(scene):
    arm, between = scene[0], scene[1].between
    q = np.zeros((1, arm.n))
    distances = between.distances(q, np.inf)[0]
    horizon = np.full(len(distances), np.inf)
    for pair in range(len(distances)):
        floor = np.where(np.arange(len(distances)) == pair, distances, -np.inf)
        assert between.near(q, horizon, floor + 1e-4) is None
        assert between.near(q, horizon, floor - 1e-4) is not None
