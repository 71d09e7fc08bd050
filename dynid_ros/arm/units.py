"""Units of the standard parameters and of torque, which differ for sliding joints."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel, CouplingColumn

_INERTIAL = ('kg', *3 * ('kg m',), *6 * ('kg m²',))
_COUPLING = {'qdd': 'kg m²', 'qd': 'Nm s/rad', 'sign_qd': 'Nm'}


def torque_units(arm: ArmModel) -> tuple[str, ...]:
    """Nm for each joint that turns and N for each that slides."""
    return tuple('N' if sliding else 'Nm' for sliding in arm.prismatic)


def parameter_units(arm: ArmModel) -> tuple[str, ...]:
    """SI unit of every column of ``arm.layout``."""
    rotor = ('kg m²',) if arm.rotor_inertia else ()
    drive = (*rotor, *(term.unit for term in friction_terms(arm.friction)))
    units: list[str] = []
    for sliding in arm.prismatic:
        units += [*_INERTIAL, *(_of_sliding(unit) if sliding else unit for unit in drive)]
    units += [_of_coupling(column, arm) for column in arm.coupling]
    return tuple(units)


def _of_sliding(unit: str) -> str:
    return unit.replace('kg m²', 'kg').replace('Nm', 'N').replace('rad', 'm')


def _of_coupling(column: CouplingColumn, arm: ArmModel) -> str:
    # Between a turning and a sliding joint no unit fits both rows; that of rotation is taken.
    involved = np.any(column.matrix != 0, axis=0) | np.any(column.matrix != 0, axis=1)
    unit = _COUPLING[column.quantity]
    return _of_sliding(unit) if arm.prismatic[involved].all() else unit
