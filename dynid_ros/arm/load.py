# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arms by name or by path: ``arm.yaml`` with its description, or a URDF alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import warnings

import numpy as np

from dynid_ros.arm.description.dh import read_dh
from dynid_ros.arm.description.doubtful_limits import plausible_limits
from dynid_ros.arm.description.joint_choice import free_joints, guess_arm
from dynid_ros.arm.description.schema import near, read_yaml, Section
from dynid_ros.arm.description.tree import Description, JointLimits, Tool
from dynid_ros.arm.description.urdf import describe, read_urdf
from dynid_ros.arm.description.urdf_source import DESCRIPTION_SUFFIXES
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.geometry import read_placement, read_tolerances, read_tool
from dynid_ros.arm.link_bounds import read_link_bounds
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, nearest_possible
from dynid_ros.arm.settings import (
    read_conditioning,
    read_coupling,
    read_drive,
    read_friction,
    read_limits,
    read_nominal,
    read_table,
)
from dynid_ros.arm.shipped import shipped_files
from dynid_ros.errors import ArmError, ArmWarning
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import as_path
from dynid_ros.utilities.text import counted

ARM_KEYS = (
    'name', 'description', 'joints', 'locked', 'gravity', 'drive', 'friction', 'friction_shape',
    'rotor_inertia', 'limits', 'conditioning', 'aliases', 'coupling', 'table', 'nominal',
    'base', 'mounting', 'tool', 'tolerances', 'collision', 'environment', 'links', 'known')
#: Change of a moment of inertia, relative to the largest of its link, due to rounding in published
#: descriptions.
ROUNDED = 0.01
_GRAVITY = (0.0, 0.0, -9.81)
_DESCRIPTIONS = ('urdf', 'mdh', 'dh')


def load_arm(name_or_path: str | Path) -> ArmModel:
    """
    Read an arm.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a shipped arm, an ``arm.yaml`` or the folder that holds one, or a URDF, xacro
        file, MJCF or SDF. Of these the arm is guessed (see `guess_arm`) with the default
        settings. A shipped name takes precedence over a folder of the same name; write ``./name``
        for the folder.

    Returns
    -------
    ArmModel
        The arm.

    Raises
    ------
    ArmError
        There is no such arm, or its files are unusable; the message names file and key.

    Warns
    -----
    ArmWarning
        The description is incomplete or implausible, and an arm.yaml does not list that under
        ``known``; for other files, joints are left out, too.

    """
    path = arm_file(name_or_path)
    arm, doubts = arm_and_doubts(path)
    if doubts and is_robot_file(path):
        warnings.warn(f'{path}: {"; ".join(doubts)}. To change that, run "dynid init" on it and '
                      'edit the arm.yaml that it writes', ArmWarning, stacklevel=2)
    elif doubts:
        warnings.warn(f'{path}: {"; ".join(doubts)}', ArmWarning, stacklevel=2)
    return arm


def arm_and_doubts(path: Path) -> tuple[ArmModel, tuple[str, ...]]:
    """Read an arm from its file, and the clauses that `load_arm` warns of."""
    return _from_urdf(path) if is_robot_file(path) else _from_yaml(path)


def is_robot_file(path: Path) -> bool:
    """Whether a file describes a robot itself, rather than being an arm.yaml."""
    return path.suffix.lower() in DESCRIPTION_SUFFIXES


def arm_file(name_or_path: str | Path) -> Path:
    """
    Find the file that describes an arm; see `load_arm`.

    Raises
    ------
    ArmError
        There is no such arm or file.

    """
    shipped, path = shipped_files(), as_path('name_or_path', name_or_path)
    if str(name_or_path) in shipped:
        return shipped[str(name_or_path)]
    if path.is_dir():
        path = path / 'arm.yaml'
        if not path.is_file():
            raise ArmError(f'the folder {path.parent} holds no arm.yaml')
    if not path.is_file():
        raise ArmError(f'there is no arm or file "{name_or_path}"; shipped arms are '
                       f'{", ".join(shipped) or "missing"}{near(str(name_or_path), [*shipped])}')
    if not is_robot_file(path) and path.suffix.lower() not in ('.yaml', '.yml'):
        raise ArmError(
            f'{path} is neither an arm.yaml nor a robot ({", ".join(DESCRIPTION_SUFFIXES)})')
    return path


def description_file(name_or_path: str | Path) -> Path | None:
    """
    Find the URDF, xacro file, MJCF or SDF of an arm; see `load_arm`. None for a DH table.

    Raises
    ------
    ArmError
        There is no such arm or file.

    """
    path = arm_file(name_or_path)
    if is_robot_file(path):
        return path
    section = Section(read_yaml(path), path, ARM_KEYS).section('description', _DESCRIPTIONS)
    urdf = section.text('urdf')
    return None if urdf is None else path.parent / urdf


