# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Find drive gains from recordings.

Find the ratios of the drive gains from recordings in which all joints move, and the gains
themselves from further ones with a load of known mass. Status 1 if the data refute a gain that the
arm states, or determine none.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.errors import InputError
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given
from dynid_ros.utilities.text import several


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'gains', {
        'recordings': 'BAG', 'loaded': '--loaded BAG', **ARM_AND_READING, 'mass': '--mass KG',
        'friction': '--friction TERMS'})
    parser.add_argument(
        '--write', type=Path, metavar='FILE',
        help='write a copy of the arm.yaml with the gains found for those that the data refute')


def run(args: Namespace) -> Answer:
    """Find the gains, and write them into a copy of the arm."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.drive_file import check_copy, write_copy
    from dynid_ros.interface.answers.gains import gain_answer, unknown_gains
    from dynid_ros.interface.python.identification import gains

    if bool(args.loaded) != (args.mass is not None):
        raise InputError('--loaded and --mass belong together; give the recording with the load '
                         'and the mass of the load')
    arm = load_arm(args.arm)
    if args.write:
        check_copy(args.arm, args.write)
    found = gains(**given(args) | {'arm': arm})
    lacking, wrote = unknown_gains(found, arm), []
    if args.write and not found.objection and not lacking:
        write_copy(args.arm, found.gain, args.write)
        wrote = [args.write]
    unwritten = [f'{args.write} is not written.' if found.objection else
                 f'{args.write} is not written: kp of {several(lacking)} is not known in Nm/rad.'
                 ] if args.write and not wrote else []
    return gain_answer(found, arm, unwritten, wrote)
