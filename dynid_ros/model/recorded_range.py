"""The range of positions and speeds in which a model was identified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.signals.filters import Signal

Array = NDArray[np.float64]


class Motion(Protocol):
    """Positions and velocities of a stretch."""

    @property
    def q(self) -> Array:
        """Positions (N, n), rad or m."""

    @property
    def qd(self) -> Signal:
        """Velocities (N, n), rad/s or m/s."""


class MotionRange(NamedTuple):
    """
    Range of a motion, (n,) each.

    Attributes
    ----------
    low, high : (n,) ndarray
        Lowest and highest position, rad or m.
    speed : (n,) ndarray
        Largest speed, rad/s or m/s.

    """

    low: Array
    high: Array
    speed: Array


def motion_range(parts: Sequence[Motion]) -> MotionRange:
    """Return the range of one stretch or more."""
    return MotionRange(
        np.min([part.q.min(axis=0) for part in parts], axis=0),
        np.max([part.q.max(axis=0) for part in parts], axis=0),
        np.max([np.abs(part.qd[:]).max(axis=0) for part in parts], axis=0))


def recorded_range(model: IdentifiedModel) -> MotionRange | None:
    """Return the range of the fitted samples of a model; None if it keeps no samples."""
    seen = [part for part in model.predictions if not part.held_out] or list(model.predictions)
    return motion_range(seen) if seen else None
