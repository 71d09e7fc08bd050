"""Methods that make rows from a motion: with accelerations, filtered torque, filtered power."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.filters import StreamDecimator
from dynid_ros.data.signals.first_order import FirstOrderFilter
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.dynamics.regressor import coupling_value, fill_friction
from dynid_ros.errors import InputError
from dynid_ros.estimation.regression.kept_rows import KeptRows
from dynid_ros.estimation.regression.qr_factors import compress, QRFactors
from dynid_ros.estimation.regression.rows import RowBlock, Rows
from dynid_ros.utilities.arrays import Array

#: Samples whose regressor is in memory at a time.
PORTION = 512
#: From positions, velocities, load and history of k samples: the rows whose derivative by time
#: counts, and those that count themselves, (k, m, b) each.
Terms = Callable[
    [Array, Array, Array | None, JointHistory | None], tuple[Array, Array]]
#: From an arm, its motions, the settings of their conditioning, and the parameters that the load
#: follows from: the rows, one for each joint, or one for all of them.
RowMethod = Callable[
    [ArmModel, Sequence[ConditionedMotion], ConditioningSettings, Array | None],
    Iterator[RowBlock]]


def filtered_blocks(
    arm: ArmModel,
    motions: Sequence[ConditionedMotion],
    settings: ConditioningSettings,
    load_theta: Array | None = None,
) -> Iterator[RowBlock]:
    """
    Rows of torque after a first-order low-pass, which need no acceleration.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms define the columns.
    motions : sequence of ConditionedMotion
        Conditioned stretches; their accelerations are not used.
    settings : ConditioningSettings
        Cut-off, which is also that of the first-order filters, and decimation.
    load_theta : (b,) ndarray, optional
        As for `regression_blocks`.

    Yields
    ------
    RowBlock
        In the order of time.

    References
    ----------
    Slotine and Li 1987, On the adaptive control of robot manipulators.

    """
    columns = base_parameters(arm).columns

    def terms(
        q: Array, qd: Array, load: Array | None, history: JointHistory | None,
    ) -> tuple[Array, Array]:
        momentum, force = momentum_regressors(arm, q, qd, load=load, history=history)
        return momentum[:, :, columns], force[:, :, columns]

    return _filtered(arm, motions, settings, load_theta, terms, lambda motion: motion.tau)


def power_blocks(
    arm: ArmModel,
    motions: Sequence[ConditionedMotion],
    settings: ConditioningSettings,
    load_theta: Array | None = None,
) -> Iterator[RowBlock]:
    """
    Rows of power after a first-order low-pass: one row a sample, like a single joint.

    The power of the drives is the change of the kinetic energy, which is half of velocity times
    momentum, and the power against gravity and friction.

    Parameters
    ----------
    arm, motions, settings, load_theta
        As for `filtered_blocks`.

    Yields
    ------
    RowBlock
        With W of (k, 1, b), and power instead of torque, (k, 1), in W.

    Raises
    ------
    InputError
        The arm has an inertial coupling that does not conserve energy.

    References
    ----------
    Gautier 1997, Dynamic identification of robots with power model, eq. 5 to 9.

    """
    for column in arm.coupling:
        if column.quantity == 'qdd' and not np.allclose(column.matrix, column.matrix.T):
            raise InputError(
                f"the coupling column '{column.name}' of '{arm.name}' has a matrix that is not "
                'symmetric, so that it has no energy; use another method than power')
    columns = base_parameters(arm).columns

    def terms(
        q: Array, qd: Array, load: Array | None, history: JointHistory | None,
    ) -> tuple[Array, Array]:
        momentum = momentum_regressors(arm, q, qd, load=load, history=history)[0]
        force = _without_motion(arm, q, qd, load, history)
        energy, power = (np.einsum('ki,kip->kp', qd, x)[:, None, columns]
                         for x in (0.5 * momentum, force))
        return energy, power

    def drive_power(motion: ConditionedMotion) -> Array:
        power: Array = (np.asarray(motion.qd) * motion.tau).sum(axis=1, keepdims=True)
        return power

    return _filtered(arm, motions, settings, load_theta, terms, drive_power)


def _without_motion(
    arm: ArmModel, q: Array, qd: Array, load: Array | None, history: JointHistory | None,
) -> Array:
    """Regressor of gravity and friction."""
    force = momentum_regressors(arm, q, np.zeros_like(q), load=load)[1]
    fill_friction(arm, qd, load, history, force)
    first = arm.layout.first_coupling
    for k, column in enumerate(arm.coupling):
        if column.quantity != 'qdd':
            force[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qd)
    return force


def _filtered(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
    load_theta: Array | None,
    terms: Terms, measured: Callable[[ConditionedMotion], Array],
) -> Iterator[RowBlock]:
    """Filter and decimate rows, one for each joint or one for all, block by block."""
    decimator = settings.decimator()
    band = 2 * np.pi * settings.cutoff_hz, 1 / settings.rate_hz
    for number, motion in enumerate(motions):
        right = measured(motion)
        m, b = right.shape[1], base_parameters(arm).count
        left_filter = FirstOrderFilter(*band, m * b)
        right_filter = FirstOrderFilter(*band, m)
        rows, kept = StreamDecimator(decimator, m * (b + 1)), 0
        for start in range(0, len(motion.t), PORTION):
            new = slice(start, start + PORTION)
            q, qd = motion.q[new], motion.qd[new]
            load = gravity_load(arm, q, load_theta) if arm.needs_load else None
            history = motion.history(new) if arm.needs_history else None
            change, itself = (x.reshape(len(q), -1) for x in terms(q, qd, load, history))
            means = rows.apply(np.hstack([
                left_filter.apply(itself, change), right_filter.apply(right[new])]))
            count, step = len(means), decimator.step
            if count:
                # Rows belong to the sample before: the filters lag by one.
                first = 1 + decimator.reach + kept * step
                samples = slice(first, first + (count - 1) * step + 1, step)
                moving = motion.moving[samples]
                if m < arm.n:
                    moving = np.asarray(moving.any(axis=1))[:, None]
                yield RowBlock(
                    number, motion.t[samples], motion.q[samples], motion.qd[samples],
                    means[:, :m * b].reshape(count, m, b) * moving[:, :, None],
                    means[:, m * b:] * moving, moving)
            kept += count


class MethodRows:
    """
    Rows of a method that filters momentum, evaluated whenever they are asked for.

    Parameters
    ----------
    method : callable
        Makes rows of motions.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.

    """

    def __init__(
        self, method: RowMethod, motions: Sequence[ConditionedMotion],
        settings: ConditioningSettings,
    ) -> None:
        self._method, self.motions, self.settings = method, list(motions), settings

    def blocks(self, arm: ArmModel, load_theta: Array | None = None) -> Iterator[RowBlock]:
        """Yield the rows of an arm, given parameters that the load on its joints follows from."""
        return self._method(arm, self.motions, self.settings, load_theta)

    def compressed(self, arm: ArmModel, load_theta: Array | None = None) -> QRFactors:
        """Return the factors of the rows that `blocks` yields."""
        return compress(base_parameters(arm).count, self.blocks(arm, load_theta))

    def masked(self, motions: Sequence[ConditionedMotion]) -> MethodRows:
        """Return the same rows with the standstill of other motions."""
        return MethodRows(self._method, motions, self.settings)


DIFFERENTIATED = 'differentiated'
#: Methods beside `KeptRows`, which needs accelerations.
FILTERED: dict[str, RowMethod] = {'filtered': filtered_blocks, 'power': power_blocks}
METHODS = (DIFFERENTIATED, *FILTERED)


def fitted_rows(method: str, kept: KeptRows) -> Rows:
    """Return the rows that a method fits, given those with accelerations."""
    if method == DIFFERENTIATED:
        return kept
    return MethodRows(FILTERED[method], kept.motions, kept.settings)
