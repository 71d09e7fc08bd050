"""The error budget as a table and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import arm_base
from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget

ZONES = ('near third', 'middle third', 'far third')


def budget_lines(arm: ArmModel, budget: Budget, body: str, count: int) -> list[str]:
    """Lines for users."""
    groups = budget.by_group()
    total = float(np.sqrt((budget.position_std**2).mean()))
    turn = float(np.sqrt((budget.rotation_std**2).mean()))
    lines = [_heading(arm, budget, body)]
    lines += ['', f'{"source":14}{"rotation, deg":>15}{"place, mm":>12}{"share of place":>16}']
    for group, (own_turn, own) in groups.items():
        share = 100 * own**2 / total**2 if total else 0.0
        lines.append(f'{group:14}{np.degrees(own_turn):15.4f}{1e3 * own:12.4f}{share:14.1f} %')
    lines.append(f'{"all":14}{np.degrees(turn):15.4f}{1e3 * total:12.4f}{100:14.1f} %')
    largest = budget.largest(count)
    if largest:
        lines += ['', 'largest single sources of the place:']
        lines += [f'  {source.label(arm):42}{100 * share:6.1f} %' for source, share in largest]
    if len(budget.q) > 1:
        lines += ['', 'standard deviation of the place by distance from the base:']
        lines += [f'  {name:14}{low:7.3f} to {high:.3f} m{1e3 * std:12.4f} mm'
                  for name, low, high, std in _zones(arm, budget)]
        lines += ['', f'largest, {1e3 * budget.position_std.max():.4f} mm, at q = '
                  + _numbers(budget.q[budget.worst])]
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


def _heading(arm: ArmModel, budget: Budget, body: str) -> str:
    if len(budget.q) > 1:
        return (f'{arm.name}: standard deviations of the {body}, root mean square over '
                f'{len(budget.q)} positions')
    return (f'{arm.name}: standard deviations of the {body} at q = {_numbers(budget.q[0])}, '
            f'place {_numbers(budget.place[0])} m')


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
