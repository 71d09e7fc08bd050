"""
A first arm.yaml for a robot's URDF.

Write a commented arm.yaml for the arm in a URDF, xacro file, MJCF or SDF, with all that was found
and guessed, and list what only you know.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import ArmError, InputError
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.atomic_write import check_output, write_whole
from dynid_ros.utilities.text import counted, sentence, several

if TYPE_CHECKING:
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
    from dynid_ros.arm.description.joint_choice import (
        arm_tips,
        chain_to,
        free_joints,
        guess_arm,
        GuessedArm,
    )
    from dynid_ros.arm.description.urdf_xml import read_urdf_xml
    from dynid_ros.arm.load import load_arm
    from dynid_ros.arm.starter import bounds_section, starter
    from dynid_ros.motion.feasibility.link_shapes import link_boxes, urdf_bodies

    target = args.output / 'arm.yaml'
    check_output(target)
    path = _expanded(args) if args.xacro else args.robot
    robot = read_urdf_xml(path)
    chosen = (
        GuessedArm(chain_to(robot.joints, args.tip, path)) if args.tip else
        guess_arm(robot.joints) if not args.joints else
        GuessedArm(free_joints(robot.joints) if args.joints == 'all' else
                   tuple(args.joints.split(','))))
    joints = chosen.joints
    if not joints:
        raise ArmError(f'{path} has no moving joint')
    locked = [name for name in free_joints(robot.joints) if name not in joints]
    tips = arm_tips(robot.joints)
    text, doubts, questions = starter(robot, path, chosen, locked, args.output)
    write_whole(target, text.encode())
    try:
        # From here on the file itself is read, as every command will read it.
        arm = load_arm(target)
        bodies, _ = urdf_bodies(arm, path, dict.fromkeys(locked, 0.0))
        bounds = bounds_section(joints, link_boxes(bodies, len(joints)))
        write_whole(target, (text + bounds).encode())
    except BaseException:
        # It would stand in the way of the next attempt.
        target.unlink(missing_ok=True)
        raise
    doubts += _weak_drives(arm)
    if not bodies:
        doubts.append('the description has no collision shapes: planned motions avoid not even '
                      'the arm itself, until arm.yaml has "collision" capsules')
    others = [f'locked: {", ".join(locked)}'] if locked else []
    if len(tips) > 1 and not (args.tip or args.joints):
        others.append(
            f'the robot has several chains; choose another with --tip: {", ".join(tips)}')
    facts = {'arm': target, 'joints': joints, 'locked': locked, 'tips': tips, 'doubts': doubts,
             'questions': questions}
    return Answer(
        facts, f'An arm of {counted(len(joints), "joint")} is described: {several(joints)}.',
        notes=map(sentence, (*doubts, *others)), wrote=[target], then=[
            'Only you know, so look at:',
            *(f'  {question}' for question in questions),
            f'Next: dynid demo {args.output} (a rehearsal in simulation), or',
            f'      dynid design {args.output} -o excitation.yaml'])


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
    from xml.etree import ElementTree

    from dynid_ros.arm.description.urdf_source import urdf_root

    for argument in args.xacro:
        if argument.find(':=') < 1:
            raise InputError(f'"{argument}" is not an argument of a xacro file; write NAME:=VALUE')
    root = urdf_root(args.robot, dict(argument.split(':=', 1) for argument in args.xacro))
    path: Path = args.output / f'{args.robot.name.split(".")[0]}.urdf'
    write_whole(path, ElementTree.tostring(root, encoding='utf-8'))
    return path
