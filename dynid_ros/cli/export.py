"""``dynid export``: an identified model in the formats of others."""

from __future__ import annotations

import argparse
from pathlib import Path

from dynid_ros.cli.common.arguments import Subparsers
from dynid_ros.errors import InputError

FORMATS = ('urdf', 'mjcf', 'yaml', 'python')
ROTOR = 'rotor inertia'
#: What a format can hold beside the friction terms of a URDF; the other formats hold all.
CARRIED: dict[str, tuple[str, ...]] = {'urdf': (), 'mjcf': (ROTOR,)}


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        'export', help='the identified model for simulators, controllers and notebooks',
        description='Write the physically possible parameters of an identified model as URDF, '
                    'MJCF, YAML, or as a Python file that needs NumPy alone.')
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of the result')
    parser.add_argument('--format', choices=FORMATS, default='urdf',
                        help='(default: %(default)s)')
    parser.add_argument(
        '--robot', type=Path, metavar='URDF',
        help='your URDF, of which inertias and friction are replaced and all else is kept; '
             'without it, a URDF of joints and links alone is written')
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='FILE',
                        help='file to write')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the file, and state what it cannot hold."""
    from dynid_ros.export.mjcf import mjcf_of
    from dynid_ros.export.standalone import python_of, table_of
    from dynid_ros.export.urdf import DYNAMICS, replaced_urdf, urdf_of
    from dynid_ros.storage.result_file import read_result
    from dynid_ros.storage.whole_file import write_whole

    if args.robot is not None and args.format != 'urdf':
        raise InputError('--robot is for --format urdf only')
    model = read_result(args.result)
    arm, notes = model.possible_arm, list[str]()
    if args.format == 'yaml':
        text = table_of(model)
    elif args.format == 'python':
        text = python_of(arm)
    elif args.format == 'mjcf':
        text = mjcf_of(arm)
    elif args.robot is None:
        text = urdf_of(arm)
    else:
        text, notes = replaced_urdf(arm, args.robot)
    write_whole(args.output, text.encode())
    if args.format in CARRIED:
        held = (*DYNAMICS, *CARRIED[args.format])
        terms = (*arm.friction, *([ROTOR] if arm.rotor_inertia else []),
                 *(column.name for column in arm.coupling))
        lost = [term for term in terms if term not in held]
        if lost:
            notes.append(f'{args.format} has no element for {", ".join(lost)}: these parts of the '
                         'torque are missing in it')
    if not model.verdict.trustworthy:
        notes.append('the result is not trustworthy: ' + '; '.join(model.verdict.reasons))
    print('\n'.join([*notes, f'wrote {args.output}']))
    return 0
