"""Rows of the drive signals, one for each motor, of an arm with and without a load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.ndimage import maximum_filter1d

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.estimation.blocks.qr_factors import compress, QRFactors
from dynid_ros.estimation.blocks.rows import RowBlock, Rows
from dynid_ros.estimation.calibration.loaded_rows import (
    HEAVIEST,
    load_columns,
    own_friction,
    with_columns,
)
from dynid_ros.utilities.arrays import Array

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

#: Periods of the cut-off on each side of a reversal in which rows of a motor are left out.
#: Friction turns its sign there, sooner or later than any term has it, and the low-pass spreads
#: the error. Without this, gains of a simulated TX40 are wrong by 7 %, and of a UR10 by 1 %.
REVERSAL = 0.5


@dataclass(frozen=True, eq=False)
class MotorRows:
    """
    Rows of recordings in which the arm carries the same: nothing, or a load.

    A gain scales the signal of one motor. Behind a transmission that couples joints, the torque
    of a joint comes from several motors, so that the equations are brought to the motors:
    ``transmission⁻ᵀ W theta = gain * u``.

    Attributes
    ----------
    rows : Rows
        Rows of the joints, such as `KeptRows`.
    loaded : bool
        Whether the arm carries the load.
    own_friction : bool
        Whether friction may have changed since the recordings without the load.

    """

    rows: Rows
    loaded: bool = False
    own_friction: bool = True

    def factors(self, arm: ArmModel, change: Array, carried: Array | None) -> QRFactors:
        """
        Compress the rows to the factors of each motor.

        Parameters
        ----------
        arm : ArmModel
            The arm; its friction terms define the columns.
        change : (b, p) ndarray
            Base parameters of each unknown, as `unknowns` gives them.
        carried : (b,) ndarray or None
            Base parameters that the torque on each joint follows from; needed by the ``load``
            friction term only.

        """
        if _has_own_motors(arm):
            return with_columns(self.rows.compressed(arm, carried), change)
        return compress(change.shape[1], self.blocks(arm, change, carried))

    def blocks(self, arm: ArmModel, change: Array, carried: Array | None) -> Iterator[RowBlock]:
        """Yield the rows, sample by sample; parameters as for `factors`."""
        to_motors = arm.drive.to_joints.T
        for block in self.rows.blocks(arm, carried):
            if not _has_own_motors(arm):
                block = _of_motors(block, to_motors)
            yield replace(block, W=block.W @ change)


def unknowns(arm: ArmModel, recorded: MotorRows, *, with_load: bool) -> Array:
    """
    Express the base parameters of one set of recordings in the unknowns of all of them.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recorded : MotorRows
        The set.
    with_load : bool
        Whether any of the sets has a load, whose ten parameters are then the last unknowns;
        before them stand changes of the friction, since drives warm up.

    Returns
    -------
    (b, p) ndarray
        Base parameters of each unknown.

    """
    same = np.eye(base_parameters(arm).count)
    if not with_load:
        return same
    changed = own_friction(arm)[:, :None if recorded.own_friction else 0]
    more = np.hstack([changed, load_columns(arm)])
    return np.hstack([same, more if recorded.loaded else np.zeros_like(more)])


def prior_rows(arm: ArmModel, used: Places, size: int, data: QRFactors) -> Array:
    """
    Weak prior of the unknowns that show in rows.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    used : (u,) ndarray of int
        These, of all that `unknowns` gives, in ascending order.
    size : int
        Number of all.
    data : QRFactors
        Rows of those used, to whose torque the prior is widened.

    Returns
    -------
    (u, u + 1) ndarray
        Rows ``[w tau]`` of unit noise.

    """
    prior = arm_prior(arm).reaching(data.torque())
    b = len(prior.theta)
    own, more = used[used < b], used[used >= b]
    friction = np.sqrt(np.diag(prior.covariance))[friction_places(arm)]
    std = np.append(friction, np.full(len(INERTIAL), HEAVIEST))
    known = prior.rows(own)
    rows = block_diag(known[:, :-1], np.diag(1 / std[more - size]))
    return np.column_stack([rows, np.append(known[:, -1], np.zeros(len(more)))])


def without_reversals(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
) -> list[ConditionedMotion]:
    """
    Let joints count as at rest while they, or motors that act on them, turn round.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Rate and cut-off.

    """
    reach = max(1, round(REVERSAL * settings.rate_hz / settings.cutoff_hz))
    return [replace(motion, moving=motion.moving & ~_near_reversals(arm, motion.qd, reach))
            for motion in motions]


def _near_reversals(arm: ArmModel, qd: Array, reach: int) -> Flags:
    """Whether a joint, or a motor that acts on it, turns round within so many samples."""
    turns = np.zeros(qd.shape, dtype=np.uint8)
    turns[:-1] = np.diff(qd > 0, axis=0)
    if not _has_own_motors(arm):
        through = arm.drive.transmission
        turns[:-1] |= np.diff(qd @ through.T > 0, axis=0) @ (through != 0)
    return np.asarray(
        maximum_filter1d(turns, 2 * reach, axis=0, mode='constant'), dtype=np.bool_)


def _has_own_motors(arm: ArmModel) -> bool:
    """Whether each joint has a motor of its own, so that its rows are rows of the motor."""
    transmission = arm.drive.transmission
    return bool((transmission == np.diag(np.diag(transmission))).all())


def _of_motors(block: RowBlock, to_motors: Array) -> RowBlock:
    # A motor counts while all joints that it acts on move: torque at rest is unknown.
    still: NDArray[np.bool_] = ~block.moving
    moving = ~(still[:, None, :] & (to_motors != 0)).any(axis=2)
    W = np.einsum('mj,kjb->kmb', to_motors, block.W) * moving[:, :, None]
    return replace(block, W=W, tau=block.tau @ to_motors.T * moving, moving=moving)
