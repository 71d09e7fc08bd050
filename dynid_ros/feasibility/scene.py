"""Links, capsules, walls and boxes as bodies of a collision library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.joint_choice import choose_joints
from dynid_ros.arm.description.urdf import reduced_model
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import Box, Capsule, Surroundings, Wall
from dynid_ros.errors import ArmError
from dynid_ros.feasibility.planning_limits import planning_limits, PlanningLimits

Array = NDArray[np.float64]

#: Random positions at which bodies that touch nearly everywhere are found.
POSITIONS = 200
#: Share of these positions from which on a pair counts as always touching.
ALWAYS = 0.95
SEED = 1979


def urdf_bodies(arm: ArmModel, path: Path, locked: dict[str, float]) -> list[Any]:
    """
    Read the collision geometry of a URDF as Pinocchio's geometry objects.

    Parameters
    ----------
    arm : ArmModel
        The arm that was read from it.
    path : Path
        The URDF; meshes are sought by their path from its folder and from those above it.
    locked : dict of str to float
        Positions of locked joints, rad or m.

    Returns
    -------
    list of pinocchio.GeometryObject
        On joint i + 1 for joint i of the arm, 0 for the base; empty if the file has none.

    Raises
    ------
    ArmError
        A mesh is missing or unreadable.

    """
    import pinocchio

    text = path.read_text(encoding='utf-8', errors='replace')
    if '<collision' not in text:
        return []
    tree = read_urdf_xml(path)
    _, rest = choose_joints(tree.joints, arm.joint_names, dict(locked), path)
    whole = reduced_model(tree.xml, {}, path)
    folders = [str(folder) for folder in path.resolve().parents]
    try:
        geometry = pinocchio.buildGeomFromUrdf(
            whole, str(path), pinocchio.GeometryType.COLLISION, package_dirs=folders)
    except (ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ArmError(
            f'the collision geometry of {path} cannot be read: {reason}; put the meshes beside '
            'it, or declare capsules under "collision" in arm.yaml') from error
    reference = pinocchio.neutral(whole)
    for name, position in rest.items():
        reference[whole.joints[whole.getJointId(name)].idx_q] = position
    ids = [whole.getJointId(name) for name in rest]
    model = whole
    if ids:
        model, geometry = pinocchio.buildReducedModel(whole, geometry, ids, reference)
    bodies = []
    for body in geometry.geometryObjects:
        joint = model.names[body.parentJoint]
        body.parentJoint = arm.joint_names.index(joint) + 1 if body.parentJoint else 0
        body.parentFrame = 0
        bodies.append(body)
    return bodies


@dataclass(frozen=True, eq=False)
class Scene:
    """
    Bodies and the pairs of them that must not touch; scratch data, so one thread at a time.

    Attributes
    ----------
    model, data : pinocchio.Model and pinocchio.Data
        Kinematics; joint i of the arm is joint i + 1.
    geometry, scratch : pinocchio.GeometryModel and pinocchio.GeometryData
        Bodies and pairs.
    names : tuple of str
        Names of the pairs, P of them.
    ignored : tuple of str
        Pairs of links that touch nearly everywhere and are not checked.
    clearance : float
        Distance to keep, m.
    carries : (P, 2, n) ndarray
        One where a joint carries the first or the second body of a pair, else zero.
    levers : (P, n) ndarray
        Largest relative motion of the bodies of a pair for a unit of each joint: m/rad or m/m.

    """

    model: Any
    data: Any
    geometry: Any
    scratch: Any
    names: tuple[str, ...]
    ignored: tuple[str, ...]
    clearance: float
    carries: Array
    levers: Array

    def distances(self, q: Array) -> Array:
        """Distances (P,) at a position (n,), m; negative where bodies overlap."""
        import pinocchio

        pinocchio.computeDistances(self.model, self.data, self.geometry, self.scratch, q)
        return np.fromiter(
            (r.min_distance for r in self.scratch.distanceResults), float, len(self.names))


def build_scene(arm: ArmModel, around: Surroundings) -> Scene | None:
    """
    Bodies of an arm and of its obstacles, or None where there are none.

    Declared capsules replace the geometry of the URDF. Neighbouring links and pairs of links that
    touch nearly everywhere are not checked.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    around : Surroundings
        From `load_surroundings`.

    Raises
    ------
    ArmError
        The collision geometry of the URDF cannot be read, or there are obstacles but
        the shape of the arm is unknown.

    """
    import pinocchio

    model = _kinematics(arm)
    geometry = pinocchio.GeometryModel()
    bodies = [_capsule(body) for body in around.capsules]
    if not bodies and around.urdf is not None:
        bodies = urdf_bodies(arm, around.urdf, around.locked)
    if not bodies and (around.walls or around.boxes):
        raise ArmError(
            f'{arm.name}: "environment" is given, but the arm has no collision shape; add '
            '"collision" capsules to arm.yaml, or collision geometry to its URDF')
    links = [geometry.addGeometryObject(body) for body in bodies]
    for thing in [_wall(wall) for wall in around.walls] + [_box(box) for box in around.boxes]:
        geometry.addGeometryObject(thing)
    joints = [int(body.parentJoint) - 1 for body in geometry.geometryObjects]
    pairs = [
        (a, b) for a in links for b in range(a + 1, len(joints))
        if not _adjacent(arm, joints[a], joints[b])]
    between_links = np.array([b < len(links) for _, b in pairs], dtype=bool)
    touching = between_links & _always_touching(model, geometry, pairs, planning_limits(arm))
    kept = [pair for pair, always in zip(pairs, touching, strict=True) if not always]
    if not kept:
        return None
    _use_pairs(geometry, kept)
    names = [f'{geometry.geometryObjects[a].name.split("#")[0]} - '
             f'{geometry.geometryObjects[b].name.split("#")[0]}' for a, b in pairs]
    carried = [[_carriers(arm, joints[i]) for i in pair] for pair in kept]
    return Scene(
        model, model.createData(), geometry, geometry.createData(),
        tuple(name for name, always in zip(names, touching, strict=True) if not always),
        tuple(name for name, always in zip(names, touching, strict=True) if always),
        around.clearance, np.array(carried, dtype=float), _levers(arm, geometry, kept))


def _kinematics(arm: ArmModel) -> Any:
    import pinocchio

    model = pinocchio.Model()
    for i in range(arm.n):
        kind = pinocchio.JointModelPrismaticUnaligned if arm.prismatic[i] else (
            pinocchio.JointModelRevoluteUnaligned)
        placement = pinocchio.SE3(arm.rotation[i], arm.translation[i])
        model.addJoint(int(arm.parent[i]) + 1, kind(arm.axis[i]), placement, arm.joint_names[i])
    return model


def _capsule(body: Capsule) -> Any:
    import coal
    import pinocchio

    line = body.end - body.start
    length = float(np.linalg.norm(line))
    up = np.array([0.0, 0.0, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(up, line / length if length > 0 else up)
    placement = pinocchio.SE3(turn.toRotationMatrix(), (body.start + body.end) / 2)
    name = f'{body.name}#{id(body)}'
    return pinocchio.GeometryObject(
        name, body.joint + 1, placement, coal.Capsule(body.radius, length))


def _wall(wall: Wall) -> Any:
    import coal
    import pinocchio

    shape = coal.Halfspace(wall.normal, float(wall.normal @ wall.point))
    return pinocchio.GeometryObject(wall.name, 0, pinocchio.SE3.Identity(), shape)


def _box(box: Box) -> Any:
    import coal
    import pinocchio

    placement = pinocchio.SE3(box.rotation, box.center)
    return pinocchio.GeometryObject(box.name, 0, placement, coal.Box(*box.size))


def _adjacent(arm: ArmModel, a: int, b: int) -> bool:
    """Whether two links are the same or neighbours."""
    return a == b or (a >= 0 and arm.parent[a] == b) or (b >= 0 and arm.parent[b] == a)


def _carriers(arm: ArmModel, joint: int) -> Array:
    carried = np.zeros(arm.n)
    while joint >= 0:
        carried[joint] = 1.0
        joint = int(arm.parent[joint])
    return carried


def _use_pairs(geometry: Any, pairs: list[tuple[int, int]]) -> None:
    import pinocchio

    geometry.removeAllCollisionPairs()
    for a, b in pairs:
        geometry.addCollisionPair(pinocchio.CollisionPair(a, b))


def _always_touching(
    model: Any, geometry: Any, pairs: list[tuple[int, int]], allowed: PlanningLimits,
) -> NDArray[np.bool_]:
    import pinocchio

    _use_pairs(geometry, pairs)
    data, scratch = model.createData(), geometry.createData()
    rng = np.random.default_rng(SEED)
    touching = np.zeros(len(pairs))
    for q in rng.uniform(allowed.lower, allowed.upper, (POSITIONS, len(allowed.lower))):
        pinocchio.computeDistances(model, data, geometry, scratch, q)
        touching += [r.min_distance <= 0 for r in scratch.distanceResults]
    return np.asarray(touching >= ALWAYS * POSITIONS)


def _levers(arm: ArmModel, geometry: Any, pairs: list[tuple[int, int]]) -> Array:
    """Bounds (P, n) from the lengths of links, over all positions within the limits."""
    allowed = planning_limits(arm)
    travel = np.where(arm.prismatic, np.maximum(np.abs(allowed.lower), np.abs(allowed.upper)), 0.0)
    lengths = np.linalg.norm(arm.translation, axis=1) + travel
    reach = np.zeros((len(geometry.geometryObjects), arm.n))
    for i, body in enumerate(geometry.geometryObjects):
        joint = int(body.parentJoint) - 1
        if joint < 0:
            continue
        body.geometry.computeLocalAABB()
        extent = body.geometry.aabb_radius + float(
            np.linalg.norm(body.placement.act(body.geometry.aabb_center)))
        while joint >= 0:
            extent += travel[joint]
            reach[i, joint] = 1.0 if arm.prismatic[joint] else extent
            extent += lengths[joint] - travel[joint]
            joint = int(arm.parent[joint])
    levers = np.zeros((len(pairs), arm.n))
    for k, (a, b) in enumerate(pairs):
        # A joint that carries both bodies moves them together.
        levers[k] = np.where((reach[a] > 0) != (reach[b] > 0), reach[a] + reach[b], 0.0)
    return levers
