# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Regressors of momentum and force, which need no acceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import ROTOR
from dynid_ros.dynamics.kernel_arrays import tree
from dynid_ros.dynamics.regressor import (
    coupling_value,
    fill_friction,
    fill_links,
    own_columns,
)
from dynid_ros.dynamics.regressor_kernels import fill_momentum
from dynid_ros.utilities.arrays import Array


def momentum_regressors(
    arm: ArmModel,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    load: ArrayLike | None = None,
    history: JointHistory | None = None,
) -> tuple[Array, Array]:
    """
    Regressors P and F of ``d/dt(P theta) + F theta = tau``, for one motion of N samples.

    ``P theta`` is the generalised momentum ``M(q) qd``; ``F theta`` is the gradient of potential
    minus kinetic energy by position, plus friction. No acceleration is needed.

    Parameters
    ----------
    arm : ArmModel
        The arm; ``arm.layout`` names the columns.
    q, qd : (N, n) array_like
        Positions and velocities: rad, rad/s (m for prismatic joints).
    load : (N, n) array_like, optional
        Torque that loads each joint, Nm; needed by the ``load`` friction term only.
    history : JointHistory, optional
        History of the joints, for friction terms that need it; by default they are cold and slide.

    Returns
    -------
    momentum, force : (N, n, p) ndarray
        P and F, rows by sample and joint, columns as in `regressor`.

    Raises
    ------
    ValueError
        A shape is wrong, or ``load`` is missing where a friction term needs it.

    References
    ----------
    Slotine and Li 1987, On the adaptive control of robot manipulators, section 3 (filtered
    torque); design of the terms as in `fill_momentum`.

    """
    q, qd = (np.ascontiguousarray(np.atleast_2d(x), dtype=float) for x in (q, qd))
    layout = arm.layout
    shape = (len(q), arm.n, layout.size)
    if not q.shape == qd.shape == shape[:2]:
        raise ValueError(f'q and qd must both be (N, {arm.n}), not {q.shape} and {qd.shape}')
    momentum, force = np.zeros(shape), np.zeros(shape)
    fill_links(arm, fill_momentum, tree(arm), (q, qd), layout.block, momentum, force)
    if layout.rotor_inertia:
        own_columns(layout, momentum)[:, :, layout.place(ROTOR)] = qd
    fill_friction(arm, qd, load, history, force)
    first = layout.first_coupling
    for k, column in enumerate(arm.coupling):
        changed = momentum if column.quantity == 'qdd' else force
        changed[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qd)
    return momentum, force
