# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The regressor of the dynamics: joint torque is linear in the standard parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import ParameterLayout, ROTOR
from dynid_ros.dynamics.kernel_arrays import all_joints, pairs, Tree, tree
from dynid_ros.dynamics.link_tiles import LINK_WIDTH
from dynid_ros.dynamics.regressor_kernels import combine, fill_inertial
from dynid_ros.utilities.arrays import Array

#: Number of states whose regressor fits the cache.
STATES_PER_BLOCK = 128
#: Empty output, which `fill_inertial` skips.
NO_OUTPUT = np.empty((0, 0, 0))


def fill_tiles(arm: ArmModel, constants: Tree, motion: Sequence[Array], tiles: Array) -> None:
    """
    Fill tiles with the inertial entries of the regressor.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    constants : Tree
        Its arrays.
    motion : sequence of (N, n) ndarray
        Positions, velocities and accelerations.
    tiles : (⌈N / TILE⌉ or more, pairs, 10 TILE) ndarray
        Output; entries after the last sample are not written.

    """
    q, qd, qdd = all_joints(arm, *motion)
    fill_inertial(*constants, q, qd, qdd, *pairs(arm), NO_OUTPUT, tiles)


def inertial_rows(*arguments: Any) -> None:
    """Call `fill_inertial` for output by samples only."""
    fill_inertial(*(*arguments, NO_OUTPUT))


def fill_links(
    arm: ArmModel, kernel: Callable[..., None], constants: Tree, motion: tuple[Array, ...],
    block: int, *out: Array,
) -> None:
    """
    Fill the inertial columns of regressors.

    A virtual displacement of a joint also moves its followers, so their torque adds to that of the
    joint by their gearing: ``tau = Gᵀ tau_all`` with ``qd_all = G qd``.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    kernel : callable
        `inertial_rows` or `fill_momentum`.
    constants : Tree
        Arrays of the arm.
    motion : tuple of (N, n) ndarray
        Positions, velocities and, if the kernel needs them, accelerations.
    block : int
        Columns of one joint.
    out : (N, n, p) ndarray
        Output; entries of links that a joint does not carry are not written.

    """
    if not arm.tree.followers:
        kernel(*constants, *motion, *pairs(arm, block), *out)
        return
    of_all_joints = [np.zeros((len(motion[0]), arm.links, LINK_WIDTH * arm.links)) for _ in out]
    kernel(*constants, *all_joints(arm, *motion), *pairs(arm), *of_all_joints)
    order = arm.tree.order
    follower = np.maximum(0, order - arm.n)
    starts = (order - follower) * block + follower * LINK_WIDTH
    columns = (starts[:, None] + np.arange(LINK_WIDTH)).ravel()
    for target, full in zip(out, of_all_joints, strict=True):
        target[:, :, columns] = arm.tree.gearing[order].T @ full


def regressor(
    arm: ArmModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    load: ArrayLike | None = None,
    history: JointHistory | None = None,
) -> Array:
    """
    Regressor Y of ``tau = Y theta``, for one motion of N samples.

    Parameters
    ----------
    arm : ArmModel
        The arm; ``arm.layout`` names the columns.
    q, qd, qdd : (N, n) array_like
        Positions, velocities and accelerations: rad, rad/s, rad/s² (m for prismatic joints).
    load : (N, n) array_like, optional
        Torque that loads each joint, Nm; needed by the ``load`` friction term only.
    history : JointHistory, optional
        History of the joints, for friction terms that need it; by default they are cold and slide.

    Returns
    -------
    (N, n, p) ndarray
        Rows by sample and joint.

    Raises
    ------
    ValueError
        A shape is wrong, or ``load`` is missing where a friction term needs it.

    References
    ----------
    Khalil and Dombre, Modeling, Identification and Control of Robots, chapter 9 and 12.

    """
    q, qd, qdd = (np.ascontiguousarray(np.atleast_2d(x), dtype=float) for x in (q, qd, qdd))
    layout = arm.layout
    shape = (len(q), arm.n, layout.size)
    if not q.shape == qd.shape == qdd.shape == shape[:2]:
        raise ValueError(f'q, qd and qdd must all be (N, {arm.n}), not '
                         f'{q.shape}, {qd.shape} and {qdd.shape}')
    # The kernel does not write the entries of links that a joint does not carry.
    Y = np.zeros(shape)
    fill_links(arm, inertial_rows, tree(arm), (q, qd, qdd), layout.block, Y)
    if layout.rotor_inertia:
        own_columns(layout, Y)[:, :, layout.place(ROTOR)] = qdd
    fill_friction(arm, qd, load, history, Y)
    first = layout.first_coupling
    for k, column in enumerate(arm.coupling):
        Y[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qdd)
    return Y


