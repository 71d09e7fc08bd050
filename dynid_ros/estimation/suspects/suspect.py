# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A suspect: data and arm with one or more faults corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.blocks.groups import groups_of_samples
from dynid_ros.estimation.suspects.suspect_rows import SuspectRows
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several, within

#: Gravity if the arm states none, m/s², and a direction along no axis of any arm, for which the
#: number of base parameters is largest.
WEIGHT, GENERIC = 9.81, np.array([0.36, 0.48, -0.8])
#: Prior standard deviation of the logarithm of a ratio of lengths or times, the size of a wrong
#: gain that a recording should detect, and that of a wrong length or time.
TWICE, A_FIFTH = float(np.log(2.0)), float(np.log(1.2))
#: Columns that an exchange concerns, by code.
EXCHANGES = {'effort_exchanged': 'drive signals', 'position_exchanged': 'positions',
             'joint_exchanged': 'positions and drive signals'}


@dataclass(frozen=True)
class Fault:
    """
    One fault of the data or of the arm.

    Attributes
    ----------
    code : str
        Kind of the fault, such as ``effort_sign``.
    joints : tuple of int
        Joints that it concerns.
    text : str
        The fault, a clause.
    remedy : str
        What to do, a clause.
    typical : bool
        Whether a recording should detect this fault, if it has no size.

    """

    code: str
    joints: tuple[int, ...]
    text: str
    remedy: str
    typical: bool = False


@dataclass(frozen=True, eq=False)
class Size:
    """
    Size of a fault: one number or several.

    Attributes
    ----------
    make : callable
        Maps a size (m,) to its suspect.
    x : (m,) ndarray
        Size of this suspect.
    std : (m,) ndarray
        Prior standard deviation.
    typical : float
        Size that a recording should detect.
    is_factor : bool
        Whether it is the logarithm of a factor instead of an angle, rad.
    measure : callable
        Maps a size (m,) to its distance from no fault, in the unit of `typical`; by default its
        value, or its norm if there are several.
    coordinates : callable
        Maps another suspect of the same fault to its size (m,) in the coordinates of this one; by
        default those that it has itself.

    """

    make: Callable[[Array], Suspect]
    x: Array
    std: Array
    typical: float
    is_factor: bool
    measure: Callable[[Array], float]
    coordinates: Callable[[Suspect], Array]

    @property
    def distance(self) -> float:
        """Return the distance from no fault."""
        return self.measure(self.x)

    def words(self, value: float, half: float | None = None) -> str:
        """Write a size, with its interval if half of it is given."""
        if self.is_factor:
            factor = float(np.exp(value))
            return (f'{factor:.3g} times' if half is None
                    else within(factor, factor * half, 'times'))
        degrees = float(np.degrees(value))
        return (f'{degrees:.3g} degrees' if half is None
                else within(degrees, float(np.degrees(half)), 'degrees'))


@dataclass(frozen=True, eq=False)
class Suspect:
    """
    Data and arm with some faults corrected.

    Attributes
    ----------
    rows : SuspectRows
        Rows of arm, motion and torque as assumed, before `mixing`.
    groups : (k,) ndarray of int
        Number of the group of each sample.
    mixing : (n, n) ndarray
        The torque is assumed to be ``tau @ mixing``.
    faults : tuple of Fault
        Corrected faults; none for the recording as it is.
    size : Size or None
        Of the last fault.

    """

    rows: SuspectRows
    groups: Places
    mixing: Array
    faults: tuple[Fault, ...] = ()
    size: Size | None = None

    @property
    def arm(self) -> ArmModel:
        """Return the arm as assumed."""
        return self.rows.arm

    @property
    def samples(self) -> TrialSamples:
        """Motion and torque as assumed."""
        return self.rows.samples

    @property
    def fault(self) -> Fault:
        """Return the last fault."""
        return self.faults[-1]

    @property
    def joints(self) -> tuple[int, ...]:
        """Joints of all faults."""
        return tuple(sorted({joint for fault in self.faults for joint in fault.joints}))

    def with_signals(self, change: Array, fault: Fault) -> Suspect:
        """Assume that the drive signals ``u @ change`` are the true ones."""
        # Signals belong to motors, which a transmission may couple.
        through = joint_torque(np.eye(self.arm.n), self.arm.drive)
        mixing = self.mixing @ np.linalg.solve(through, change @ through)
        return replace(self, mixing=mixing, faults=(*self.faults, fault), size=None)

    def refitted(self, fault: Fault, **changes: Any) -> Suspect:
        """Assume another arm, motion or load, with new rows."""
        return replace(self, rows=replace(self.rows, **changes),
                       faults=(*self.faults, fault), size=None)

    def residual(self, W: Array, theta: Array, mixing: Array) -> Array:
        """Return the residual of parameters (c,) for the torque ``tau @ mixing``, (k, n)."""
        residual = self.samples.tau @ self.mixing - W @ theta
        return np.asarray(residual @ np.linalg.solve(self.mixing, mixing))


