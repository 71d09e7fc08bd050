# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A first arm.yaml for a robot's URDF.

Write a commented arm.yaml for the arm in a URDF, xacro file, MJCF or SDF, with all that was found
and guessed, and list what only you know.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
import shlex
from typing import TYPE_CHECKING

from dynid_ros.errors import ArmError, InputError
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.atomic_write import check_output, write_whole
from dynid_ros.utilities.text import counted, sentence, several

if TYPE_CHECKING:
    from dynid_ros.arm.description.joint_choice import GuessedArm, Joints
    from dynid_ros.arm.model import ArmModel


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('robot', type=Path, metavar='ROBOT', help='URDF, xacro file, MJCF or SDF')
    add_output(parser, 'folder of the arm.yaml')
    add('--xacro', nargs='+', metavar='NAME:=VALUE', default=(), help='arguments of a xacro file')
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        '--joints', metavar='A,B,C',
        help='joints of the arm, each after its parent, or "all"; without it, the longest serial '
             'chain without its torso or base and its gripper')
    chosen.add_argument('--tip', metavar='LINK', help='the arm is the chain to this link')


def run(args: Namespace) -> Answer:
    """Write the folder and list the next steps."""
    from dynid_ros.arm.description.joint_choice import chain_lengths, free_joints
    from dynid_ros.arm.description.packages import find_meshes
    from dynid_ros.arm.description.urdf_xml import read_urdf_xml
    from dynid_ros.arm.load import arm_and_doubts
    from dynid_ros.arm.starter import bounds_section, known_section, starter
    from dynid_ros.motion.feasibility.link_shapes import link_boxes, urdf_bodies

    target = args.output / 'arm.yaml'
    check_output(target)
    path = _expanded(args) if args.xacro else args.robot
    robot = read_urdf_xml(path)
    chosen = _chosen(robot.joints, args, path)
    joints = chosen.joints
    if not joints:
        raise ArmError(f'{path} has no moving joint')
    locked = [name for name in free_joints(robot.joints) if name not in joints]
    chains = chain_lengths(robot.joints)
    text, guesses, questions = starter(robot, path, chosen, locked, args.output)
    write_whole(target, text.encode())
    try:
        # From here on the file itself is read, as every command will read it.
        arm, stated = arm_and_doubts(target)
        bodies, missing = urdf_bodies(arm, path, dict.fromkeys(locked, 0.0))
        sections = known_section(stated), bounds_section(joints, link_boxes(bodies, len(joints)))
        write_whole(target, ''.join((text, *sections)).encode())
    except BaseException:
        # It would stand in the way of the next attempt.
        target.unlink(missing_ok=True)
        raise
    doubts = [*stated, *guesses, *missing, *_weak_drives(arm)]
    if not bodies:
        doubts.append('the description has no collision shapes: planned motions avoid not even '
                      'the arm itself, until arm.yaml has "collision" capsules')
    others = [f'locked: {", ".join(locked)}'] if locked else []
    if len(chains) > 1 and not (args.tip or args.joints):
        doubts.insert(0, _other_chains(chains, robot.joints[joints[-1]].child, args))
    found = sum(file is not None for file in find_meshes(robot.meshes, path).values())
    facts = {'arm': target, 'joints': joints, 'locked': locked, 'tips': [*chains],
             'chains': chains, 'meshes': {'stated': len(robot.meshes), 'found': found},
             'doubts': doubts, 'questions': questions}
    return Answer(
        facts, f'An arm of {counted(len(joints), "joint")} is described: {several(joints)}.'
        + (f' Collision meshes found: {found} of {len(robot.meshes)}.' if robot.meshes else ''),
        notes=map(sentence, (*doubts, *others)), wrote=[target], then=[
            'Only you know, so look at:',
            *(f'  {question}' for question in questions),
            f'Next: dynid demo {args.output} (a rehearsal in simulation), or',
            f'      dynid design {args.output} -o excitation.yaml'])


def _chosen(known: Joints, args: Namespace, path: Path) -> GuessedArm:
    """Choose the joints as the user says, or guess them."""
    from dynid_ros.arm.description.joint_choice import (
        chain_to,
        free_joints,
        guess_arm,
        GuessedArm,
    )

    if args.tip:
        return GuessedArm(chain_to(known, args.tip, path))
    if args.joints:
        return GuessedArm(free_joints(known) if args.joints == 'all' else
                          tuple(args.joints.split(',')))
    return guess_arm(known)


def _other_chains(chains: Mapping[str, int], own: str, args: Namespace) -> str:
    """Name the chains of a robot by the links at their ends, and the line that takes another."""
    from dynid_ros.arm.description.joint_choice import LEG

    tip = max((link for link in chains if link != own), default=own,
              key=lambda link: (LEG.search(link) is None, chains[link]))
    given = f' --xacro {shlex.join(args.xacro)}' if args.xacro else ''
    line = shlex.join(['dynid', 'init', str(args.robot), '-o', f'{args.output}_{tip}'])
    lengths = ', '.join(f'{link} ({counted(count, "joint")})' for link, count in chains.items())
    return (f'the robot has several chains, to {lengths}; for another one: {line} --tip {tip}'
            f'{given}')


def _weak_drives(arm: ArmModel) -> Iterator[str]:
    """Tell which effort limits do not hold the stated masses everywhere."""
    from dynid_ros.arm.description.tree import joint_units
    from dynid_ros.dynamics.base import gravity_torque
    from dynid_ros.motion.execution.tracking_control import random_positions

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


def _expanded(args: Namespace) -> Path:
    """Write the URDF that a xacro file makes of its arguments into the folder."""
    from os.path import relpath
    from xml.etree import ElementTree

    from dynid_ros.arm.description.packages import find_meshes
    from dynid_ros.arm.description.urdf_source import urdf_root

    for argument in args.xacro:
        if argument.find(':=') < 1:
            raise InputError(f'"{argument}" is not an argument of a xacro file; write NAME:=VALUE')
    root = urdf_root(args.robot, dict(argument.split(':=', 1) for argument in args.xacro))
    meshes = [*root.iter('mesh')]
    files = find_meshes((mesh.get('filename', '') for mesh in meshes), args.robot)
    for mesh in meshes:
        # What is relative to the xacro file would be sought beside the URDF.
        if (file := files[mesh.get('filename', '')]) is not None:
            mesh.set('filename', relpath(file.resolve(), args.output.resolve()))
    path: Path = args.output / f'{args.robot.name.split(".")[0]}.urdf'
    write_whole(path, ElementTree.tostring(root, encoding='utf-8'))
    return path
