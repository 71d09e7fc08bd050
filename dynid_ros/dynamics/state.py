# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""States given by users: one or a batch; missing rates are zero."""

from __future__ import annotations

from typing import NamedTuple
import warnings

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import DynidWarning, InputError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import numbers


class LimitWarning(DynidWarning):
    """A position lies outside the limits of its joint."""


class States(NamedTuple):
    """States of an arm, (N, n) each, and whether just one of them was given."""

    q: Array
    rates: tuple[Array, ...]
    single: bool

    def shaped(self, result: Array) -> Array:
        """Return a result (N, ...) in the shape of the input: one state or a batch."""
        return result[0] if self.single else result


def as_states(
    arm: ArmModel, q: ArrayLike, forces: int | None = None, /, **rates: ArrayLike | None,
) -> States:
    """
    Read one state or a batch.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) or (N, n) array_like
        Positions, rad or m.
    forces : int, optional
        Number of external forces, if there is one for each state.
    **rates : (n,) or (N, n) array_like, or None
        Further quantities by name; None or empty means zero. A single row, or a number for all
        joints, applies to all positions.

    Raises
    ------
    InputError
        A shape is wrong or a value is not finite; names the quantity.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    """
    given = {'q': _read(arm, 'q', q)}
    for name, value in rates.items():
        rate = numbers(name, 0.0 if value is None else value)
        all_joints = rate.ndim == 0 or rate.size == 0
        given[name] = _read(arm, name, np.full(arm.n, rate if rate.size else 0.0)
                            if all_joints else rate)
    counts = {name: len(x) for name, x in given.items() if x.ndim == 2}
    if forces is not None:
        counts['fext'] = forces
    first = next(iter(counts), '')
    for name, count in counts.items():
        if count != counts[first]:
            raise InputError(f'{first} has {counts[first]} states, but {name} has {count}')
    positions, *others = (
        np.ascontiguousarray(np.broadcast_to(x, (counts.get(first, 1), arm.n)))
        for x in given.values())
    warn_outside(arm, positions)
    return States(positions, tuple(others), not counts)


def warn_outside(arm: ArmModel, q: Array) -> None:
    """Warn of the position (N, n) that lies farthest outside the limits of its joint."""
    beyond = np.maximum(arm.limits.lower - q, q - arm.limits.upper)
    if beyond.size and beyond.max() > 0:
        k, joint = np.unravel_index(int(beyond.argmax()), beyond.shape)
        warnings.warn(
            f"q of joint '{arm.joint_names[joint]}' is {q[k, joint]:.4g}, outside its limits "
            f'{arm.limits.lower[joint]:.4g} to {arm.limits.upper[joint]:.4g}; give a '
            'position within them', LimitWarning, stacklevel=4)


def _read(arm: ArmModel, name: str, value: ArrayLike) -> Array:
    array = numbers(name, value)
    if array.ndim not in (1, 2) or array.shape[-1] != arm.n:
        raise InputError(
            f"{name} must be ({arm.n},) or (N, {arm.n}) for the {arm.n} joints of '{arm.name}', "
            f'not {array.shape}')
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(np.atleast_2d(array)))[0]
        raise InputError(f"{name} of joint '{arm.joint_names[place[1]]}' is not finite")
    return array