def stated_arm(path: Path, joints: tuple[str, ...]) -> ArmModel:
    """
    Read the parameters that a URDF states for some of its joints, friction included.

    Parameters
    ----------
    path : Path
        A URDF, xacro file, MJCF or SDF.
    joints : tuple of str
        Joints, in the wanted order. If the file has none of them but an arm of as many joints,
        these are taken: another prefix is common.

    Raises
    ------
    ArmError
        The file is unusable, lacks a joint, or states no inertia.

    """
    robot = read_urdf_xml(path)
    chain = guess_arm(robot.joints).joints
    if len(joints) == len(chain) and not robot.joints.keys() & set(joints):
        joints = chain
    read = describe(robot, path, joints)
    if read.inertial is None:
        raise ArmError(f'{path} states no inertia of the links that these joints move')
    friction = {
        term: np.array([getattr(robot.joints[name], key) for name in joints])
        for term, key in (('viscous', 'damping'), ('coulomb', 'friction'))}
    stated, doubts = _bare(read, path, read.limits)
    if doubts:
        warnings.warn(f'{path}: {"; ".join(doubts)}', ArmWarning, stacklevel=2)
    return replace(
        stated, rotor_inertia=False,
        friction=tuple(term for term, values in friction.items() if values.any()),
        friction_nominal={term: values for term, values in friction.items() if values.any()})


def _from_urdf(path: Path) -> tuple[ArmModel, tuple[str, ...]]:
    robot = read_urdf_xml(path)
    chain = guess_arm(robot.joints).joints
    read = describe(robot, path, chain)
    limits, doubts = plausible_limits(read)
    left = len(free_joints(robot.joints)) - len(chain)
    if left:
        doubts = (f'the arm is {", ".join(chain)}, and {left} more joints stay locked', *doubts)
    arm, others = _bare(read, path, limits)
    return arm, (*doubts, *others)


def _bare(
    read: Description, path: Path, limits: JointLimits,
) -> tuple[ArmModel, tuple[str, ...]]:
    inertial, changed = _possible(read.inertial, read.tree.link_names)
    return ArmModel(
        name=read.name or path.stem, tree=read.tree, gravity=np.array(_GRAVITY), limits=limits,
        drive=Drive.joint_torque(len(read.tree.joint_names)), inertial=inertial,
        tool=Tool(read.tool, read.tree.last)), (*read.doubts, *changed)


def _from_yaml(path: Path) -> tuple[ArmModel, tuple[str, ...]]:
    top = Section(read_yaml(path), path, ARM_KEYS)
    read = _description(top)
    names, links_by = read.tree.joint_names, read.tree.link_names
    n = len(names)
    friction, shape = read_friction(top)
    links, rotor, friction_nominal = read_nominal(top, n, len(links_by))
    limits, margins = read_limits(top, read.limits, names)
    inertial, changed = _possible(read.inertial if links is None else links, links_by)
    known = top.names('known')
    return ArmModel(
        name=top.text('name') or read.name or path.resolve().parent.name,
        tree=read.tree,
        gravity=top.filled('gravity', 3, _GRAVITY),
        limits=limits,
        drive=read_drive(top, names),
        inertial=inertial,
        rotor_nominal=rotor,
        friction_nominal=friction_nominal,
        rotor_inertia=top.flag('rotor_inertia', True),
        friction=friction,
        friction_shape=shape,
        coupling=read_coupling(top, names),
        conditioning=read_conditioning(top),
        aliases=top.lists_of_names('aliases', n),
        table=read_table(top, n),
        margins=margins,
        base=read_placement(top, 'base'),
        mounting=read_placement(top, 'mounting'),
        tool=read_tool(top, links_by, read.tool, read.tree.last),
        dh=read.dh,
        tolerances=read_tolerances(top, links_by, table=bool(read.dh)),
        link_bounds=read_link_bounds(top, links_by),
    ), tuple(each for each in (*read.doubts, *changed) if each not in known)


def _possible(
    links: Array | None, names: tuple[str, ...],
) -> tuple[Array | None, tuple[str, ...]]:
    """Return the nearest possible inertias (n, 10), and a clause if more than rounding differs."""
    if links is None:
        return None, ()
    taken = np.array([nearest_possible(link) if link[0] > 0 else link for link in links])
    changes = []
    for name, stated, own in zip(names, links, taken, strict=True):
        if (stated != own).any():
            before, after = (
                np.linalg.eigvalsh(inertial_to_com(each)[2]) for each in (stated, own))
            share = np.abs(after - before).max() / np.abs(before).max()
            if share > ROUNDED:
                changes.append(f'at joint "{name}" by {100 * share:.2g} % of the largest')
    notes = (f'no body has the moments of inertia of {counted(len(changes), "link")}; the nearest '
             f'possible ones differ {", ".join(changes)}',) if changes else ()
    return taken, notes


def _description(top: Section) -> Description:
    section = top.section('description', _DESCRIPTIONS)
    given = [key for key in _DESCRIPTIONS if key in section]
    if len(given) != 1:
        raise top.error('description', 'must give exactly one of urdf, mdh and dh')
    joints = top.names('joints')
    locked = locked_joints(top)
    if given[0] == 'urdf':
        return read_urdf(top.path.parent / str(section.text('urdf')), joints, locked)
    if locked:
        raise top.error('locked', 'works with a URDF only; leave the joint out of the table')
    table = section.section(given[0], ('units', 'rows'))
    return read_dh(table, joints, modified=given[0] == 'mdh')


def locked_joints(top: Section) -> dict[str, float]:
    """Positions of locked joints from ``locked``, rad or m."""
    every = top.raw('locked')
    section = top.section('locked', tuple(every) if isinstance(every, dict) else ())
    return {str(name): section.number(name) or 0.0 for name in every or ()}
