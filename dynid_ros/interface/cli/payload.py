# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Estimate mass, centre of mass and inertia of what an arm carries.

Estimate the load from recordings with it, and a model or a recording of the arm without it. A
motion gives all ten parameters, rests at some positions mass and centre. Status 1 if the estimate
is not trustworthy.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import (
    add_reading,
    add_recordings,
    finite,
    reading,
)
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_recordings(parser, 'loaded', 'LOADED_BAG', 'recordings with the load', '--unloaded',
                   'instead of --model: recordings without the load')
    add('--model', type=Path, metavar='DIR', help='folder of dynid identify, without the load')
    add('--arm', metavar='ARM', help='with --unloaded: a shipped arm, or the path of an arm.yaml')
    add('--flange', nargs=6, type=finite, metavar=('X', 'Y', 'Z', 'R', 'P', 'Y'),
        help='placement of the flange in the frame of the last joint, m and rad (as in a URDF); '
             'by default the tool of arm.yaml')
    add_reading(parser)


def run(args: Namespace) -> Answer:
    """Estimate the load; status 1 if it is not trustworthy."""
    from dynid_ros.interface.cli.common.payload_table import payload_answer
    from dynid_ros.interface.python.applications import payload

    found = payload(_model(args), args.loaded, flange=args.flange, **reading(args))
    return payload_answer(found, 'the tool of arm.yaml' if args.flange is None else 'the flange')


def _model(args: Namespace) -> Any:
    """Return the folder of the model, or identify it from recordings without the load."""
    if (args.model is None) == (not args.unloaded):
        raise InputError('give either --model DIR or --unloaded BAG')
    if args.model is not None:
        if args.arm is not None:
            raise InputError('--arm is for --unloaded only; a model holds its arm')
        return args.model
    if args.arm is None:
        raise InputError('--unloaded needs the arm; give it with --arm')
    from dynid_ros.interface.python.identification import identify

    return identify(args.arm, args.unloaded, holdout=0.0, **reading(args))
