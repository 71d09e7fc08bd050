"""
Compute the joint torques of a wrench on a body.

Torque that holds an arm at rest under a wrench, and the acceleration of the joints if the drives
only held the arm against gravity. Status 1 if a joint would exceed its effort limit.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.interface.cli.common.arguments import (
    add_position,
    arm_or_result,
    finite,
    position,
)
from dynid_ros.interface.cli.common.output import add_answer, answer
from dynid_ros.utilities.text import plain, several


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'arm', metavar='ARM', help='a shipped arm, an arm.yaml, or a folder of dynid identify')
    parser.add_argument(
        '--body', default='tool', help='tool, or the joint that moves the link (default: tool)')
    parser.add_argument(
        '--wrench', nargs='+', type=finite, required=True, metavar='W',
        help='moments and forces Tx Ty Tz Fx Fy Fz on the body, Nm and N, in its frame')
    parser.add_argument(
        '--in-base', action='store_true',
        help='the wrench is in the base frame, its moment about the origin of that frame')
    add_position(parser)
    parser.add_argument('--deg', action='store_true', help='--at is in degrees')
    add_answer(parser)


def run(args: Namespace) -> int:
    """Print torque and acceleration joint by joint; status 1 if a limit is exceeded."""
    import numpy as np

    from dynid_ros.interface.python.statics import external_force

    result, arm = arm_or_result(args.arm)
    q = position(arm, args.at, args.deg)
    gravity, holding, acceleration = external_force(
        result or arm, args.wrench, q, body=args.body, in_base=args.in_base)
    over = np.abs(holding) > arm.limits.effort
    rows = [
        {'name': name, 'wrench': float(gravity[i] - holding[i]), 'gravity': float(gravity[i]),
         'holding': float(holding[i]), 'acceleration': float(acceleration[i]),
         'within_limit': not bool(over[i])}
        for i, name in enumerate(arm.joint_names)
    ]
    exceeded = [name for name, beyond in zip(arm.joint_names, over, strict=True) if beyond]
    answer(args, {'arm': arm.name, 'body': args.body, 'q': q.tolist(), 'joints': rows},
           f'Not held: {several(exceeded)} would exceed the effort limit.' if exceeded else
           f'Held: every joint of {arm.name} stays within its effort limit.',
           table=_table(arm, rows))
    return 1 if exceeded else 0


def _table(arm: Any, rows: list[dict[str, Any]]) -> list[list[str]]:
    units = zip(*(joint_units(unit, arm.prismatic) for unit in ('Nm', 'rad/s²')), strict=True)
    table = [['joint', 'by wrench', 'by gravity', 'to hold', 'limit', 'acceleration']]
    for row, limit, (torque, rate) in zip(rows, arm.limits.effort, units, strict=True):
        by = [f'{round(value, 3) + 0.0:.3f} {torque}'
              for value in (row['wrench'], -row['gravity'], row['holding'])]
        table.append([row['name'], *by, plain(limit, 4, torque),
                      f'{round(row["acceleration"], 3) + 0.0:.3f} {rate}',
                      *([] if row['within_limit'] else ['above its limit'])])
    return table
