"""Rows of the regression, computed block by block to save memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowBlock:
    """
    Some consecutive rows of ``W theta = tau``, filtered and decimated alike.

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

    def part(self, chosen: NDArray[np.bool_]) -> RowBlock:
        """Return the chosen samples as a block of their own."""
        return RowBlock(
            self.segment, self.t[chosen], self.q[chosen], self.qd[chosen],
            self.W[chosen], self.tau[chosen], self.moving[chosen],
        )


def regression_blocks(
    arm: ArmModel,
    motions: Sequence[ConditionedMotion],
    settings: ConditioningSettings,
    load_theta: Array | None = None,
) -> Iterator[RowBlock]:
    """
    Rows of the regression of one recording.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms define the columns.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    load_theta : (b,) ndarray, optional
        Base parameters from which the torque that loads each joint is computed; needed by the
        ``load`` friction term only.

    Yields
    ------
    RowBlock
        In the order of time.

    """
    decimator = settings.decimator()
    columns = base_parameters(arm).columns
    for number, motion in enumerate(motions):
        W = np.empty((0, arm.n, len(columns)))
        known = slice(0, 0)
        for inputs, count in decimator.blocks(len(motion.t)):
            # Blocks overlap by the reach of the filter; these rows are computed once.
            new = slice(max(known.stop, inputs.start), inputs.stop)
            q, qd, qdd = motion.q[new], motion.qd[new], motion.qdd[new]
            load = gravity_load(arm, q, load_theta) if arm.needs_load else None
            fresh = regressor(arm, q, qd, qdd, load=load)[:, :, columns]
            W = np.concatenate([W[len(W) - max(known.stop - inputs.start, 0):], fresh])
            known = inputs
            kept = slice(
                inputs.start + decimator.reach, inputs.stop - decimator.reach, decimator.step)
            moving = motion.moving[kept]
            yield RowBlock(
                number, motion.t[kept], motion.q[kept], motion.qd[kept],
                decimator.apply(W, count) * moving[:, :, None],
                decimator.apply(motion.tau[inputs], count) * moving, moving,
            )
