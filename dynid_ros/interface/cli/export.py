"""
The identified model for simulators, controllers and notebooks.

Write the physically possible parameters of an identified model as URDF, MJCF, YAML, or as a Python
file that needs NumPy alone.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.output import add_answer, answer

if TYPE_CHECKING:
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Formats by the suffix of a file.
FORMATS = {'.urdf': 'urdf', '.xml': 'mjcf', '.yaml': 'yaml', '.py': 'python'}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of the result')
    parser.add_argument(
        '--format', choices=tuple(FORMATS.values()),
        help=f'(default: by the suffix of the file, {", ".join(FORMATS)})')
    parser.add_argument(
        '--robot', type=Path, metavar='FILE',
        help='your URDF, of which inertias and friction are replaced and all else is kept; with '
             '--format yaml the physical_parameters.yaml of ur_description or the inertials.yaml '
             'of franka_description; without it, a URDF of joints and links alone, or a table')
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='FILE',
                        help='file to write')
    add_answer(parser)


def run(args: Namespace) -> int:
    """Write the file, and state its torque error and the parts that it cannot hold."""
    from dynid_ros.applications.export.file_error import LOADERS, statements
    from dynid_ros.applications.export.urdf import export_urdf
    from dynid_ros.estimation.model.words import headline
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.utilities.atomic_write import check_output, write_whole
    from dynid_ros.utilities.text import sentence

    form = args.format or _format_of(args.output)
    check_output(args.output)
    if args.robot is not None and form not in ('urdf', 'yaml'):
        raise InputError('--robot is for --format urdf and yaml only')
    model, notes = read_result(args.result), list[str]()
    if form == 'urdf':
        notes += export_urdf(model, args.robot, out=args.output)
    else:
        write_whole(args.output, _text(model, form, args.robot).encode())
    if form in LOADERS:
        notes += statements(model, args.output.read_text(encoding='utf-8'), form)
    elif args.robot is not None:
        notes.append("the maker's YAML holds links alone: rotor inertia and friction are missing "
                     'in it; for friction, export a URDF (-o FILE.urdf)')
    if not model.verdict.trustworthy:
        notes.insert(0, headline(model))
    answer(args, {'file': str(args.output), 'format': form, 'notes': notes},
           f'Exported {model.arm.name} as {form}, with physically possible parameters.',
           notes=map(sentence, notes), wrote=[args.output])
    return 0


def _format_of(output: Path) -> str:
    """Choose the format by the name of a file."""
    form = FORMATS.get(output.suffix.lower())
    if form is None:
        known = ', '.join(f'{suffix} ({name})' for suffix, name in FORMATS.items())
        raise InputError(f"'{output}' has no suffix of a format: give it one of {known}, or give "
                         '--format')
    return form


def _text(model: IdentifiedModel, form: str, robot: Path | None) -> str:
    """Write a model in a format other than URDF."""
    from dynid_ros.applications.export.format_friction import simple_arm
    from dynid_ros.applications.export.maker_tables import maker_table
    from dynid_ros.applications.export.mjcf import mjcf_of
    from dynid_ros.applications.export.standalone import python_of, table_of

    if form == 'mjcf':
        return mjcf_of(simple_arm(model, rotor_inertia=True))
    if form == 'python':
        return python_of(model.possible_arm)
    return table_of(model) if robot is None else maker_table(model.possible_arm, robot)
