# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compute the joint torques of a wrench on a body.

Torque that holds an arm at rest under a wrench, and the acceleration of the joints if the drives
only held the arm against gravity. Status 1 if a joint would exceed its effort limit.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.cli.common.arguments import (
    add_described,
    add_position,
    given,
    number,
    position,
)
from dynid_ros.interface.cli.common.output import Answer


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
    import numpy as np

    from dynid_ros.arm.description.tree import joint_units
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.interface.python.boundary import as_arm_or_model
    from dynid_ros.interface.python.statics import external_force
    from dynid_ros.utilities.text import plain, several

    model = as_arm_or_model(args.arm)
    arm = model if isinstance(model, ArmModel) else model.arm
    q = position(arm, args)
    gravity, holding, acceleration = external_force(
        **given(args) | {'arm': model, 'wrench': args.wrench, 'q': q})
    within = np.abs(holding) <= arm.limits.effort
    keys = ('name', 'wrench', 'gravity', 'holding', 'acceleration', 'within_limit')
    joints = [dict(zip(keys, values, strict=True)) for values in zip(
        arm.joint_names, gravity - holding, gravity, holding, acceleration, within, strict=True)]
    table = [['joint', 'by wrench', 'by gravity', 'to hold', 'limit', 'acceleration']]
    for own, limit, torque, rate in zip(
            joints, arm.limits.effort, joint_units('Nm', arm.prismatic),
            joint_units('rad/s²', arm.prismatic), strict=True):
        table.append([
            own['name'], *(f'{round(value, 3) + 0.0:.3f} {torque}' for value in (
                own['wrench'], -own['gravity'], own['holding'])), plain(limit, 4, torque),
            f'{round(own["acceleration"], 3) + 0.0:.3f} {rate}',
            *([] if own['within_limit'] else ['above its limit'])])
    exceeded = [own['name'] for own in joints if not own['within_limit']]
    return Answer(
        {'arm': arm.name, 'body': args.body, 'q': q, 'joints': joints},
        f'Not held: {several(exceeded)} would exceed the effort limit.' if exceeded else
        f'Held: every joint of {arm.name} stays within its effort limit.',
        int(bool(exceeded)), table)
