# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
MJCF as a URDF: MuJoCo compiles it, and its bodies, joints and geoms are written as URDF elements.

A body with several joints becomes a chain of links without inertia. A link has the frame of
the body, moved to the anchor of its last joint (MuJoCo's documentation, Computation, Kinematics).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from dynid_ros.arm.description.urdf_elements import (
    add_collision,
    add_cylinder,
    add_inertial,
    add_joint,
    DOUBT,
    numbers,
    WORLD,
)
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array


def mjcf_as_urdf(path: Path) -> Element:
    """
    Write the kinematic tree of an MJCF as the root element of a URDF.

    Free bodies are fixed in place. A mesh is written as the box around it, and a capsule as a
    cylinder with two spheres.

    Raises
    ------
    ArmError
        MuJoCo cannot compile the file, or a joint is a ball joint.

    """
    model, doubts = compiled(path)
    root = ElementTree.Element('robot', name=path.stem, source='mjcf')
    for doubt in doubts:
        ElementTree.SubElement(root, DOUBT).text = doubt
    ElementTree.SubElement(root, 'link', name=WORLD)
    shifts = np.zeros((model.nbody, 3))
    for body in range(1, model.nbody):
        shifts[body] = _write_body(root, model, body, shifts[model.body_parentid[body]], path)
    _write_mimics(root, model)
    return root


def compiled(path: Path) -> tuple[Any, list[str]]:
    """
    Compile an MJCF, without meshes and textures whose files are missing.

    Returns
    -------
    model : mujoco.MjModel
        The model.
    doubts : list of str
        A clause on the missing shapes that count for contact or mass.

    Raises
    ------
    ArmError
        MuJoCo is not installed or refuses the file.

    """
    try:
        import mujoco
    except ImportError:
        raise ArmError(f'{path} is an MJCF, and MuJoCo is not installed; install it '
                       '(pip install mujoco)') from None
    missing: list[str] = []
    try:
        try:
            return mujoco.MjModel.from_xml_path(str(path)), []
        except ValueError:
            spec = mujoco.MjSpec.from_file(str(path))
            missing, counting = _take_out_missing(spec, path)
            doubts = [f'clearance, and inertia that the file does not state, do without the '
                      f'missing {", ".join(counting)}'] if counting else []
            return spec.compile(), doubts
    except ValueError as error:
        reason = ' '.join(str(error).split())
        without = f' without the missing {", ".join(missing)}' if missing else ''
        raise ArmError(f'MuJoCo cannot compile {path}{without}: {reason}') from error


def _take_out_missing(spec: Any, path: Path) -> tuple[list[str], list[str]]:
    """Remove shapes with missing files; name all files, and those that count."""
    import mujoco

    folder = Path(spec.modelfiledir or path.parent)
    lost = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes
            if mesh.file and not (folder / spec.meshdir / mesh.file).is_file()}
    counting = set()
    for geom in list(spec.geoms):
        if geom.meshname in lost:
            weighs = not geom.parent.explicitinertial and geom.mass != 0 and geom.density > 0
            if weighs or geom.contype or geom.conaffinity:
                counting.add(lost[geom.meshname].file)
            spec.delete(geom)
    files = [mesh.file for mesh in lost.values()]
    for mesh in lost.values():
        spec.delete(mesh)
    for texture in spec.textures:
        if texture.file and not (folder / spec.texturedir / texture.file).is_file():
            files.append(texture.file)
            texture.file, texture.builtin = '', mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.width = texture.height = 1
    return files, sorted(counting)


