# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Record a simulated arm, faster than real time.

Simulate an arm in MuJoCo under computed-torque control, with friction, encoder quantisation and
torque noise, and record it into a rosbag2. Plausible links, rotor inertia and friction take the
place of those that the arm does not state; recording.yaml in the bag states all of them. A result
gives its arm with the physically possible parameters, and all of its friction.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'simulate', {'arm': 'ARM', 'motion': '[EXCITATION]', 'seed': '--seed'})
    add_output(parser, 'folder of the bag')


def run(args: Namespace) -> Answer:
    """Simulate and write the bag."""
    from dynid_ros.interface.python.motions import simulate

    log = simulate(**given(args), out=args.output)
    assert log.arm is not None
    facts = {'arm': log.arm.name, 'bag': args.output, 'samples': len(log.t),
             'seconds': log.seconds, 'assumed': log.assumed}
    return Answer(
        facts, f'Simulated {log.seconds:.1f} s of {log.arm.name}, {len(log.t)} samples'
        + (', with a motion for validation at the end.' if log.validation else '.'),
        wrote=[args.output])
