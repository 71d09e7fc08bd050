# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Design an exciting motion within all limits.

Design the Fourier motion that best excites the parameters of an arm, and after it a random one of
other frequencies for validation. Both are at rest at both ends, within the limits of position,
velocity, acceleration and torque, and clear of the arm itself and of the obstacles in arm.yaml.
Ctrl-C keeps the best so far.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dynid_ros.errors import InputError
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given, number

#: Word after --for, and the mass of the heaviest load where none is given, kg.
PAYLOAD, HEAVIEST_LOAD_KG = 'payload', 2.0


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'design_excitation', {
        'arm': 'ARM', 'period': '--period', 'harmonics': '--harmonics', 'periods': '--periods',
        'ramp': '--ramp S', 'criterion': '--criterion', 'scale_columns': '--scale-columns',
        'load': '--load KG', 'known': '--known WORD', 'link': '--link JOINT',
        'given': '--given RESULT', 'starts': '--starts', 'seconds': '--time S', 'seed': '--seed'})
    add_output(parser, 'excitation.yaml to write')
    add = parser.add_argument
    add('--for', dest='chosen', nargs='+', default=[], metavar='PARAMETER',
        help='minimise the variance of these base parameters instead, such as Izz6; or, with the '
             'word payload, of mass and centre of a load (by default 2 kg at the origin of the '
             'tool), for an arm that is known')
    add('--export', nargs='+', default=[], type=Path, metavar='FILE',
        help='samples as well: .yaml (JointTrajectory) or .csv')
    add('--rate', type=number('Positive'), default=100.0,
        help='of these samples, Hz (default: %(default)g)')
    add('--plots', type=Path, metavar='FOLDER', help='drawings of joints and tool path')


def run(args: Namespace) -> Answer:
    """Design the motion and write it."""
    from dynid_ros.interface.answers.motions import design_answer
    from dynid_ros.interface.python.motions import design_excitation
    from dynid_ros.motion.trajectory.trajectory_file import check_formats, export_motion
    from dynid_ros.utilities.atomic_write import check_output

    wanted = given(args) | _task(args)
    check_formats(
        args.export, args.period * (args.periods or 1) + 2 * args.ramp, args.rate)
    check_output(args.output, *args.export)
    designed = design_excitation(**wanted)
    designed.save(args.output)
    for path in args.export:
        export_motion(
            path, designed.pair or designed.motion, designed.arm.joint_names, args.rate)
    if args.plots:
        from dynid_ros.pages.report.plots import draw_motion

        draw_motion(args.plots, designed.motion, designed.arm)
    return design_answer(designed, [args.output, *args.export])


def _task(args: Namespace) -> dict[str, Any]:
    """Return what the motion is to determine: parameters, or the heaviest load."""
    if args.chosen == [PAYLOAD]:
        return {'load': args.load or [HEAVIEST_LOAD_KG]}
    for name in ('load', 'known', 'link'):
        if getattr(args, name):
            raise InputError(f'--{name} is for --for payload only')
    return {'parameters': args.chosen}
