"""``dynid export``: an identified model in the formats of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.cli.common.arguments import Subparsers
from dynid_ros.errors import InputError

if TYPE_CHECKING:
    from dynid_ros.model.identified_model import IdentifiedModel

FORMATS = ('urdf', 'mjcf', 'yaml', 'python')


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
        '--robot', type=Path, metavar='FILE',
        help='your URDF, of which inertias and friction are replaced and all else is kept; with '
             '--format yaml the physical_parameters.yaml of ur_description or the inertials.yaml '
             'of franka_description; without it, a URDF of joints and links alone, or a table')
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='FILE',
                        help='file to write')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the file, and state what it cannot hold."""
    from dynid_ros.export.maker_tables import maker_table
    from dynid_ros.export.mjcf import mjcf_of
    from dynid_ros.export.omitted_terms import omitted_terms
    from dynid_ros.export.standalone import python_of, table_of
    from dynid_ros.export.urdf import export_urdf
    from dynid_ros.storage.result_file import read_result
    from dynid_ros.whole_file import write_whole

    if args.robot is not None and args.format not in ('urdf', 'yaml'):
        raise InputError('--robot is for --format urdf and yaml only')
    model = read_result(args.result)
    arm, notes, form = model.possible_arm, list[str](), args.format
    if form == 'urdf':
        notes += export_urdf(model, args.robot, out=args.output)
    else:
        if form == 'yaml' and args.robot is not None:
            text, form = maker_table(arm, args.robot), "the maker's YAML"
        elif form == 'yaml':
            text = table_of(model)
        else:
            text = python_of(arm) if form == 'python' else mjcf_of(arm)
        write_whole(args.output, text.encode())
    omitted = omitted_terms(arm, form)
    if omitted:
        notes.append(_omission(model, form, omitted))
    if not model.verdict.trustworthy:
        notes.append('the result is not trustworthy: ' + '; '.join(model.verdict.reasons))
    print('\n'.join([*notes, f'wrote {args.output}']))
    return 0


def _omission(model: IdentifiedModel, form: str, omitted: tuple[str, ...]) -> str:
    """State the terms that a format cannot hold, and the error that this makes."""
    from dynid_ros.export.omitted_terms import error_without, HELD

    sentence = f'{form} has no element for {", ".join(omitted)}'
    held = [term for term in HELD[form] if term in ('viscous', 'coulomb')]
    remedy = (f'; to avoid that, identify with --friction {",".join(held)}'
              if held and set(omitted) & set(model.arm.friction) else '')
    without = error_without(model, omitted)
    if without is None or model.validation is None:
        return f'{sentence}: these parts of the torque are missing in it{remedy}'
    return (f'{sentence}: without them its torque error is '
            f'{without.relative_error_percent:.3g} % on the held-out data, with them '
            f'{model.validation.relative_error_percent:.3g} %{remedy}')