def _value_or_norm(x: Array) -> float:
    return float(x[0] if len(x) == 1 else np.linalg.norm(x))


def _own_size(suspect: Suspect) -> Array:
    assert suspect.size is not None
    return suspect.size.x


def sized(
    make: Callable[[Array], Suspect], x: Array, std: Array, typical: float, *,
    is_factor: bool = False, measure: Callable[[Array], float] = _value_or_norm,
    coordinates: Callable[[Suspect], Array] = _own_size,
) -> Suspect:
    """Return a suspect with a size; parameters as of `Size`."""
    return replace(make(x), size=Size(make, x, std, typical, is_factor, measure, coordinates))


def factor_suspects(make: Callable[[Array], Suspect]) -> Iterator[Suspect]:
    """Yield suspects whose size is the logarithm of a factor, from 1, half and twice on."""
    for start in (-TWICE, 0.0, TWICE):
        yield sized(make, np.array([start]), np.array([TWICE]), A_FIFTH, is_factor=True)


def resized(suspect: Suspect, step: Array) -> Suspect:
    """Return a suspect with its size changed by a step."""
    assert suspect.size is not None
    size = replace(suspect.size, x=suspect.size.x + step)
    return replace(size.make(size.x), size=size)


def as_recorded(arm: ArmModel, samples: TrialSamples) -> Suspect:
    """Return the recording as it is, thinned, with the friction terms of known sign."""
    return with_all_samples(arm.with_friction(PLAIN_TERMS), thinned(samples))


def with_all_samples(arm: ArmModel, samples: TrialSamples) -> Suspect:
    """
    Return the recording as it is, with all samples and the friction terms of the arm.

    A joint without a drive has no signal that could be wrong, and beside its zero torque, a scale
    of the other signals would have no meaning.
    """
    samples = replace(samples, moving=samples.moving & arm.drive.driven)
    columns = base_parameters(in_any_gravity(arm)).columns
    return Suspect(SuspectRows(arm, samples, columns), groups_of_samples(samples), np.eye(arm.n))


@lru_cache(maxsize=32)
def in_any_gravity(arm: ArmModel) -> ArmModel:
    """Return an arm whose base parameters suffice for any direction of gravity."""
    return replace(arm, gravity=WEIGHT * GENERIC)


def exchange(n: int, pair: Sequence[int]) -> Array:
    """Matrix (n, n) that exchanges two columns when multiplied from the right."""
    order = np.arange(n)
    order[list(pair)] = order[list(pair[::-1])]
    return np.asarray(np.eye(n)[:, order])


def moving_together(base: Suspect, joints: list[int]) -> Iterator[tuple[int, int]]:
    """
    Return the pairs of joints that mostly move at the same time.

    Rows of a joint at rest do not count, so that an exchange of the signals of two other joints
    would compare the likelihoods of different data.
    """
    for pair in combinations(joints, 2):
        moving = base.samples.moving[:, pair]
        if 2 * np.count_nonzero(moving.all(axis=1)) >= np.count_nonzero(moving.any(axis=1)):
            yield pair


def names(arm: ArmModel, joints: Sequence[int]) -> str:
    """List joint names, for a sentence."""
    return several(f"'{arm.joint_names[joint]}'" for joint in joints)


def described(arm: ArmModel, faults: Sequence[Fault]) -> str:
    """Describe faults, for a sentence: successive exchanges by the resulting order."""
    codes = {fault.code for fault in faults}
    if len(faults) < 2 or len(codes) > 1 or not codes <= set(EXCHANGES):
        alike: dict[str, list[Fault]] = {}
        for fault in faults:
            # A fault of the arm names no joint.
            kind = fault.text.replace(names(arm, fault.joints), '') if fault.joints else fault.text
            alike.setdefault(kind, []).append(fault)
        return ' and '.join(first.text + ''.join(_likewise(arm, fault) for fault in others)
                            for first, *others in alike.values())
    order = np.eye(arm.n)
    for fault in faults:
        order = order @ exchange(arm.n, fault.joints)
    held = order.argmax(axis=1)
    wrong = np.flatnonzero(held != np.arange(arm.n)).tolist()
    listed = ', '.join(f'{names(arm, [column])} holds that of {names(arm, [held[column]])}'
                       for column in wrong)
    return (f'the {EXCHANGES[faults[0].code]} of {names(arm, wrong)} seem to be in the wrong '
            f'order: the column of {listed}')


def _likewise(arm: ArmModel, fault: Fault) -> str:
    return f', likewise {"those" if fault.joints[1:] else "that"} of {names(arm, fault.joints)}'
