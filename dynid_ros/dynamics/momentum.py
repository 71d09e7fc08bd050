"""Regressors without acceleration: the change of momentum is torque minus position forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.momentum_kernels import fill_momentum
from dynid_ros.dynamics.regressor import coupling_value, fill_friction, tree

Array = NDArray[np.float64]


def momentum_regressors(
    arm: ArmModel,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    load: ArrayLike | None = None,
    out: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """
    Regressors P and F of ``d/dt(P theta) + F theta = tau``, for one motion of N samples.

    ``P theta`` is the generalised momentum ``M(q) qd``; ``F theta`` is the gradient of the
    potential minus that of the kinetic energy by position, plus friction. No acceleration is
    needed.

    Parameters
    ----------
    arm : ArmModel
        The arm; ``arm.layout`` names the columns.
    q, qd : (N, n) array_like
        Positions and velocities: rad, rad/s (m for prismatic joints).
    load : (N, n) array_like, optional
        Torque that loads each joint, Nm; needed by the ``load`` friction term only.
    out : two (N, n, p) ndarray, optional
        C-contiguous arrays to fill, which were zero or came from an earlier call.

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
    momentum, force = out or (np.zeros(shape), np.zeros(shape))
    for array in (momentum, force):
        if array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(f'out must be two C-contiguous {shape} arrays')
    fill_momentum(*tree(arm), q, qd, layout.block, momentum, force)
    joints = range(arm.n)
    if layout.rotor_inertia:
        momentum[:, joints, [layout.rotor(j) for j in joints]] = qd
    fill_friction(arm, qd, load, force)
    first = arm.n * layout.block
    for k, column in enumerate(arm.coupling):
        if column.quantity == 'qdd':
            momentum[:, :, first + k] = qd @ column.matrix.T
        else:
            force[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qd)
    return momentum, force
