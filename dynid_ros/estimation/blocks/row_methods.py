# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Methods that make rows from a motion: with accelerations, filtered torque, filtered power."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.filters import StreamDecimator
from dynid_ros.data.signals.first_order import FirstOrderFilter
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.dynamics.regressor import coupling_value, fill_friction
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.blocks.groups import group_count, motion_groups
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import friction_load
from dynid_ros.estimation.blocks.qr_factors import compress_groups, QRFactors, stack
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array

#: Samples whose regressor is in memory at a time.
SAMPLES_IN_MEMORY = 512
#: Maps an arm, a motion, a slice of its samples, and the load and history there, to the rows to be
#: differentiated by time, the rows to be added to them, (k, m, p) each, and the measurement,
#: (k, m).
Terms = Callable[
    [ArmModel, ConditionedMotion, slice, Array | None, JointHistory | None],
    tuple[Array, Array, Array]]


def _torque_terms(
    arm: ArmModel, motion: ConditionedMotion, part: slice, load: Array | None,
    history: JointHistory | None,
) -> tuple[Array, Array, Array]:
    """
    Return rows of torque, which need no acceleration.

    References
    ----------
    Slotine and Li 1987, On the adaptive control of robot manipulators.

    """
    momentum, force = momentum_regressors(
        arm, motion.q[part], motion.qd[part], load=load, history=history)
    return momentum, force, motion.tau[part]


def _power_terms(
    arm: ArmModel, motion: ConditionedMotion, part: slice, load: Array | None,
    history: JointHistory | None,
) -> tuple[Array, Array, Array]:
    """
    Return rows of power: one row a sample, as of a single joint.

    The power of the drives is the rate of change of the kinetic energy (half of velocity times
    momentum) plus the power against gravity and friction.

    References
    ----------
    Gautier 1997, Dynamic identification of robots with power model, eq. 5 to 9.

    """
    for column in arm.coupling:
        if column.quantity == 'qdd' and not np.allclose(column.matrix, column.matrix.T):
            raise InputError(
                f"the coupling column '{column.name}' of '{arm.name}' has a matrix that is not "
                'symmetric, so that it has no energy; use another method than power')
    q, qd = motion.q[part], motion.qd[part]
    momentum = momentum_regressors(arm, q, qd, load=load, history=history)[0]
    force = momentum_regressors(arm, q, np.zeros_like(q), load=load)[1]
    fill_friction(arm, qd, load, history, force)
    for k, column in enumerate(arm.coupling, arm.layout.first_coupling):
        if column.quantity != 'qdd':
            force[:, :, k] = coupling_value(column.quantity, column.matrix, qd, qd)
    energy, power = (np.einsum('ki,kip->kp', qd, x)[:, None] for x in (0.5 * momentum, force))
    return energy, power, (qd * motion.tau[part]).sum(axis=1, keepdims=True)


DIFFERENTIATED = 'differentiated'
#: Methods that need no accelerations, unlike `KeptRows`.
FILTERED: dict[str, Terms] = {'filtered': _torque_terms, 'power': _power_terms}
METHODS = (DIFFERENTIATED, *FILTERED)


class MethodRows:
    """
    Rows of a method that filters momentum, evaluated at each request.

    Parameters
    ----------
    method : str
        One of `FILTERED`.
    motions : sequence of ConditionedMotion
        Conditioned stretches; their accelerations are not used.
    settings : ConditioningSettings
        Cut-off, also of the first-order filters, and decimation.
    numbers : sequence of (N,) ndarray of int, optional
        Number of the group of each sample, stretch by stretch; from `motion_groups` by default.

    """

    def __init__(
        self, method: str, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
        numbers: Sequence[Places] | None = None,
    ) -> None:
        self._method, self.motions, self.settings = method, list(motions), settings
        self._numbers = numbers or motion_groups(motions, settings.decimator().reach)

    def blocks(self, arm: ArmModel, load_theta: Array | None = None) -> Iterator[RowBlock]:
        """Yield the rows of an arm, given the parameters that determine the load on its joints."""
        decimator, columns = self.settings.decimator(), base_parameters(arm).columns
        m, b = arm.n if self._method == 'filtered' else 1, len(columns)
        band = 2 * np.pi * self.settings.cutoff_hz, 1 / self.settings.rate_hz
        for number, motion in enumerate(self.motions):
            row_filter, measurement_filter = (FirstOrderFilter(*band, size) for size in (m * b, m))
            rows, kept = StreamDecimator(decimator, m * (b + 1)), 0
            for start in range(0, len(motion.t), SAMPLES_IN_MEMORY):
                portion = slice(start, start + SAMPLES_IN_MEMORY)
                load = friction_load(arm, load_theta, motion.q[portion])
                history = motion.history(portion) if arm.needs_history else None
                *terms, measured = FILTERED[self._method](arm, motion, portion, load, history)
                momentum, force = (x[:, :, columns].reshape(len(x), -1) for x in terms)
                means = rows.apply(np.hstack([
                    row_filter.apply(force, momentum), measurement_filter.apply(measured)]))
                count, step = len(means), decimator.step
                if count:
                    # Rows belong to the previous sample: the filters lag by one.
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

    def parts(self, arm: ArmModel, load_theta: Array | None = None) -> list[QRFactors]:
        """Return the factors of each group of the rows that `blocks` yields."""
        joints = arm.n if self._method == 'filtered' else 1
        columns = base_parameters(arm).count + 1
        return compress_groups(
            ((self._numbers[block.segment][
                np.searchsorted(self.motions[block.segment].t, block.t)], block.moving,
              [*np.concatenate([block.W, block.tau[:, :, None]], axis=2).swapaxes(0, 1)])
             for block in self.blocks(arm, load_theta)),
            joints * [np.arange(columns)], columns, group_count(self._numbers))

    def compressed(self, arm: ArmModel, load_theta: Array | None = None) -> QRFactors:
        """Return the factors of the rows that `blocks` yields."""
        return stack(self.parts(arm, load_theta))


def fitted_rows(method: str, kept: KeptRows) -> KeptRows | MethodRows:
    """Return the rows that a method fits, given the rows with accelerations."""
    if method == DIFFERENTIATED:
        return kept
    return MethodRows(method, kept.motions, kept.settings, kept.numbers)
