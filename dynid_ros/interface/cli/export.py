# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The identified model for simulators, controllers and notebooks.

Write the physically possible parameters of an identified model as URDF, MJCF, YAML, as a Python
file that needs NumPy alone, or as a C header. With --samples, write as many models that the data
leave possible, with ranges of their parameters.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'export', {
        'model': 'DIR', 'form': '--format', 'robot': '--robot FILE', 'samples': '--samples NUMBER',
        'seed': '--seed'})
    add_output(parser, 'file to write, or the folder of --samples')


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
    model = load_model(args.model)
    notes = export(**given(args) | {'model': model, 'out': args.output, 'form': form})
    done = (f'Drew {args.samples} physically possible models of {model.arm.name} from the '
            'posterior of data and prior.' if drawn else
            f'Exported {model.arm.name} as {form}, with physically possible parameters.')
    return Answer(
        {'file': args.output, 'format': form, 'notes': notes,
         **({'samples': args.samples, 'seed': args.seed} if drawn else {})},
        done, notes=map(sentence, notes), wrote=[args.output])
