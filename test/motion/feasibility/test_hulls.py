# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convex hulls contain their meshes, and their distances are lower bounds of the exact ones."""

from itertools import pairwise

import coal
import numpy as np
from oracles import link_poses, random_arm
import pinocchio
import pytest
from real_urdfs import robot

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.motion.feasibility.bounding_capsule import BoundingCapsule
from dynid_ros.motion.feasibility.clearance_pairs import choose_pairs
from dynid_ros.motion.feasibility.convex_hull import convex_hull, convex_pieces, hull_gap
from dynid_ros.motion.feasibility.link_shapes import Body, urdf_bodies
from dynid_ros.motion.feasibility.pair_distances import PairDistances
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.feasibility.scene import build_scene


def mesh_of(vertices, triangles):
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(triangles), len(vertices))
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(np.asarray(vertices, dtype=float)))
    faces.extend([coal.Triangle(*map(int, face)) for face in triangles])
    mesh.addSubModel(points, faces)
    mesh.endModel()
    return mesh


def ring(radius=0.1, thickness=0.02, around=24):
    """Torus of square section about z."""
    angles = np.linspace(0, 2 * np.pi, around, endpoint=False)
    section = thickness * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    vertices = [[(radius + r) * np.cos(a), (radius + r) * np.sin(a), z]
                for a in angles for r, z in section]
    triangles = []
    for i, k in pairwise([*range(around), 0]):
        for j in range(4):
            a, b = 4 * i + j, 4 * i + (j + 1) % 4
            c, d = 4 * k + j, 4 * k + (j + 1) % 4
            triangles += [[a, b, c], [b, d, c]]
    return mesh_of(vertices, triangles)


def cone(around=400):
    """Cone whose tip has more neighbours than coal counts."""
    angles = np.linspace(0, 2 * np.pi, around, endpoint=False)
    vertices = [*np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]), [0, 0, 1]]
    return mesh_of(vertices, [[i, k, around] for i, k in pairwise([*range(around), 0])])


def blob(seed):
    """Random triangles, which are no surface at all."""
    rng = np.random.default_rng(seed)
    return mesh_of(rng.normal(size=(60, 3)) * [0.3, 0.1, 0.05], rng.integers(0, 60, (90, 3)))


def depth_outside(hull, points):
    """How far points lie outside a hull, by its own planes; at most zero inside."""
    return (points @ np.array(hull.normals()).T + np.array(hull.offsets())).max(axis=1)


def surface_points(mesh, count=400):
    rng = np.random.default_rng(0)
    vertices = np.array(mesh.vertices())
    faces = [mesh.tri_indices(i) for i in range(mesh.num_tris)]
    corners = vertices[[[f[0], f[1], f[2]] for f in faces]]
    weights = rng.dirichlet(np.ones(3), count)
    return np.einsum('kc,kcx->kx', weights, corners[rng.integers(0, len(corners), count)])


@pytest.mark.parametrize(
    'mesh', [ring(), cone(), blob(0), blob(1)], ids=['ring', 'cone', 'blob', 'blob 2'])
def test_a_hull_contains_its_mesh_and_so_do_its_pieces_together(mesh):
    points = surface_points(mesh)
    assert depth_outside(convex_hull(mesh), points).max() < 1e-9
    pieces = convex_pieces(mesh, 8)
    assert len(pieces) == 8
    assert np.min([depth_outside(piece, points) for piece in pieces], axis=0).max() < 1e-9


def test_the_gap_of_a_ring_is_its_hole_and_pieces_leave_less():
    mesh = ring()
    gap = hull_gap(mesh, [convex_hull(mesh)])
    # The middle of its cap, cut into triangles, lies off the axis by a part of the radius.
    assert 0.03 < gap <= 0.09
    assert hull_gap(mesh, convex_pieces(mesh, 8)) < gap


def test_flat_meshes_have_a_thin_hull():
    flat = mesh_of([[0, 0, 0], [1, 0, 0.5], [0, 1, 0], [1, 1, 0.5]], [[0, 1, 2], [1, 3, 2]])
    hull = convex_hull(flat)
    assert depth_outside(hull, surface_points(flat)).max() < 0
    assert hull.computeVolume() < 1e-3


@pytest.mark.parametrize('shape', [
    coal.Box(0.1, 0.2, 0.3), coal.Cylinder(0.1, 0.5), coal.Sphere(0.2), coal.Capsule(0.1, 0.3),
    coal.Cone(0.1, 0.2), coal.Ellipsoid(0.1, 0.2, 0.3), ring(), convex_hull(blob(3))],
    ids=lambda shape: type(shape).__name__)
def test_capsules_around_shapes_are_never_farther_than_the_shapes(shape):
    rng = np.random.default_rng(2)
    placement = pinocchio.SE3.Random()
    capsule = BoundingCapsule(shape, placement)
    for _ in range(100):
        direction = rng.normal(size=3)
        point = placement.translation + rng.uniform(0, 1) * direction / np.linalg.norm(direction)
        line = capsule.end - capsule.start
        along = (point - capsule.start) @ line / max(line @ line, 1e-30)
        nearest = capsule.start + np.clip(along, 0, 1) * line
        result = coal.DistanceResult()
        exact = coal.distance(
            shape, coal.Transform3s(placement.rotation, placement.translation),
            coal.Sphere(1e-6), coal.Transform3s(np.eye(3), point), coal.DistanceRequest(), result)
        # Inside of a mesh its distance is that from its surface.
        assert np.linalg.norm(point - nearest) - capsule.radius <= max(exact, 0) + 1e-5


