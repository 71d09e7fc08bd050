# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Estimate mass, centre of mass and inertia of what an arm carries.

Estimate the load from recordings with it, and a model or a recording of the arm without it. A
motion gives all ten parameters, rests at some positions mass and centre. A mass or a centre that
is known makes the rest more certain. Recordings without the load before and after those with it
show the drift of friction. Status 1 if the estimate is not trustworthy.
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
    positive,
    reading,
)
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_recordings(parser, 'loaded', 'LOADED_BAG', 'recordings with the load', '--unloaded',
                   'recordings without the load; with --arm, those before the load make the model')
    add('--model', type=Path, metavar='DIR', help='folder of dynid identify, without the load')
    add('--arm', metavar='ARM', help='with --unloaded: a shipped arm, or the path of an arm.yaml')
    add('--mass', type=positive, metavar='KG', help='mass of the load, if it was weighed')
    add('--com', nargs=3, type=finite, metavar=('X', 'Y', 'Z'),
        help='centre of mass of the load, if it is known, in the frame of the result, m')
    add('--link', metavar='JOINT',
        help='joint that moves the link with the load, if that is not the tool; the frame of the '
             'result is the frame of the link then')
    add('--flange', nargs=6, type=finite, metavar=('X', 'Y', 'Z', 'R', 'P', 'Y'),
        help='placement of the flange in the frame of the last joint, m and rad (as in a URDF); '
             'by default the tool of arm.yaml')
    add_reading(parser)


def run(args: Namespace) -> Answer:
    """Estimate the load; status 1 if it is not trustworthy."""
    from dynid_ros.interface.cli.common.payload_table import payload_answer
    from dynid_ros.interface.python.applications import payload

    model, unloaded = _model(args)
    found = payload(
        model, args.loaded, unloaded=unloaded, mass=args.mass, center=args.com, link=args.link,
        flange=args.flange, **reading(args))
    where = ('the flange' if args.flange is not None else
             'the tool of arm.yaml' if args.link is None else 'that link')
    return payload_answer(found, where)


def _model(args: Namespace) -> tuple[Any, Any]:
    """Return the model, and recordings without the load that it was not identified from."""
    if args.model is None and not args.unloaded:
        raise InputError('give --model DIR, or --unloaded BAG with --arm ARM')
    if args.model is not None:
        if args.arm is not None:
            raise InputError('--arm is for --unloaded without --model; a model holds its arm')
        return args.model, args.unloaded
    if args.arm is None:
        raise InputError('--unloaded needs the arm; give it with --arm')
    from dynid_ros.applications.payload.session import before_the_load
    from dynid_ros.arm.load import load_arm
    from dynid_ros.interface.python.boundary import as_recordings, check_once
    from dynid_ros.interface.python.identification import identify

    check_once(args.unloaded, args.loaded, 'is given with the load and without it')
    arm = load_arm(args.arm)
    free, loaded = (list(as_recordings(paths, arm, 'recordings', **reading(args)))
                    for paths in (args.unloaded, args.loaded))
    before, after = before_the_load(loaded, free)
    return identify(arm, before, holdout=0.0), after
