"""Faults of a stream of joint states, to be injected into a simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import InputError

Array = NDArray[np.float64]

#: Kinds of faults.
FAULTS = {
    'none': 'nothing',
    'silent': 'no message',
    'nan': 'the first position is NaN',
    'reorder': 'the joints come in reverse order',
    'gripper': 'another joint, finger_joint, comes first',
    'clock': 'stamps are two seconds early',
    'strain': 'the first effort is beyond any limit',
}
#: Jump of the stamps, s.
CLOCK_STEP = -2.0
#: Effort beyond any limit.
STRAIN = 1e4


@dataclass(frozen=True)
class Fault:
    """
    A fault and its duration.

    Attributes
    ----------
    kind : str
        Key of `FAULTS`.
    seconds : float
        s; infinite if it stays.

    """

    kind: str = 'none'
    seconds: float = np.inf

    def names(self, names: list[str]) -> list[str]:
        """Joint names of a message under this fault."""
        if self.kind == 'reorder':
            return names[::-1]
        return ['finger_joint', *names] if self.kind == 'gripper' else names

    def values(self, values: Array) -> Array:
        """Values (n,) of a message under this fault, in the order of `names`."""
        if self.kind == 'reorder':
            return values[::-1]
        return np.insert(values, 0, 0.0) if self.kind == 'gripper' else values

    def positions(self, q: Array) -> Array:
        """Positions (n,) of a message under this fault."""
        values = self.values(q)
        if self.kind == 'nan':
            values = values.copy()
            values[0] = np.nan
        return values

    def efforts(self, u: Array) -> Array:
        """Drive signal (n,) of a message under this fault."""
        values = self.values(u)
        if self.kind == 'strain':
            values = values.copy()
            values[0] = STRAIN
        return values


def parse_fault(text: str) -> Fault:
    """
    Read a fault such as ``nan``, or ``silent 0.2`` for 0.2 s.

    Raises
    ------
    InputError
        There is no such fault, or its duration is not positive.

    """
    kind, *rest = text.split() or ['']
    if kind not in FAULTS:
        raise InputError(f"there is no fault '{kind}'; choose one of {', '.join(FAULTS)}")
    if not rest:
        return Fault(kind)
    try:
        seconds = float(rest[0])
    except ValueError:
        seconds = np.nan
    if len(rest) > 1 or not seconds > 0:
        raise InputError(f"'{' '.join(rest)}' is no duration of a fault; give seconds above zero")
    return Fault(kind, seconds)
