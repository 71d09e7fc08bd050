# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The identified model for simulators, controllers and notebooks.

Write the physically possible parameters of an identified model as URDF, MJCF, YAML, or as a Python
file that needs NumPy alone.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('result', type=Path, metavar='DIR', help='folder of the result')
    add('--format', choices=('urdf', 'mjcf', 'yaml', 'python'),
        help='(default: by the suffix of the file, .urdf, .xml, .yaml, .py)')
    add('--robot', type=Path, metavar='FILE',
        help='your URDF, of which inertias and friction are replaced and all else is kept; with '
             '--format yaml the physical_parameters.yaml of ur_description or the inertials.yaml '
             'of franka_description; without it, a URDF of joints and links alone, or a table')
    add_output(parser, 'file to write')


def run(args: Namespace) -> Answer:
    """Write the file, and state its torque error and the parts that it cannot hold."""
    from dynid_ros.applications.export.formats import format_of
    from dynid_ros.interface.python.applications import export
    from dynid_ros.interface.python.identification import load_model
    from dynid_ros.utilities.atomic_write import check_output
    from dynid_ros.utilities.text import sentence

    form = args.format or format_of(args.output)
    check_output(args.output)
    model = load_model(args.result)
    notes = export(model, args.output, robot=args.robot, form=form)
    return Answer({'file': args.output, 'format': form, 'notes': notes},
                  f'Exported {model.arm.name} as {form}, with physically possible parameters.',
                  notes=map(sentence, notes), wrote=[args.output])
