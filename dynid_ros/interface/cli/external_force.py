# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compute the joint torques of a wrench on a body.

Torque that holds an arm at rest under a wrench, and the acceleration of the joints if the drives
only held the arm against gravity. Status 1 if a joint would exceed its effort limit.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_position, position
from dynid_ros.interface.cli.common.described import add_described, given, number


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'external_force', {
        'arm': 'ARM', 'in_base': '--in-base', 'body': '--body'})
    parser.add_argument(
        '--wrench', nargs='+', type=number('Finite'), required=True, metavar='W',
        help='moments and forces Tx Ty Tz Fx Fy Fz on the body, Nm and N, in its frame')
    add_position(parser)


def run(args: Namespace) -> Answer:
    """Compute torque and acceleration joint by joint; status 1 if a limit is exceeded."""
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.interface.answers.statics import force_answer
    from dynid_ros.interface.python.boundary import as_arm_or_model
    from dynid_ros.interface.python.statics import external_force

    model = as_arm_or_model(args.arm)
    arm = model if isinstance(model, ArmModel) else model.arm
    q = position(arm, args)
    effect = external_force(**given(args) | {'arm': model, 'wrench': args.wrench, 'q': q})
    return force_answer(effect, arm, q, args.body)
