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
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, given, READING


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'payload', {
        'recordings': 'LOADED_BAG', 'unloaded': '--unloaded BAG', 'mass': '--mass KG',
        'center': '--com X Y Z', 'link': '--link JOINT', 'flange': '--flange X Y Z R P Y',
        **READING})
    parser.add_argument(
        '--model', type=Path, metavar='DIR', help='folder of dynid identify, without the load')
    parser.add_argument(
        '--arm', metavar='ARM',
        help='with --unloaded: a shipped arm, or the path of an arm.yaml; recordings before the '
             'load make the model')


def run(args: Namespace) -> Answer:
    """Estimate the load; status 1 if it is not trustworthy."""
    from dynid_ros.interface.answers.payload import payload_answer
    from dynid_ros.interface.python.applications import payload

    found = payload(_model(args), **given(args))
    where = ('the flange' if args.flange is not None else
             'the tool of arm.yaml' if args.link is None else 'that link')
    return payload_answer(found, where)


def _model(args: Namespace) -> Any:
    """Read the model, or the arm of recordings from which one follows."""
    from dynid_ros.interface.python.boundary import as_arm, as_model

    if args.model is not None:
        if args.arm is not None:
            raise InputError('--arm is for --unloaded without --model; a model holds its arm')
        return as_model(args.model)
    if not args.unloaded:
        raise InputError('give --model DIR, or --unloaded BAG with --arm ARM')
    if args.arm is None:
        raise InputError('--unloaded needs the arm; give it with --arm')
    return as_arm(args.arm)
