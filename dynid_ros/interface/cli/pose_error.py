"""
Compute the tool's pose error from geometry and joint errors.

Propagate the tolerances of an arm to the pose of its tool, and list the share of each source.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dynid_ros.interface.cli.common.arguments import (
    add_position,
    position,
    positive,
)
from dynid_ros.interface.cli.common.output import add_answer, answer

STATES = 500
DRAWN = 40
LARGEST = 5


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('arm', metavar='ARM', help='a shipped arm, or the path of an arm.yaml')
    where = parser.add_mutually_exclusive_group()
    add_position(where)
    where.add_argument(
        '--workspace', action='store_true',
        help=f'{STATES} positions spread over the limits instead of one')
    parser.add_argument('--deg', action='store_true', help='--at is in degrees')
    parser.add_argument(
        '--body', default='tool', help='tool, or the joint that moves the link (default: tool)')
    parser.add_argument(
        '--angle-std', type=positive, default=0.05, metavar='DEG',
        help='standard deviation of every angle of an arm without tolerances (default: 0.05)')
    parser.add_argument(
        '--length-std', type=positive, default=0.2, metavar='MM',
        help='standard deviation of every length of an arm without tolerances (default: 0.2)')
    parser.add_argument(
        '-o', '--output', type=Path, metavar='FILE', help='picture, .svg, .png or .pdf')
    add_answer(parser)


def run(args: Namespace) -> int:
    """Print the budget of errors and draw it."""
    import numpy as np

    from dynid_ros.arm import load_arm
    from dynid_ros.dynamics.kinematics.error_sources import uniform_tolerances
    from dynid_ros.dynamics.kinematics.pose_uncertainty import error_budget, workspace_states
    from dynid_ros.interface.cli.common.budget_table import (
        budget_as_dict,
        budget_details,
        budget_line,
        budget_table,
    )
    from dynid_ros.utilities.atomic_write import check_output

    arm = load_arm(args.arm)
    if args.output:
        check_output(args.output)
    assumed = arm.tolerances is None
    tolerances = arm.tolerances or uniform_tolerances(
        arm, np.radians(args.angle_std), 1e-3 * args.length_std)
    q = (workspace_states(arm, STATES) if args.workspace
         else position(arm, args.at, args.deg)[None])
    budget = error_budget(arm, q, tolerances, args.body)
    if args.output:
        _draw(arm, budget, tolerances, args)
    notes = [f'The arm states no tolerances: {args.angle_std:g} degrees for every angle and '
             f'{args.length_std:g} mm for every length are assumed.'] if assumed else []
    answer(args, budget_as_dict(arm, budget, args.body, LARGEST) | {'assumed': assumed},
           budget_line(budget, args.body), table=budget_table(budget), notes=notes,
           details=budget_details(arm, budget, LARGEST),
           wrote=[args.output] if args.output else [])
    return 0


def _draw(arm: Any, budget: Any, tolerances: Any, args: Namespace) -> None:
    import numpy as np

    from dynid_ros.dynamics.kinematics.error_sources import standard_deviations
    from dynid_ros.dynamics.kinematics.pose_error import error_jacobian
    from dynid_ros.dynamics.kinematics.pose_uncertainty import propagated_covariance
    from dynid_ros.pages.report.arm_picture import arm_picture, save_picture

    chosen = np.arange(len(budget.q)) if len(budget.q) <= DRAWN else np.append(
        np.arange(DRAWN), budget.worst)
    std = standard_deviations(budget.sources, tolerances)
    jacobian = error_jacobian(arm, budget.q[chosen], args.body, budget.sources)
    covariances = propagated_covariance(jacobian, std)[:, 3:, 3:]
    save_picture(
        arm_picture(arm, budget.q[chosen], covariances, body=args.body, drawn=len(chosen) - 1),
        args.output)
