# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of the regression, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.utilities.arrays import Array

#: Message of an estimate without rows.
NO_ROW = ('no row is left after filtering, without joints at rest; record a longer motion, or '
          'raise the cut-off')


@dataclass(frozen=True)
class RowBlock:
    """
    Consecutive rows of ``W theta = tau``, filtered and decimated alike.

    Attributes
    ----------
    segment : int
        Stretch of the recording.
    t : (k,) ndarray
        Time since the start of the recording, s.
    q, qd : (k, n) ndarray
        Position and velocity, rad and rad/s.
    W : (k, n, b) ndarray
        Regressor of the base parameters; zero in the row of a joint that stands still.
    tau : (k, n) ndarray
        Torque, Nm; zero for a joint that stands still.
    moving : (k, n) ndarray of bool
        False where a joint stands still and its row has no weight.

    """

    segment: int
    t: Array
    q: Array
    qd: Array
    W: Array
    tau: Array
    moving: NDArray[np.bool_]


class Rows(Protocol):
    """Rows for arms of one tree with any friction terms."""

    def compressed(self, arm: ArmModel, load_theta: Array | None = None, /) -> QRFactors:
        """Return the factors of an arm, given the parameters that determine its loads."""
