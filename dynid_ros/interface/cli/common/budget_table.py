"""The error budget as a table and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import arm_base
from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import columns, plain

ZONES = ('near third', 'middle third', 'far third')


def budget_line(budget: Budget, body: str) -> str:
    """State the standard deviation of the pose in a line."""
    place, turn = _rms(budget.position_std), np.degrees(_rms(budget.rotation_std))
    of_what = (f'root mean square over {len(budget.q)} positions' if len(budget.q) > 1 else
               f'at q = {_numbers(budget.q[0])}')
    return (f'The {body} stands within {plain(1e3 * place)} mm and {plain(turn)} degrees of its '
            f'pose (one standard deviation, {of_what}).')


def budget_table(budget: Budget) -> list[list[str]]:
    """Shares of the groups of sources."""
    total = _rms(budget.position_std)
    rows = [(group, turn, own, 100 * own**2 / total**2 if total else 0.0)
            for group, (turn, own) in budget.by_group().items()]
    rows.append(('all', _rms(budget.rotation_std), total, 100.0))
    return [['source', 'rotation', 'place', 'share of place'], *(
        [group, f'{np.degrees(turn):.4f}°', f'{1e3 * own:.4f} mm', f'{share:.1f} %']
        for group, turn, own, share in rows)]


def budget_details(arm: ArmModel, budget: Budget, count: int) -> list[str]:
    """List the largest single sources, and the error by distance from the base."""
    lines = ['Largest single sources of the place:', *columns([
        [source.label(arm), f'{100 * share:.1f} %'] for source, share in budget.largest(count)])]
    if len(budget.q) > 1:
        lines += ['Standard deviation of the place by distance from the base:', *columns([
            [name, f'{low:.3f} to {high:.3f} m', f'{1e3 * std:.4f} mm']
            for name, low, high, std in _zones(arm, budget)]),
            f'The largest, {1e3 * budget.position_std.max():.4f} mm, is at q = '
            f'{_numbers(budget.q[budget.worst])}.']
    return lines


def budget_as_dict(arm: ArmModel, budget: Budget, body: str, count: int) -> dict[str, Any]:
    """Return the same facts under stable keys; rad and m."""
    return {
        'arm': arm.name,
        'body': body,
        'positions': len(budget.q),
        'rotation_std': float(np.sqrt((budget.rotation_std**2).mean())),
        'position_std': float(np.sqrt((budget.position_std**2).mean())),
        'groups': [{'group': group, 'rotation_std': turn, 'position_std': shift}
                   for group, (turn, shift) in budget.by_group().items()],
        'largest': [{'source': source.label(arm), 'share': share}
                    for source, share in budget.largest(count)],
        'worst': {'q': budget.q[budget.worst].tolist(),
                  'place': budget.place[budget.worst].tolist(),
                  'position_std': float(budget.position_std.max())},
    }


def _rms(values: Array) -> float:
    return float(np.sqrt((values**2).mean()))


def _zones(arm: ArmModel, budget: Budget) -> list[tuple[str, float, float, float]]:
    distance = np.linalg.norm(budget.place - arm_base(arm).translation, axis=1)
    order = np.array_split(np.argsort(distance), len(ZONES))
    return [
        (name, float(distance[own].min()), float(distance[own].max()),
         float(np.sqrt((budget.position_std[own] ** 2).mean())))
        for name, own in zip(ZONES, order, strict=True)
    ]


def _numbers(values: Any) -> str:
    return '[' + ', '.join(f'{value:.4g}' for value in values) + ']'
