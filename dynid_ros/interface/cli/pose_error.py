# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compute the tool's pose error from geometry and joint errors.

Propagate the tolerances of an arm to the pose of its tool, and list the share of each source.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_described,
    add_output,
    add_position,
    given,
    number,
    position,
)
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import columns, plain

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget
    from dynid_ros.utilities.arrays import Array

#: Positions over the limits, positions of a picture, and sources that are listed.
RANDOM_POSITIONS, DRAWN_POSITIONS, LISTED_SOURCES = 500, 40, 5


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
    from dynid_ros.interface.python.statics import pose_error
    from dynid_ros.utilities.atomic_write import check_output

    arm, wrote = load_arm(args.arm), [args.output] if args.output else []
    check_output(*wrote)
    q = workspace_states(arm, RANDOM_POSITIONS) if args.workspace else position(arm, args)[None]
    budget = pose_error(**given(args) | {
        'arm': arm, 'q': q, 'angle_std': np.radians(args.angle_std),
        'length_std': 1e-3 * args.length_std})
    if wrote:
        _draw(arm, budget, args)
    groups = [(group, turn, own) for group, (turn, own) in budget.by_group().items()]
    total, turn = _rms(budget.position_std), _rms(budget.rotation_std)
    largest = [(source.label(arm), share) for source, share in budget.largest(LISTED_SOURCES)]
    facts = {
        'arm': arm.name, 'body': args.body, 'positions': len(q), 'rotation_std': turn,
        'position_std': total, 'assumed': arm.tolerances is None,
        'groups': [dict(zip(('group', 'rotation_std', 'position_std'), each, strict=True))
                   for each in groups],
        'largest': [{'source': label, 'share': share} for label, share in largest],
        'worst': {'q': q[budget.worst], 'place': budget.place[budget.worst],
                  'position_std': budget.position_std.max()}}
    of_what = (f'root mean square over {len(q)} positions' if len(q) > 1 else
               f'at q = {_numbers(q[0])}')
    table = [['source', 'rotation', 'place', 'share of place'], *(
        [group, f'{np.degrees(turn):.4f}°', f'{1e3 * own:.4f} mm',
         f'{100 * own**2 / total**2 if total else 0.0:.1f} %']
        for group, turn, own in (*groups, ('all', turn, total)))]
    return Answer(
        facts, f'The {args.body} stands within {plain(1e3 * total)} mm and '
        f'{plain(np.degrees(turn))} degrees of its pose (one standard deviation, {of_what}).',
        table=table, wrote=wrote, details=_details(budget, largest), notes=[
            f'The arm states no tolerances: {args.angle_std:g} degrees for every angle and '
            f'{args.length_std:g} mm for every length are assumed.'] * facts['assumed'])


def _details(budget: Budget, largest: list[tuple[str, float]]) -> Iterator[str]:
    """List the largest single sources, and the position with the largest error."""
    yield 'Largest single sources of the place:'
    yield from columns([[label, f'{100 * share:.1f} %'] for label, share in largest])
    if len(budget.q) > 1:
        yield (f'The largest, {1e3 * budget.position_std.max():.4f} mm, is at q = '
               f'{_numbers(budget.q[budget.worst])}.')


def _rms(values: Array) -> float:
    return float((values**2).mean()**0.5)


def _numbers(values: Array) -> str:
    return '[' + ', '.join(f'{value:.4g}' for value in values) + ']'


def _draw(arm: ArmModel, budget: Budget, args: Namespace) -> None:
    import numpy as np

    from dynid_ros.dynamics.kinematics.pose_error import error_jacobian
    from dynid_ros.dynamics.kinematics.pose_uncertainty import propagated_covariance
    from dynid_ros.pages.report.arm_picture import arm_picture, save_picture

    chosen = np.arange(len(budget.q)) if len(budget.q) <= DRAWN_POSITIONS else np.append(
        np.arange(DRAWN_POSITIONS), budget.worst)
    jacobian = error_jacobian(arm, budget.q[chosen], args.body, budget.sources)
    covariances = propagated_covariance(jacobian, budget.std)[:, 3:, 3:]
    save_picture(
        arm_picture(arm, budget.q[chosen], covariances, body=args.body, drawn=len(chosen) - 1),
        args.output)
