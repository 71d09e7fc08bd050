# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The identified model for simulators, controllers and notebooks.

Write the physically possible parameters of an identified model as URDF, MJCF, YAML, as a Python
file that needs NumPy alone, or as a C header. With --samples, write as many models that the data
leave possible, with ranges of their parameters.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import add_output, checked, seed
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('result', type=Path, metavar='DIR', help='folder of the result')
    add('--format', choices=('urdf', 'mjcf', 'yaml', 'python', 'c'),
        help='(default: by the suffix of the file, .urdf, .xml, .yaml, .py, .h)')
    add('--robot', type=Path, metavar='FILE',
        help='your URDF, of which inertias and friction are replaced and all else is kept; with '
             '--format yaml the physical_parameters.yaml of ur_description or the inertials.yaml '
             'of franka_description; without it, a URDF of joints and links alone, or a table')
    add('--samples', type=_number_of_samples, metavar='NUMBER',
        help='write a folder with as many models drawn from the posterior of data and prior, as '
             '--format mjcf (default), urdf, or yaml for the table alone; a table and ranges of '
             'their parameters, and torque that the model leaves unexplained')
    add('--seed', type=seed, default=0, help='of --samples (default: %(default)s)')
    add_output(parser, 'file to write, or the folder of --samples')


def _number_of_samples(text: str) -> int:
    from dynid_ros.applications.rollout.sample_files import MOST_SAMPLE_FILES

    return checked(int, f'a whole number from 1 to {MOST_SAMPLE_FILES}',
                   lambda value: 1 <= value <= MOST_SAMPLE_FILES)(text)


def run(args: Namespace) -> Answer:
    """Write the file, and state its torque error and the parts that it cannot hold."""
    from dynid_ros.applications.export.formats import format_of
    from dynid_ros.interface.python.applications import export
    from dynid_ros.interface.python.identification import load_model
    from dynid_ros.utilities.atomic_write import check_output
    from dynid_ros.utilities.text import sentence

    drawn = args.samples is not None
    form = args.format or ('mjcf' if drawn else format_of(args.output))
    if not drawn:
        check_output(args.output)
    model = load_model(args.result)
    notes = export(model, args.output, robot=args.robot, form=form, samples=args.samples,
                   seed=args.seed)
    done = (f'Drew {args.samples} physically possible models of {model.arm.name} from the '
            'posterior of data and prior.' if drawn else
            f'Exported {model.arm.name} as {form}, with physically possible parameters.')
    return Answer(
        {'file': args.output, 'format': form, 'notes': notes,
         **({'samples': args.samples, 'seed': args.seed} if drawn else {})},
        done, notes=map(sentence, notes), wrote=[args.output])
