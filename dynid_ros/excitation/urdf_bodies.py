"""Collision geometry of a URDF, on the links of an arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.urdf import choose_joints, reduced_model
from dynid_ros.arm.urdf_xml import read_urdf_xml
from dynid_ros.errors import ArmError


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
