# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Denavit-Hartenberg tables, modified (Craig) and standard, as placements of joint frames.

Modified: T(i-1, i) = Rx(alpha) Tx(a) Rz(q + theta) Tz(d), so that joint i turns about the z axis
of the frame at the end of its row (Craig, Introduction to Robotics, eq. 3.6).

Standard: T(i-1, i) = Rz(q + theta) Tz(d) Tx(a) Rx(alpha). Joint i turns about the z axis of the
frame before ``Tx(a) Rx(alpha)``, which is the frame of link i in this package: a and alpha of a
row move to the placement of the next joint, and in the last row they would only place a tool.
Inertial parameters of link i are therefore given in the frame after ``Rz(q + theta) Tz(d)``.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.schema import Section, units
from dynid_ros.arm.description.tree import (
    Description,
    JointLimits,
    KinematicTree,
    Placement,
    rotation_rpy,
)
from dynid_ros.arm.description.urdf_xml import LARGEST_IN_URDF
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

DH_COLUMNS = ('alpha', 'a', 'd', 'theta')
_ANGLES = ('alpha', 'theta')
# As in -pi/2, 3*pi/4 and 0.5 pi.
_PI = re.compile(r'\s*([-+]?)\s*(?:(\d+\.?\d*|\.\d+)\s*\*?\s*)?(?:pi|π)\s*(?:/\s*([1-9]\d*))?\s*',
                 re.IGNORECASE)


def dh_placements(table: Array, *, modified: bool) -> tuple[Array, Array]:
    """
    Placements of the joint frames in the link frames of their parents, at q = 0.

    Parameters
    ----------
    table : (n, 4) ndarray
        Columns alpha, a, d, theta; rad and m.
    modified : bool
        Craig's convention; else the standard one.

    Returns
    -------
    rotation : (n, 3, 3) ndarray
        The joint axis is z.
    translation : (n, 3) ndarray
        m.

    """
    alpha, a, d, theta = np.asarray(table, dtype=float).T
    if not modified:
        alpha, a = np.concatenate(([0.0], alpha[:-1])), np.concatenate(([0.0], a[:-1]))
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    zero = np.zeros_like(alpha)
    rotation = np.array([
        [ct, -st, zero],
        [st * ca, ct * ca, -sa],
        [st * sa, ct * sa, ca],
    ])
    translation = np.array([a, -d * sa, d * ca])
    return np.ascontiguousarray(rotation.transpose(2, 0, 1)), np.ascontiguousarray(translation.T)


def read_dh(section: Section, joints: tuple[str, ...], *, modified: bool) -> Description:
    """
    Read a serial chain from the ``mdh`` or ``dh`` section of an ``arm.yaml``.

    Parameters
    ----------
    section : Section
        With the keys ``units`` and ``rows``; each row a mapping of alpha, a, d, theta and, for a
        prismatic joint, ``kind: prismatic``.
    joints : tuple of str
        Names of the joints; ``joint_1`` and so on where empty.
    modified : bool
        Craig's convention; else the standard one.

    Raises
    ------
    ArmError
        A column is missing or not a number, a key or unit is unknown, or names and rows differ
        in number; names the file, the row (from 1) and the key.

    """
    table, prismatic = _table(section)
    n = len(table)
    if joints and len(joints) != n:
        raise ArmError(f'{section.path} names {len(joints)} joints, but "{section.place}" has '
                       f'{n} rows; give one row a joint')
    rotation, translation = dh_placements(table, modified=modified)
    alpha, a = (0.0, 0.0) if modified else table[-1, :2]
    return Description(
        tree=KinematicTree.chain(joints or tuple(f'joint_{i + 1}' for i in range(n)),
                                 rotation, translation, prismatic),
        limits=JointLimits.unknown(n),
        dh='mdh' if modified else 'dh',
        tool=Placement(rotation_rpy([alpha, 0.0, 0.0]), np.array([a, 0.0, 0.0])),
    )


def _table(section: Section) -> tuple[Array, NDArray[np.bool_]]:
    """Read the rows in rad and m, (n, 4), and which joints are prismatic, (n,)."""
    length, angle = units(section)
    scale = (angle, length, length, angle)
    parsed = [_row(row, scale) for row in section.sections('rows', (*DH_COLUMNS, 'kind'), 'row')]
    if not parsed:
        raise section.error('rows', 'must be a list with one row a joint')
    table = np.array([row for row, _ in parsed])
    if (longest := np.abs(table[:, 1:3]).max()) >= LARGEST_IN_URDF:
        raise section.error('rows', f'holds a length of {longest:g} m, which no arm has')
    return table, np.array([kind == 'prismatic' for _, kind in parsed])


def _row(row: Section, scale: tuple[float, ...]) -> tuple[list[float], str]:
    values = []
    for key, factor in zip(DH_COLUMNS, scale, strict=True):
        text = row.raw(key)
        # Multiples of pi are radians, whatever the unit of the numbers.
        found = _PI.fullmatch(text) if isinstance(text, str) and key in _ANGLES else None
        if found:
            sign, times, below = found.groups()
            values.append(float(f'{sign}{times or 1}') * np.pi / float(below or 1))
            continue
        values.append(factor * row.needed(key, row.number(key)))
    return values, row.choice('kind', ('revolute', 'prismatic'), 'revolute')
