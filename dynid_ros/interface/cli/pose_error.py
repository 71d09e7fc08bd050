# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compute the tool's pose error from geometry and joint errors.

Propagate the tolerances of an arm to the pose of its tool, and list the share of each source.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output, add_position, position
from dynid_ros.interface.cli.common.described import add_described, given, number

#: Positions over the limits.
RANDOM_POSITIONS = 500


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'pose_error', {'arm': 'ARM', 'body': '--body'})
    add_position(parser).add_argument(
        '--workspace', action='store_true',
        help=f'{RANDOM_POSITIONS} positions spread over the limits instead of one')
    for name, unit, default in (('angle', 'DEG', 0.05), ('length', 'MM', 0.2)):
        parser.add_argument(
            f'--{name}-std', type=number('Positive'), default=default, metavar=unit,
            help=f'standard deviation of every {name} of an arm without tolerances (default: '
                 '%(default)s)')
    add_output(parser, 'picture, .svg, .png or .pdf', required=False)


def run(args: Namespace) -> Answer:
    """State the budget of errors and draw it."""
    import numpy as np

    from dynid_ros.arm import load_arm
    from dynid_ros.dynamics.kinematics.pose_uncertainty import workspace_states
    from dynid_ros.interface.answers.statics import pose_answer
    from dynid_ros.interface.python.statics import pose_error
    from dynid_ros.pages.report.arm_picture import pose_picture, save_picture
    from dynid_ros.utilities.atomic_write import check_output

    arm, wrote = load_arm(args.arm), [args.output] if args.output else []
    check_output(*wrote)
    q = workspace_states(arm, RANDOM_POSITIONS) if args.workspace else position(arm, args)[None]
    budget = pose_error(**given(args) | {
        'arm': arm, 'q': q, 'angle_std': np.radians(args.angle_std),
        'length_std': 1e-3 * args.length_std})
    if wrote:
        save_picture(pose_picture(arm, budget, args.body), args.output)
    return pose_answer(budget, arm, args.body, args.angle_std, args.length_std, wrote)
