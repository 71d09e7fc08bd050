# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Models of robot arms: URDF and DH readers, drive, friction terms and ``arm.yaml``.

Each name is imported when it is first used: the help of commands needs none of the readers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from dynid_ros.arm.description.tree import JointLimits, LimitMargins
    from dynid_ros.arm.drive import Drive
    from dynid_ros.arm.friction import friction_terms, FrictionShape, FrictionTerm
    from dynid_ros.arm.load import load_arm
    from dynid_ros.arm.model import ArmModel, Conditioning, CouplingColumn, Table
    from dynid_ros.arm.parameters import ParameterLayout
    from dynid_ros.arm.shipped import shipped_arms

__all__ = [
    'ArmModel', 'Conditioning', 'CouplingColumn', 'Drive', 'FrictionShape', 'FrictionTerm',
    'JointLimits', 'LimitMargins', 'ParameterLayout', 'Table', 'friction_terms', 'load_arm',
    'shipped_arms',
]
_PLACES = {
    'description.tree': ('JointLimits', 'LimitMargins'),
    'drive': ('Drive',),
    'friction': ('FrictionShape', 'FrictionTerm', 'friction_terms'),
    'load': ('load_arm',),
    'model': ('ArmModel', 'Conditioning', 'CouplingColumn', 'Table'),
    'parameters': ('ParameterLayout',),
    'shipped': ('shipped_arms',),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f'{__name__}.{module}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