def test_bounds_of_capsules_agree_with_the_library():
    rng = np.random.default_rng(4)
    arm = random_arm(rng, 4)
    bodies = [
        Body(str(j), j, pinocchio.SE3.Random(), coal.Capsule(*rng.uniform(0.01, 0.2, 2)))
        for j in range(4)]
    # Points, and lines that are parallel to each other, are the special cases.
    bodies += [Body('point', -1, pinocchio.SE3.Random(), coal.Sphere(0.1)),
               Body('same', 3, bodies[3].placement * pinocchio.SE3(
                   np.eye(3), np.array([0.5, 0, 0])), coal.Capsule(0.05, 0.4))]
    pairs = [(bodies[a], bodies[b]) for b in range(6) for a in range(b)]
    between = PairDistances(arm, pairs)
    q = rng.uniform(-3, 3, (50, 4))
    for row, bounds in zip(q, between.lower_bounds(q), strict=True):
        places = [*link_poses(arm, row), pinocchio.SE3.Identity()]
        exact = np.array([coal.distance(*(
            x for body in pair for x in (body.shape, coal.Transform3s(*(
                (places[body.joint] * body.placement).rotation,
                (places[body.joint] * body.placement).translation)))),
            coal.DistanceRequest(), coal.DistanceResult()) for pair in pairs])
        apart = exact > 0
        np.testing.assert_allclose(bounds[apart], exact[apart], atol=1e-5)


@pytest.mark.parametrize(('radius', 'meshes'), [(0.01, 0), (0.086, 1)])
def test_a_shaft_in_a_ring_is_free_although_the_hull_of_the_ring_holds_it(
    tmp_path, radius, meshes,
):
    (tmp_path / 'ring.obj').write_text(obj(ring()))
    path = tmp_path / 'a.urdf'
    path.write_text(SHAFT.format(radius=radius))
    arm = load_arm(path)
    scene = build_scene(arm, load_surroundings(path, arm))
    assert scene.ignored == ()
    assert set(scene.names) == {'foot_0 - shaft_0'}
    # Four hulls leave half of the hole, but not to a shaft that nearly fills it.
    assert (~scene.between.convex).sum() == meshes
    exact = 0.09 * np.cos(np.pi / 24) - radius
    own = scene.distances(np.zeros(2)).min()
    assert exact - (0 if meshes else 0.04) - 1e-5 <= own <= exact + 1e-5


def obj(mesh):
    lines = ['v {} {} {}'.format(*point) for point in np.array(mesh.vertices())]
    faces = (mesh.tri_indices(i) for i in range(mesh.num_tris))
    lines += [f'f {f[0] + 1} {f[1] + 1} {f[2] + 1}' for f in faces]
    return '\n'.join(lines) + '\n'


SHAFT = """
<robot name="a">
  <link name="foot"><collision><geometry><mesh filename="ring.obj"/></geometry></collision></link>
  <link name="one"/>
  <link name="shaft"><collision><geometry><cylinder radius="{radius}" length="0.2"/></geometry>
    </collision></link>
  <joint name="j1" type="revolute"><parent link="foot"/><child link="one"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
  <joint name="j2" type="revolute"><parent link="one"/><child link="shaft"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
</robot>"""


def test_links_that_are_never_far_apart_keep_a_part_of_their_distance():
    arm = random_arm(np.random.default_rng(1), 3, prismatic=False, branched=False)
    far = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 9.0]))
    links = [Body('a', -1, far, coal.Sphere(0.1)), Body('b', 2, far, coal.Sphere(0.1))]
    assert 0 < choose_pairs(arm, links, [], 100.0, strict=False)[2][0] < 20
    assert choose_pairs(arm, links, [], 100.0, strict=True)[2].tolist() == [100.0]


@pytest.mark.parametrize('inner', ['ur_description/urdf/ur5_robot.urdf',
                                   'talos_data/robots/talos_left_arm.urdf'])
def test_hulls_of_real_arms_are_never_farther_apart_than_their_meshes(inner):
    path = robot(inner)
    arm = load_arm(path)
    scene = build_scene(arm, load_surroundings(path, arm))
    allowed = planning_limits(arm)
    q = np.random.default_rng(0).uniform(allowed.lower, allowed.upper, (15, arm.n))
    bodies, _ = urdf_bodies(arm, path, {})
    named, names = {body.name: body for body in bodies}, sorted(set(scene.names))
    pairs = [tuple(named[body] for body in name.split(' - ')) for name in names]
    exact = PairDistances(arm, pairs).distances(q, np.inf)
    hulls = scene.between.distances(q, np.inf)
    for k, name in enumerate(names):
        own = hulls[:, [i for i, other in enumerate(scene.names) if other == name]].min(axis=1)
        # The library stops within 1e-6 of a distance.
        assert (own <= np.maximum(exact[:, k], 0) + 1e-5).all()
