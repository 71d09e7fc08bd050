"""A suspect: data and arm with one fault undone, or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.friction import PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.suspects.suspect_rows import (
    groups_of_samples,
    suspect_rows,
    SuspectRows,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Columns that an exchange concerns, by its code.
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
        Whether a recording should show a fault of this size.

    """

    code: str
    joints: tuple[int, ...]
    text: str
    remedy: str
    typical: bool = False


@dataclass(frozen=True, eq=False)
class Size:
    """
    Size of a fault that is a number.

    Attributes
    ----------
    make : callable
        Makes the suspect with another number.
    least, most : float
        Between which the best one lies, if one is the best of those that were tried.

    """

    make: Callable[[float], Suspect]
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Suspect:
    """
    Data and arm with some faults undone.

    Attributes
    ----------
    arm : ArmModel
        The arm as assumed.
    samples : TrialSamples
        Motion and torque as assumed, before `mixing`.
    rows : SuspectRows
        Products of their rows.
    groups : (k,) ndarray of int
        Number of the group of each sample.
    mixing : (n, n) ndarray
        The torque is assumed to be ``tau @ mixing``.
    faults : tuple of Fault
        What is undone; none for the recording as it is.
    moment : float or None
        Share of the samples from which on the last link carries something else.
    size : Size or None
        Of the last fault.

    """

    arm: ArmModel
    samples: TrialSamples
    rows: SuspectRows
    groups: Places
    mixing: Array
    faults: tuple[Fault, ...] = ()
    moment: float | None = None
    size: Size | None = None

    @property
    def fault(self) -> Fault:
        """Return the last fault."""
        return self.faults[-1]

    @property
    def joints(self) -> tuple[int, ...]:
        """Joints that any of the faults concerns."""
        return tuple(sorted({joint for fault in self.faults for joint in fault.joints}))

    def with_signals(self, change: Array, fault: Fault) -> Suspect:
        """Assume that the drive signals ``u @ change`` are the true ones."""
        # Signals are mixed at the motors, which a transmission may couple.
        through = joint_torque(np.eye(self.arm.n), self.arm.drive)
        mixing = self.mixing @ np.linalg.solve(through, change @ through)
        return replace(self, mixing=mixing, faults=(*self.faults, fault), size=None)

    def refitted(self, fault: Fault, **changes: Any) -> Suspect:
        """Assume another arm, motion or load, of which other rows follow."""
        other = replace(self, faults=(*self.faults, fault), size=None, **changes)
        return replace(other, rows=suspect_rows(
            other.arm, other.samples, self.rows.columns, other.moment))


def as_recorded(arm: ArmModel, samples: TrialSamples) -> Suspect:
    """Take data and arm as they are, with friction of which each arm has the signs."""
    arm, samples = arm.with_friction(PLAIN), thinned(samples)
    return Suspect(arm, samples, suspect_rows(arm, samples), groups_of_samples(samples),
                   np.eye(arm.n))


def exchange(n: int, pair: Sequence[int]) -> Array:
    """Matrix (n, n) that exchanges two columns of those before it."""
    order = np.arange(n)
    order[list(pair)] = order[list(pair[::-1])]
    return np.asarray(np.eye(n)[:, order])


def names(arm: ArmModel, joints: Sequence[int]) -> str:
    """Names of joints, for a sentence."""
    return several(f"'{arm.joint_names[joint]}'" for joint in joints)


def described(arm: ArmModel, faults: Sequence[Fault]) -> str:
    """Describe several faults, for a sentence: exchanges one after another by their outcome."""
    codes = {fault.code for fault in faults}
    if len(faults) < 2 or len(codes) > 1 or not codes <= set(EXCHANGES):
        return ' and '.join(fault.text for fault in faults)
    order = np.eye(arm.n)
    for fault in faults:
        order = order @ exchange(arm.n, fault.joints)
    held = order.argmax(axis=1)
    wrong = np.flatnonzero(held != np.arange(arm.n)).tolist()
    listed = ', '.join(f'{names(arm, [column])} holds that of {names(arm, [held[column]])}'
                       for column in wrong)
    return (f'the {EXCHANGES[faults[0].code]} of {names(arm, wrong)} seem to be in the wrong '
            f'order: the column of {listed}')