def rigid_torque(
    arm: ArmModel, inertial: Array, q: Array, qd: Array, qdd: Array, *, weightless: bool = False,
) -> Array:
    """
    Torque of the links of an arm, without drives and friction.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    inertial : (10 m,) ndarray
        Inertial parameters of the links.
    q, qd, qdd : (N, n) ndarray
        Positions, velocities and accelerations.
    weightless : bool
        Whether to omit gravity.

    Returns
    -------
    (N, n) ndarray
        Nm, or N for prismatic joints.

    """
    constants, link_pairs, followed = tree(arm), pairs(arm), bool(arm.tree.followers)
    if weightless:
        constants = constants._replace(gravity=np.zeros(3))
    # A copy, because a read-only array would require another compilation of the kernel.
    inertial = inertial.reshape(-1, LINK_WIDTH)[arm.tree.order].ravel()
    torque, tiles = np.empty((len(q), arm.links)), link_pairs.tiles(min(STATES_PER_BLOCK, len(q)))
    for start in range(0, len(q), STATES_PER_BLOCK):
        part = slice(start, start + STATES_PER_BLOCK)
        fill_tiles(arm, constants, (q[part], qd[part], qdd[part]), tiles)
        combine(*link_pairs, tiles, inertial, torque[part])
    return np.asarray(torque @ arm.tree.gearing[arm.tree.order]) if followed else torque


def fill_friction(
    arm: ArmModel, qd: Array, load: ArrayLike | None, history: JointHistory | None, out: Array,
) -> None:
    """
    Fill the friction columns of a regressor.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    qd : (N, n) ndarray
        Velocities, rad/s or m/s.
    load : (N, n) array_like or None
        Torque that loads each joint, Nm.
    history : JointHistory or None
        History of the joints; None for cold joints that slide.
    out : (N, n, p) ndarray
        Output.

    Raises
    ------
    ValueError
        ``load`` is missing where a friction term needs it.

    """
    terms = friction_terms(arm.friction)
    if history is None and any(term.needs_history for term in terms):
        history = JointHistory.unknown(qd)
    loads = None if load is None else np.atleast_2d(np.asarray(load, dtype=float))
    own = own_columns(arm.layout, out)
    for term in terms:
        if term.needs_load and loads is None:
            raise ValueError(f"friction term '{term.name}' needs the torque that loads the joints")
        own[:, :, arm.layout.place(term.symbol)] = term.at(qd, loads, history, arm.friction_shape)


def own_columns(layout: ParameterLayout, rows: Array) -> Array:
    """View (N, n, block) of the entries of each joint in its own columns; rows (N, n, p)."""
    n, block = layout.joints, layout.block
    blocks = rows[:, :, :n * block].reshape(len(rows), n, n, block)
    return np.asarray(np.einsum('kjjb->kjb', blocks))


def coupling_value(quantity: str, matrix: Array, qd: Array, qdd: Array) -> Array:
    """Value (N, n) of a declared coupling column; see `CouplingColumn`."""
    if quantity == 'qdd':
        return np.asarray(qdd @ matrix.T)
    combined = qd @ matrix.T
    return np.asarray(combined if quantity == 'qd' else np.sign(combined))
