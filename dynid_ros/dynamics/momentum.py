"""Regressors without acceleration: the change of momentum is torque minus position forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kernels import (
    carry_screw,
    cross,
    joint_screw,
    load,
    plus,
    pose_in_parent,
    scaled,
    store,
    turn,
    Vector,
)
from dynid_ros.dynamics.regressor import (
    coupling_value,
    fill_friction,
    fill_links,
    tree,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def project_momentum(
    w: Vector, u: Vector, o: Vector, v: Vector, out: Array, k: int, i: int, c: int
) -> None:
    """
    Ten entries of the momentum regressor: momentum of one joint by the parameters of one link.

    With linear momentum P = m u + w x h and angular momentum L = h x u + Io w about the origin
    of the link's frame, the momentum of the joint is ``o·L + v·P``.

    Parameters
    ----------
    w, u : tuple
        Angular velocity of the link, and linear velocity of the origin of its frame.
    o, v : tuple
        Screw of the joint: angular and linear velocity that unit speed of the joint gives.
    out, k, i, c : (N, n, p) ndarray and int
        Output: sample ``k``, joint ``i``, from column ``c`` on.

    """
    store(out[k], i, c + 1, plus(cross(u, o), cross(v, w)))
    out[k, i, c] = v[0] * u[0] + v[1] * u[1] + v[2] * u[2]
    out[k, i, c + 4] = o[0] * w[0]
    out[k, i, c + 5] = o[0] * w[1] + o[1] * w[0]
    out[k, i, c + 6] = o[0] * w[2] + o[2] * w[0]
    out[k, i, c + 7] = o[1] * w[1]
    out[k, i, c + 8] = o[1] * w[2] + o[2] * w[1]
    out[k, i, c + 9] = o[2] * w[2]


@kernel
def add_weight(a: Vector, o: Vector, v: Vector, out: Array, k: int, i: int, c: int) -> None:
    """Add the torque of one joint by the mass and first moments of a link under gravity -a."""
    moment = cross(a, o)
    out[k, i, c] += v[0] * a[0] + v[1] * a[1] + v[2] * a[2]
    out[k, i, c + 1] += moment[0]
    out[k, i, c + 2] += moment[1]
    out[k, i, c + 3] += moment[2]


@kernel
def project_all(
    motion: Array, screw: Array, j: int, row: int, momentum: Array, force: Array,
    k: int, i: int, c: int,
) -> None:
    """Entries of both regressors for joint ``i`` and link ``j``, whose screw is in ``row``."""
    w, u, a = load(motion, j, 0), load(motion, j, 3), load(motion, j, 6)
    o, v = load(screw, row, 0), load(screw, row, 3)
    project_momentum(w, u, o, v, momentum, k, i, c)
    less_o, less_v = scaled(-1.0, load(screw, row, 6)), scaled(-1.0, load(screw, row, 9))
    project_momentum(w, u, less_o, less_v, force, k, i, c)
    add_weight(a, o, v, force, k, i, c)


@kernel
def fill_momentum(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array,
    q: Array, qd: Array, block: int, momentum: Array, force: Array,
) -> None:
    """
    Fill the inertial columns of the momentum and the force regressor.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis, gravity, block
        As for `fill_inertial`.
    q, qd : (N, n) ndarray
        Motion: rad, rad/s (m for prismatic joints).
    momentum : (N, n, p) ndarray
        Output: regressor of ∂T/∂qd; entries of links that a joint does not carry are left.
    force : (N, n, p) ndarray
        Output: regressor of ∂V/∂q - ∂T/∂q, likewise.

    Notes
    -----
    The velocity of link j, seen in its own frame, changes with the position of a joint i that
    carries it by the Lie bracket of the velocity of link i and the screw of joint i, taken to
    frame j (Featherstone 2008, Rigid Body Dynamics Algorithms, eq. 2.46); so ∂T/∂q_i is the
    momentum of link j on that bracket, as the momentum of the joint is the one on its screw.

    """
    n = parent.size
    motion = np.empty((n, 9))
    screw = np.empty((n * n, 12))
    zero = (0.0, 0.0, 0.0)
    free_fall = scaled(-1.0, (gravity[0], gravity[1], gravity[2]))
    for k in range(q.shape[0]):
        for j in range(n):
            up = parent[j]
            z = load(axis, j, 0)
            r, shift = pose_in_parent(prismatic, turns, translation, slide, j, q[k, j])
            w, u, a = zero, zero, free_fall
            if up >= 0:
                w = load(motion, up, 0)
                u = load(motion, up, 3)
                a = load(motion, up, 6)
            u = turn(r, plus(u, cross(w, shift)))
            w = turn(r, w)
            push = scaled(qd[k, j], z)
            own = j * n + j
            if prismatic[j]:
                u = plus(u, push)
            else:
                w = plus(w, push)
            o, v = joint_screw(prismatic[j], z)
            store(screw, own, 0, o)
            store(screw, own, 3, v)
            # The Lie bracket of the link's velocity and the screw.
            store(screw, own, 6, cross(w, o))
            store(screw, own, 9, plus(cross(u, o), cross(w, v)))
            store(motion, j, 0, w)
            store(motion, j, 3, u)
            store(motion, j, 6, turn(r, a))
            project_all(motion, screw, j, own, momentum, force, k, j, j * block)
            i = up
            while i >= 0:
                source, row = up * n + i, j * n + i
                carry_screw(screw, source, row, 0, r, shift)
                carry_screw(screw, source, row, 6, r, shift)
                project_all(motion, screw, j, row, momentum, force, k, i, j * block)
                i = parent[i]


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
        momentum[:, range(arm.n), layout.rotors] = qd
    fill_friction(arm, qd, load, history, force)
    first = layout.first_coupling
    for k, column in enumerate(arm.coupling):
        changed = momentum if column.quantity == 'qdd' else force
        changed[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qd)
    return momentum, force
