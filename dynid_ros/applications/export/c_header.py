# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An identified model as a C header without dependencies."""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any

from dynid_ros.applications.export.friction_code import FRICTION_CODE
from dynid_ros.applications.export.standalone import numbers_of
from dynid_ros.arm.model import ArmModel

#: The header, with names in braces for the numbers of an arm.
HEADER_TEMPLATE = Path(__file__).with_name('templates') / 'arm.h.template'


def header_of(arm: ArmModel) -> str:
    """
    Write a C header that computes gravity, inverse dynamics and friction of an arm.

    Parameters
    ----------
    arm : ArmModel
        With nominal inertial parameters, rotor inertia and friction.

    Raises
    ------
    ArmError
        Joints are coupled, which the file has no terms for.

    """
    numbers = numbers_of(arm, 'C header')
    friction = numbers.pop('friction')
    shape = {name: numbers.pop(name) for name in ('smooth', 'stribeck')}
    name = re.sub(r'\W+', '_', arm.name)
    prefix = name if name[:1].isalpha() else f'arm_{name}'
    lines = ''.join(f'    tau[j] += k[{k}][j] * {FRICTION_CODE[term][1].format(**shape)};\n'
                    for k, term in enumerate(friction))
    joints = numbers.pop('joints')
    return HEADER_TEMPLATE.read_text(encoding='utf-8').format(
        name=arm.name.replace('*/', ''), prefix=prefix, guard=f'{prefix.upper()}_DYNAMICS_H',
        joints=', '.join(joints).replace('*/', ''), n=arm.n, m=arm.links, lines=lines,
        terms=', '.join(friction) or 'none', count=max(len(friction), 1),
        friction=_braces([*friction.values()] or [[0.0] * arm.n]),
        warm_seconds=numbers.pop('warm_seconds'), distance=numbers.pop('distance'),
        **{key: _braces(value) for key, value in numbers.items()})


def _braces(value: Any) -> str:
    """Write nested lists of numbers as an initialiser of C."""
    if isinstance(value, list):
        return '{' + ', '.join(map(_braces, value)) + '}'
    return str(int(value)) if isinstance(value, (bool, int)) else repr(value)