def dissipation(path: Path, joints: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """Armature, damping and friction loss of each joint of an MJCF, (n,) each."""
    model, _ = compiled(path)
    names = {_name(model, 'joint', j): int(model.jnt_dofadr[j]) for j in range(model.njnt)}
    at = [names[name] for name in joints]
    return (np.array(model.dof_armature[at]), np.array(model.dof_damping[at]),
            np.array(model.dof_frictionloss[at]))


def _write_body(root: Element, model: Any, body: int, shift: Array, path: Path) -> Array:
    """Write a body with its joints, and return the origin of its link in the body's frame."""
    import mujoco

    name = _name(model, 'body', body)
    link = _name(model, 'body', int(model.body_parentid[body])) or WORLD
    place, rotation = model.body_pos[body] - shift, _matrix(model.body_quat[body])
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    joints = list(range(first, first + count))
    if any(model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL for j in joints):
        raise ArmError(f'body "{name}" in {path} has a ball joint; replace it by three hinges')
    if any(model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE for j in joints):
        ElementTree.SubElement(root, DOUBT).text = (
            f'the free body "{name}" is fixed where it stands')
        joints = []
    anchor = np.zeros(3)
    for j in joints:
        child = name if j == joints[-1] else f'{name}_before_{_name(model, "joint", j + 1)}'
        place = place + rotation @ (model.jnt_pos[j] - anchor)
        anchor = model.jnt_pos[j]
        _write_joint(root, model, j, (link, child), place, rotation)
        link, place, rotation = child, np.zeros(3), np.eye(3)
        if child != name:
            ElementTree.SubElement(root, 'link', name=child)
    if not joints:
        add_joint(root, f'{name}_fixed', 'fixed', (link, name), place, rotation)
    element = ElementTree.SubElement(root, 'link', name=name)
    _write_inertia(element, model, body, anchor)
    for geom in range(model.ngeom):
        if model.geom_bodyid[geom] == body and (
                model.geom_contype[geom] or model.geom_conaffinity[geom]):
            _write_geom(element, model, geom, anchor)
    return np.array(anchor)


def _write_joint(
    root: Element, model: Any, j: int, links: tuple[str, str], place: Array, rotation: Array,
) -> None:
    import mujoco

    slides = model.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE
    axis, reference = model.jnt_axis[j], float(model.qpos0[model.jnt_qposadr[j]])
    if slides:
        place = place - rotation @ axis * reference
    else:
        turn = np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, axis, -reference)
        rotation = rotation @ _matrix(turn)
    limited = bool(model.jnt_limited[j])
    kind = 'prismatic' if slides else 'revolute' if limited else 'continuous'
    joint = add_joint(root, _name(model, 'joint', j), kind, links, place, rotation)
    ElementTree.SubElement(joint, 'axis', xyz=numbers(axis))
    lower, upper = model.jnt_range[j] if limited else (0.0, 0.0)
    ElementTree.SubElement(
        joint, 'limit', lower=repr(float(lower)), upper=repr(float(upper)), velocity='0',
        effort=repr(_effort(model, j)))


def _effort(model: Any, j: int) -> float:
    """Largest torque of the actuators of a joint; zero where it is unknown."""
    import mujoco

    if model.jnt_actfrclimited[j]:
        return float(np.abs(model.jnt_actfrcrange[j]).max())
    found = 0.0
    for a in range(model.nu):
        at_joint = model.actuator_trntype[a] == mujoco.mjtTrn.mjTRN_JOINT
        if not at_joint or model.actuator_trnid[a, 0] != j:
            continue
        gear = abs(float(model.actuator_gear[a, 0]))
        if model.actuator_forcelimited[a]:
            found += gear * float(np.abs(model.actuator_forcerange[a]).max())
        elif (model.actuator_ctrllimited[a]
              and model.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE):
            gain = abs(float(model.actuator_gainprm[a, 0]))
            found += gear * gain * float(np.abs(model.actuator_ctrlrange[a]).max())
    return found


def _write_inertia(link: Element, model: Any, body: int, anchor: Array) -> None:
    if not model.body_mass[body] > 0:
        return
    add_inertial(link, model.body_ipos[body] - anchor, _matrix(model.body_iquat[body]),
                 model.body_mass[body], np.diag(model.body_inertia[body]))


def _write_geom(link: Element, model: Any, geom: int, anchor: Array) -> None:
    import mujoco

    kinds = mujoco.mjtGeom
    kind, size = kinds(int(model.geom_type[geom])), model.geom_size[geom]
    place, rotation = model.geom_pos[geom] - anchor, _matrix(model.geom_quat[geom])
    if kind in (kinds.mjGEOM_PLANE, kinds.mjGEOM_HFIELD):
        return
    if kind == kinds.mjGEOM_SPHERE:
        add_collision(link, place, rotation, 'sphere', radius=repr(float(size[0])))
    elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
        add_cylinder(link, place, rotation, (size[0], 2 * size[1]),
                     capsule=kind == kinds.mjGEOM_CAPSULE)
    else:
        center, half_size = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        add_collision(
            link, place + rotation @ center, rotation, 'box', size=numbers(2 * half_size))


def _write_mimics(root: Element, model: Any) -> None:
    """Write equalities of two joints, linear ones, as joints that mimic others."""
    import mujoco

    joints = {joint.get('name'): joint for joint in root.iter('joint')}
    for e in range(model.neq):
        leader = int(model.eq_obj2id[e])
        if model.eq_type[e] != mujoco.mjtEq.mjEQ_JOINT or leader < 0:
            continue
        follower = joints[_name(model, 'joint', int(model.eq_obj1id[e]))]
        offset, multiplier = (repr(float(value)) for value in model.eq_data[e, :2])
        ElementTree.SubElement(follower, 'mimic', joint=_name(model, 'joint', leader),
                               multiplier=multiplier, offset=offset)


def _matrix(quaternion: Array) -> Array:
    import mujoco

    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)


def _name(model: Any, kind: str, index: int) -> str:
    """Name of a body or a joint; its number where it has none."""
    found: str = getattr(model, kind)(index).name
    return found or (WORLD if kind == 'body' and index == 0 else f'{kind}_{index}')
