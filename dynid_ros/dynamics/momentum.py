"""Regressors without acceleration: the change of momentum is torque minus position forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import coupling_value, fill_friction, Tree, tree
from dynid_ros.dynamics.regressor_kernels import fill_inertial
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

    Notes
    -----
    ``P theta`` is the torque of the accelerations qd at rest and without gravity. With
    Christoffel's C, the change of ``M qd`` that no torque makes is ``Cᵀ qd - g``. Its entry i is
    ``qdᵀ C e_i``, of which ``C e_i`` follows from the torque at the velocities qd + e_i, qd and
    e_i.

    References
    ----------
    Slotine and Li 1987, On the adaptive control of robot manipulators, section 3 (filtered
    torque).

    """
    q, qd = (np.ascontiguousarray(np.atleast_2d(x), dtype=float) for x in (q, qd))
    layout = arm.layout
    shape = (len(q), arm.n, layout.size)
    if not q.shape == qd.shape == shape[:2]:
        raise ValueError(f'q and qd must both be (N, {arm.n}), not {q.shape} and {qd.shape}')
    constants, still = tree(arm), np.zeros_like(q)
    weightless = constants._replace(gravity=np.zeros(3))

    def inertial(own: Tree, velocity: Array, acceleration: Array) -> Array:
        Y = np.zeros(shape)
        fill_inertial(*own, q, velocity, acceleration, layout.block, Y)
        return Y

    momentum, force = inertial(weightless, still, qd), inertial(constants, still, still)
    squares = inertial(weightless, qd, still)
    for i, unit in enumerate(np.eye(arm.n)):
        mixed = inertial(weightless, qd + unit, still) - squares
        mixed -= inertial(weightless, still + unit, still)
        force[:, i] -= 0.5 * np.einsum('kj,kjp->kp', qd, mixed)
    joints = range(arm.n)
    if layout.rotor_inertia:
        momentum[:, joints, [layout.rotor(j) for j in joints]] = qd
    fill_friction(arm, qd, load, history, force)
    first = arm.n * layout.block
    for k, column in enumerate(arm.coupling):
        if column.quantity == 'qdd':
            momentum[:, :, first + k] = qd @ column.matrix.T
        else:
            force[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qd)
    return momentum, force
