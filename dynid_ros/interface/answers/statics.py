# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answers for an arm at rest: torque under a wrench, and the pose error of its tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import columns, plain, several

#: Single sources of error that are listed.
LISTED_SOURCES = 5


def force_answer(
    effect: tuple[Array, Array, Array], arm: ArmModel, q: Array, body: str,
) -> Answer:
    """State torque and acceleration joint by joint; status 1 if a limit is exceeded."""
    gravity, holding, acceleration = effect
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
        {'arm': arm.name, 'body': body, 'q': q, 'joints': joints},
        f'Not held: {several(exceeded)} would exceed the effort limit.' if exceeded else
        f'Held: every joint of {arm.name} stays within its effort limit.',
        int(bool(exceeded)), table)


def pose_answer(
    budget: Budget, arm: ArmModel, body: str, angle_std: float, length_std: float,
    wrote: Sequence[Path] = (),
) -> Answer:
    """State the pose error by its sources; deviations are those of an arm without tolerances."""
    groups = [(group, turn, own) for group, (turn, own) in budget.by_group().items()]
    total, turn = _rms(budget.position_std), _rms(budget.rotation_std)
    largest = [(source.label(arm), share) for source, share in budget.largest(LISTED_SOURCES)]
    facts = {
        'arm': arm.name, 'body': body, 'positions': len(budget.q), 'rotation_std': turn,
        'position_std': total, 'assumed': arm.tolerances is None,
        'groups': [dict(zip(('group', 'rotation_std', 'position_std'), each, strict=True))
                   for each in groups],
        'largest': [{'source': label, 'share': share} for label, share in largest],
        'worst': {'q': budget.q[budget.worst], 'place': budget.place[budget.worst],
                  'position_std': budget.position_std.max()}}
    of_what = (f'root mean square over {len(budget.q)} positions' if len(budget.q) > 1 else
               f'at q = {_numbers(budget.q[0])}')
    table = [['source', 'rotation', 'place', 'share of place'], *(
        [group, f'{np.degrees(turn):.4f}°', f'{1e3 * own:.4f} mm',
         f'{100 * own**2 / total**2 if total else 0.0:.1f} %']
        for group, turn, own in (*groups, ('all', turn, total)))]
    return Answer(
        facts, f'The {body} stands within {plain(1e3 * total)} mm and '
        f'{plain(np.degrees(turn))} degrees of its pose (one standard deviation, {of_what}).',
        table=table, wrote=wrote, details=_details(budget, largest), notes=[
            f'The arm states no tolerances: {angle_std:g} degrees for every angle and '
            f'{length_std:g} mm for every length are assumed.'] * (arm.tolerances is None))


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
