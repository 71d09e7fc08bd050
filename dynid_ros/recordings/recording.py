"""One recording, as it was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Defect:
    """
    Something wrong with a recording.

    Attributes
    ----------
    code : str
        What is wrong, such as ``stamps_repeated`` or ``effort_zero``.
    severity : str
        ``info``, ``warning`` (worked around, and how is said) or ``error`` (nothing trustworthy
        can be identified).
    message : str
        One sentence for people, with the numbers and what to do.
    joint : str or None
        Joint concerned, or None for the whole recording.
    count : int
        How many samples are concerned.
    first_stamp : float or None
        Where it first occurs, s since the start of the recording.
    value, threshold : float or None
        What was seen and what would have been acceptable.

    """

    code: str
    severity: str
    message: str
    joint: str | None = None
    count: int = 1
    first_stamp: float | None = None
    value: float | None = None
    threshold: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Keys of the ``defects`` list of ``--json``."""
        return dict(vars(self))


@dataclass(frozen=True)
class Recording:
    """
    One recording of n joints and N samples, never resampled in place.

    Attributes
    ----------
    t : (N,) ndarray
        Stamps, s; those of the messages, counted from the first.
    q : (N, n) ndarray
        Positions as recorded, rad or m.
    u : (N, n) ndarray
        Drive signal as recorded, in the unit of the recording.
    signal : str
        What ``u`` is: ``effort``, ``current`` or ``voltage``.
    joint_names : tuple of str
        Names in the order of the columns, as the arm calls them.
    source : str
        Where it was read from.
    qd : (N, n) ndarray or None
        Velocities as recorded, where there are any.
    defects : tuple of Defect
        What was found wrong while reading.

    """

    t: Array
    q: Array
    u: Array
    signal: str
    joint_names: tuple[str, ...]
    source: str
    qd: Array | None = None
    defects: tuple[Defect, ...] = ()

    @property
    def seconds(self) -> float:
        """Length of the recording, s."""
        return float(self.t[-1] - self.t[0]) if len(self.t) else 0.0

    def part(self, start: int, stop: int) -> Recording:
        """Return samples ``start`` to ``stop`` as a recording of their own."""
        qd = None if self.qd is None else self.qd[start:stop]
        chosen = slice(start, stop)
        return replace(self, t=self.t[chosen], q=self.q[chosen], u=self.u[chosen], qd=qd)
