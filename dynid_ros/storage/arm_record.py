"""The arm as it stands in a result: every field, so that a result needs no other file."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.storage.plain import from_plain, to_plain


def arm_to_plain(arm: ArmModel) -> dict[str, Any]:
    """Turn an arm into plain values of YAML."""
    plain: dict[str, Any] = to_plain(arm, ArmModel)
    return plain


def arm_from_plain(data: Any) -> ArmModel:
    """
    Turn plain values back into an arm.

    Raises
    ------
    ValueError
        A field is missing, unknown or of the wrong shape; the message names it.

    """
    arm: ArmModel = from_plain(data, ArmModel, 'arm')
    _check_shapes(arm)
    # The kernels walk the tree without looking whether an index exists.
    if not all(-1 <= parent < i for i, parent in enumerate(arm.parent.tolist())):
        raise ValueError('arm.parent does not describe a tree')
    return arm


def _check_shapes(arm: ArmModel) -> None:
    n = arm.n
    arrays: list[tuple[str, Any, tuple[int, ...]]] = [
        ('parent', arm.parent, (n,)),
        ('rotation', arm.rotation, (n, 3, 3)),
        ('translation', arm.translation, (n, 3)),
        ('prismatic', arm.prismatic, (n,)),
        ('axis', arm.axis, (n, 3)),
        ('gravity', arm.gravity, (3,)),
        ('inertial', arm.inertial, (n, 10)),
        ('rotor_nominal', arm.rotor_nominal, (n,)),
        ('drive.gain', arm.drive.gain, (n,)),
        ('drive.transmission', arm.drive.transmission, (n, n)),
        ('drive.offset', arm.drive.offset, (n,)),
    ]
    arrays += [(f'limits.{name}', value, (n,)) for name, value in vars(arm.limits).items()]
    arrays += [(f'friction_nominal.{name}', value, (n,))
               for name, value in arm.friction_nominal.items()]
    arrays += [(f'coupling {column.name}', column.matrix, (n, n)) for column in arm.coupling]
    for name, value, shape in arrays:
        if value is not None and np.shape(value) != shape:
            raise ValueError(f'arm.{name} has the shape {np.shape(value)} instead of {shape}')
