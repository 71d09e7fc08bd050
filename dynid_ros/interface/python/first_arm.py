# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A first arm.yaml from the description of a robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import relpath
from pathlib import Path
import shlex
from typing import NamedTuple
from xml.etree import ElementTree

from dynid_ros.arm.description.joint_choice import (
    chain_lengths,
    chain_to,
    free_joints,
    guess_arm,
    GuessedArm,
    Joints,
    LEG,
)
from dynid_ros.arm.description.packages import find_meshes
from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.arm.load import arm_and_doubts
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.starter import bounds_section, known_section, starter
from dynid_ros.dynamics.base import gravity_torque
from dynid_ros.errors import ArmError, InputError
from dynid_ros.motion.execution.tracking_control import random_positions
from dynid_ros.motion.feasibility.link_shapes import link_boxes, urdf_bodies
from dynid_ros.utilities.atomic_write import check_output, write_whole
from dynid_ros.utilities.text import counted


class FirstArm(NamedTuple):
    """
    An arm.yaml that was made of a description, and what is open in it.

    Attributes
    ----------
    arm : Path
        The arm.yaml.
    joints, locked : tuple of str
        Joints of the arm, and the others that move.
    chains : dict of str to int
        Number of joints of each serial chain, by the link at its end.
    meshes : (int, int)
        Number of collision meshes that the description states, and of those found.
    doubts, questions : tuple of str
        What was guessed or is missing, and what only the user knows, a sentence each.

    """

    arm: Path
    joints: tuple[str, ...]
    locked: tuple[str, ...]
    chains: dict[str, int]
    meshes: tuple[int, int]
    doubts: tuple[str, ...]
    questions: tuple[str, ...]


def first_arm(
    robot: Path, out: Path, *, xacro: Sequence[str] = (), joints: str | None = None,
    tip: str | None = None,
) -> FirstArm:
    """
    Write a first arm.yaml for a robot, as ``dynid init`` does.

    Parameters
    ----------
    robot : Path
        URDF, xacro file, MJCF or SDF.
    out : Path
        Folder of the arm.yaml.
    xacro : sequence of str
        Arguments of a xacro file.
    joints : str, optional
        Joints of the arm, each after its parent, or "all"; without it, the longest serial chain
        without its torso or base and its gripper.
    tip : str, optional
        The arm is the chain to this link.

    Raises
    ------
    ArmError
        The description is unusable, or has no such joint or link.

    """
    target = out / 'arm.yaml'
    check_output(target)
    path = _expanded(robot, out, xacro) if xacro else robot
    read = read_urdf_xml(path)
    chosen = _chosen(read.joints, joints, tip, path)
    names = chosen.joints
    if not names:
        raise ArmError(f'{path} has no moving joint')
    locked = [name for name in free_joints(read.joints) if name not in names]
    chains = chain_lengths(read.joints)
    text, guesses, questions = starter(read, path, chosen, locked, out)
    write_whole(target, text.encode())
    try:
        # From here on the file itself is read, as every command will read it.
        arm, stated = arm_and_doubts(target)
        bodies, missing = urdf_bodies(arm, path, dict.fromkeys(locked, 0.0))
        sections = known_section(stated), bounds_section(names, link_boxes(bodies, len(names)))
        write_whole(target, ''.join((text, *sections)).encode())
    except BaseException:
        # It would stand in the way of the next attempt.
        target.unlink(missing_ok=True)
        raise
    doubts = [*stated, *guesses, *missing, *_weak_drives(arm)]
    if not bodies:
        doubts.append('the description has no collision shapes: planned motions avoid not even '
                      'the arm itself, until arm.yaml has "collision" capsules')
    if len(chains) > 1 and not (tip or joints):
        doubts.insert(0, _other_chains(
            chains, read.joints[names[-1]].child, robot, out, xacro))
    found = sum(file is not None for file in find_meshes(read.meshes, path).values())
    return FirstArm(
        target, names, tuple(locked), dict(chains), (len(read.meshes), found), tuple(doubts),
        tuple(questions))


def _chosen(known: Joints, joints: str | None, tip: str | None, path: Path) -> GuessedArm:
    """Choose the joints as the user says, or guess them."""
    if tip:
        return GuessedArm(chain_to(known, tip, path))
    if joints:
        return GuessedArm(free_joints(known) if joints == 'all' else
                          tuple(joints.split(',')))
    return guess_arm(known)


def _other_chains(
    chains: Mapping[str, int], own: str, robot: Path, out: Path, xacro: Sequence[str],
) -> str:
    """Name the chains of a robot by the links at their ends, and the line that takes another."""
    tip = max((link for link in chains if link != own), default=own,
              key=lambda link: (LEG.search(link) is None, chains[link]))
    given = f' --xacro {shlex.join(xacro)}' if xacro else ''
    line = shlex.join(['dynid', 'init', str(robot), '-o', f'{out}_{tip}'])
    lengths = ', '.join(f'{link} ({counted(count, "joint")})' for link, count in chains.items())
    return (f'the robot has several chains, to {lengths}; for another one: {line} --tip {tip}'
            f'{given}')


def _weak_drives(arm: ArmModel) -> Iterator[str]:
    """Tell which effort limits do not hold the stated masses everywhere."""
    if arm.inertial is None:
        return
    needed = abs(gravity_torque(arm, random_positions(arm), arm.inertial.ravel())).max(axis=0)
    weak = [f'{joint} ({limit:g} of {most:.3g} {unit})' for joint, limit, most, unit in zip(
        arm.joint_names, arm.limits.effort, needed, joint_units('Nm', arm.prismatic), strict=True)
        if limit < most]
    if weak:
        yield (f'the effort limit does not hold the stated masses in every pose at '
               f'{", ".join(weak)}: planned motions stay where it does; correct limits.effort in '
               'arm.yaml if the drive is stronger or balanced')


def _expanded(robot: Path, out: Path, xacro: Sequence[str]) -> Path:
    """Write the URDF that a xacro file makes of its arguments into the folder."""
    for argument in xacro:
        if argument.find(':=') < 1:
            raise InputError(f'"{argument}" is not an argument of a xacro file; write NAME:=VALUE')
    root = urdf_root(robot, dict(argument.split(':=', 1) for argument in xacro))
    meshes = [*root.iter('mesh')]
    files = find_meshes((mesh.get('filename', '') for mesh in meshes), robot)
    for mesh in meshes:
        # What is relative to the xacro file would be sought beside the URDF.
        if (file := files[mesh.get('filename', '')]) is not None:
            mesh.set('filename', relpath(file.resolve(), out.resolve()))
    path = out / f'{robot.name.split(".")[0]}.urdf'
    write_whole(path, ElementTree.tostring(root, encoding='utf-8'))
    return path
