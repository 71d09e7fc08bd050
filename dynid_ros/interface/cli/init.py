# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A first arm.yaml for a robot's URDF.

Write a commented arm.yaml for the arm in a URDF, xacro file, MJCF or SDF, with all that was found
and guessed, and list what only you know.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, given
from dynid_ros.utilities.text import counted, sentence, several


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    function = 'interface.python.first_arm.first_arm'
    add_described(parser, function, {
        'robot': 'ROBOT', 'out': '-o --output PATH', 'xacro': '--xacro NAME:=VALUE'})
    add_described(parser.add_mutually_exclusive_group(), function, {
        'joints': '--joints A,B,C', 'tip': '--tip LINK'})


def run(args: Namespace) -> Answer:
    """Write the folder and list the next steps."""
    from dynid_ros.interface.python.first_arm import first_arm

    made = first_arm(**given(args))
    stated, found = made.meshes
    facts = made._asdict() | {
        'tips': [*made.chains], 'meshes': {'stated': stated, 'found': found}}
    locked = [f'locked: {", ".join(made.locked)}'] if made.locked else []
    return Answer(
        facts, f'An arm of {counted(len(made.joints), "joint")} is described: '
        f'{several(made.joints)}.'
        + (f' Collision meshes found: {found} of {stated}.' if stated else ''),
        notes=map(sentence, (*made.doubts, *locked)), wrote=[made.arm], then=[
            'Only you know, so look at:',
            *(f'  {question}' for question in made.questions),
            f'Next: dynid demo {args.output} (a rehearsal in simulation), or',
            f'      dynid design {args.output} -o excitation.yaml'])
