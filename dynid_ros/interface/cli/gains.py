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
from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_friction,
    add_reading,
    positive,
    reading,
)
from dynid_ros.interface.cli.common.output import add_answer, answer, shown_progress


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recordings', nargs='+', type=Path, metavar='BAG')
    add_arm(parser)
    parser.add_argument(
        '--loaded', action='append', default=[], type=Path, metavar='BAG',
        help='recording with a weighed load on the tool; may be given several times. If the arm '
             'mostly rests in this one and in those without the load, its weight gives the gains')
    parser.add_argument(
        '--mass', type=positive, metavar='KG', help='mass of that load, with its mounting')
    parser.add_argument(
        '--write', type=Path, metavar='FILE',
        help='write a copy of the arm.yaml with the gains found for those that the data refute')
    add_friction(parser)
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Print the gains, and write them into a copy of the arm."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.drive_file import check_copy, write_copy
    from dynid_ros.interface.cli.common.gain_table import (
        gain_details,
        gain_line,
        gain_notes,
        gain_table,
        gains_as_dict,
    )
    from dynid_ros.interface.python.identification import gains

    if bool(args.loaded) != (args.mass is not None):
        raise InputError('--loaded and --mass belong together; give the recording with the load '
                         'and the mass of the load')
    arm = load_arm(args.arm)
    if args.write:
        check_copy(args.arm, args.write)
    with shown_progress():
        found = gains(arm, args.recordings, loaded=args.loaded, mass=args.mass,
                      friction=args.friction, **reading(args))
    written = None
    if args.write and not found.objection:
        write_copy(args.arm, found.gain, args.write)
        written = str(args.write)
    unwritten = [f'{args.write} is not written.'] if args.write and not written else []
    answer(args, gains_as_dict(arm, found) | {'written': written}, gain_line(found),
           table=gain_table(arm, found), notes=[*unwritten, *gain_notes(found)],
           details=gain_details(found), wrote=[written] if written else [])
    return 1 if found.refuted.any() or found.objection else 0
