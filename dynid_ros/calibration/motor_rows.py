"""Rows of the drive signals: one for each motor, with the columns of a load where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.rows import RowBlock, Rows
from dynid_ros.regression.weighted_least_squares import compress, QRFactors

Array = NDArray[np.float64]

#: Parameters of a load: ten, of which the mass is the first.
LOAD = len(INERTIAL)


@dataclass(frozen=True, eq=False)
class MotorRows:
    """
    Rows of recordings in which the arm carries the same: nothing, or one load on its last link.

    A gain scales the signal of one motor. Behind a transmission that couples joints, the torque
    of a joint is that of several motors, so that the equations are brought to the motors:
    ``transmission⁻ᵀ W theta = gain * u``.

    Attributes
    ----------
    rows : Rows
        Rows of the joints.
    loaded : bool
        Whether the last link carries a load.

    """

    rows: Rows
    loaded: bool = False

    def factors(self, arm: ArmModel, theta: Array, size: int) -> QRFactors:
        """
        Compress the rows to the factors of each motor.

        Parameters
        ----------
        arm : ArmModel
            The arm; its friction terms define the columns.
        theta : (size,) ndarray
            Base parameters, and those of the load, from which the torque on each joint follows;
            needed by the ``load`` friction term only.
        size : int
            Columns: b, or b + `LOAD` where any recording has a load.

        """
        if not _is_diagonal(arm):
            return compress(size, self.blocks(arm, theta, size))
        found = self.rows.compressed(arm, self.carried(arm, theta))
        W, tau = found.factors[:, :, :-1], found.factors[:, :, -1:]
        return QRFactors(
            np.concatenate([self._with_load(arm, W, size), tau], axis=2), found.rows)

    def blocks(self, arm: ArmModel, theta: Array, size: int) -> Iterator[RowBlock]:
        """Yield the rows, sample by sample; parameters as for `factors`."""
        to_motors = np.linalg.inv(arm.drive.transmission).T
        for block in self.rows.blocks(arm, self.carried(arm, theta)):
            if not _is_diagonal(arm):
                block = _of_motors(block, to_motors)
            yield replace(block, W=self._with_load(arm, block.W, size))

    def carried(self, arm: ArmModel, theta: Array) -> Array:
        """Return base parameters (b,) of the arm with what it carries."""
        b = base_parameters(arm).count
        return theta[:b] + _grouping(arm) @ theta[b:] if self.loaded else theta[:b]

    def _with_load(self, arm: ArmModel, W: Array, size: int) -> Array:
        """Put the columns of the load beside those of the arm; zero where there is none."""
        if size == W.shape[2]:
            return W
        # A load is a part of the last link, so that its columns are some of the base columns.
        load = W @ _grouping(arm) if self.loaded else np.zeros((*W.shape[:2], LOAD))
        return np.concatenate([W, load], axis=2)


def _grouping(arm: ArmModel) -> Array:
    """Base parameters (b, 10) that ten parameters of the last link make."""
    return base_parameters(arm).grouping[:, arm.layout.inertial(arm.n - 1)]


def _is_diagonal(arm: ArmModel) -> bool:
    """Whether each motor drives a joint of its own, so that rows of joints are rows of motors."""
    transmission = arm.drive.transmission
    return bool((transmission == np.diag(np.diag(transmission))).all())


def _of_motors(block: RowBlock, to_motors: Array) -> RowBlock:
    # A motor counts while all joints that it acts on move: torque at rest is unknown.
    still = (~block.moving).astype(float)
    moving: NDArray[np.bool_] = still @ (to_motors != 0).T == 0
    W = np.einsum('mj,kjb->kmb', to_motors, block.W) * moving[:, :, None]
    return replace(block, W=W, tau=block.tau @ to_motors.T * moving, moving=moving)
