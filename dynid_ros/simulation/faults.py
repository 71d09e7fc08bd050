# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Faults of a stream of joint states, to be injected into a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array

#: Kinds of faults.
FAULT_KINDS = {
    'none': 'nothing',
    'silent': 'no message',
    'nan': 'the first position is NaN',
    'slip': 'the first position is 0.3 too large',
    'outside': 'the first position is beyond any limit',
    'degrees': 'positions are in degrees',
    'reorder': 'the joints come in reverse order',
    'gripper': 'another joint, finger_joint, comes first',
    'short': 'the last value of each field is missing',
    'clock': 'stamps are two seconds early',
    'ahead': 'stamps are two seconds ahead',
    'repeat': 'stamps are rounded down to 8 ms',
    'reverse': 'stamps run backwards within each 40 ms',
    'zero': 'stamps are zero',
    'strain': 'the first effort is beyond any limit',
    'clip': 'the first effort stays at its limit',
    'dead': 'the first effort is zero',
    'weightless': 'efforts lack what holds the arm against gravity',
}
#: Jump of the stamps, resolution of repeated ones, and length of the reversed part, ns.
CLOCK_STEP, COARSE, REVERSED = 2_000_000_000, 8_000_000, 40_000_000
#: Wrong position, and one beyond any limit, rad or m; effort beyond any limit.
SLIP, OUTSIDE, STRAIN = 0.3, 100.0, 1e4


class Fault:
    """
    A fault and its duration.

    Parameters
    ----------
    text : str
        Such as ``nan``, or ``silent 0.2`` for 0.2 s.

    Attributes
    ----------
    kind : str
        Key of `FAULT_KINDS`.
    seconds : float
        s; infinite if it stays.

    Raises
    ------
    InputError
        There is no such fault, or its duration is not positive.

    """

    def __init__(self, text: str = 'none') -> None:
        self.kind, *rest = text.split() or ['']
        if self.kind not in FAULT_KINDS:
            raise InputError(
                f"there is no fault '{self.kind}'; choose one of {', '.join(FAULT_KINDS)}")
        try:
            self.seconds = float(' '.join(rest) or np.inf)
        except ValueError:
            self.seconds = np.nan
        if not self.seconds > 0:
            raise InputError(
                f"'{' '.join(rest)}' is no duration of a fault; give seconds above zero")

    def names(self, names: list[str]) -> list[str]:
        """Joint names of a message under this fault."""
        if self.kind == 'reorder':
            return names[::-1]
        return ['finger_joint', *names] if self.kind == 'gripper' else names

    def values(self, values: Array) -> Array:
        """Values (n,) of a message under this fault, in the order of `names`."""
        if self.kind == 'reorder':
            return values[::-1]
        if self.kind == 'short':
            return values[:-1]
        return np.insert(values, 0, 0.0) if self.kind == 'gripper' else values

    def positions(self, q: Array) -> Array:
        """Positions (n,) of a message under this fault."""
        wrong = {'nan': np.nan, 'slip': q[0] + SLIP, 'outside': OUTSIDE}
        return self._with_first(np.degrees(q) if self.kind == 'degrees' else q, wrong)

    def efforts(self, u: Array, weight: Callable[[], Array], limit: Array) -> Array:
        """
        Drive signal of a message under this fault.

        Parameters
        ----------
        u, limit : (n,) ndarray
            Measured drive signal, and its limit.
        weight : callable
            Returns the part of the signal that bears the weight, (n,).

        Returns
        -------
        (n,) ndarray
            In the unit of the signal.

        """
        wrong = {'strain': STRAIN, 'clip': limit[0], 'dead': 0.0}
        return self._with_first(u - weight() if self.kind == 'weightless' else u, wrong)

    def stamp(self, nanoseconds: int) -> int:
        """Stamp of a message under this fault, ns."""
        nanoseconds += {'clock': -CLOCK_STEP, 'ahead': CLOCK_STEP}.get(self.kind, 0)
        if self.kind == 'repeat':
            return nanoseconds - nanoseconds % COARSE
        if self.kind == 'reverse':
            return nanoseconds + REVERSED - 2 * (nanoseconds % REVERSED)
        return 0 if self.kind == 'zero' else nanoseconds

    def _with_first(self, values: Array, wrong: Mapping[str, float]) -> Array:
        """Values (n,) in the order of `names`, the first one with this kind of fault."""
        if self.kind in wrong:
            values = values.copy()
            values[0] = wrong[self.kind]
        return self.values(values)
