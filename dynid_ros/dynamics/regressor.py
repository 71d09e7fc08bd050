"""The regressor of the dynamics: joint torque is linear in the standard parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.regressor_kernels import fill_inertial
from dynid_ros.utilities.arrays import Array

#: States of which the regressor is in memory at once.
BLOCK = 128


class Tree(NamedTuple):
    """Constant arrays of an arm for the kernels, of all joints, each after its carrier."""

    parent: NDArray[np.int64]
    prismatic: NDArray[np.bool_]
    turns: Array
    translation: Array
    slide: Array
    axis: Array
    gravity: Array


@lru_cache(maxsize=32)
def tree(arm: ArmModel) -> Tree:
    """
    Arrays for the kernels, with Rodrigues' formula expanded once for each joint.

    ``R(q) = P + sin q P K + (1 - cos q) P K²`` with P the placement and K the cross-product
    matrix of the axis.
    """
    order = arm.tree.order
    # The base, -1, stands last.
    place = np.append(np.argsort(order), -1)
    axis, P, prismatic = arm.axis[order], arm.rotation[order], arm.tree.prismatic[order]
    K = np.cross(np.eye(3), axis[:, None, :])
    turns = np.stack([P, P @ K, P @ K @ K], axis=1).reshape(arm.links, 27)
    slide = np.where(prismatic[:, None], np.einsum('jab,jb->ja', P, axis), 0.0)
    return Tree(
        np.ascontiguousarray(place[arm.parent[order]], dtype=np.int64),
        np.ascontiguousarray(prismatic, dtype=np.bool_),
        *(np.ascontiguousarray(x, dtype=float)
          for x in (turns, arm.translation[order], slide, axis, arm.gravity)),
    )


def all_joints(arm: ArmModel, q: Array, *rates: Array) -> tuple[Array, ...]:
    """Motion (..., m) of all joints, as the kernels number them, by those with drives."""
    motion = (arm.tree.positions(q), *map(arm.tree.rates, rates))
    order = arm.tree.order if arm.tree.followers else slice(None)
    return tuple(np.ascontiguousarray(x[..., order], dtype=float) for x in motion)


def fill_links(
    arm: ArmModel, kernel: Callable[..., None], constants: Tree, motion: tuple[Array, ...],
    block: int, *out: Array,
) -> None:
    """
    Fill the inertial columns of regressors.

    A virtual displacement of a joint moves its followers, too, so that the torque of these counts
    for it by their gearing: ``tau = Gᵀ tau_all`` with ``qd_all = G qd``.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    kernel : callable
        `fill_inertial` or `fill_momentum`.
    constants : Tree
        Arrays of the arm.
    motion : tuple of (N, n) ndarray
        What the kernel takes: positions, velocities and perhaps accelerations.
    block : int
        Columns of one joint.
    out : (N, n, p) ndarray
        Output; entries of links that a joint does not carry are left as they are.

    """
    if not arm.tree.followers:
        kernel(*constants, *motion, block, *out)
        return
    width, order = len(INERTIAL), arm.tree.order
    every = [np.zeros((len(motion[0]), arm.links, width * arm.links)) for _ in out]
    kernel(*constants, *all_joints(arm, *motion), width, *every)
    led = np.maximum(0, order - arm.n)
    starts = (order - led) * block + led * width
    columns = (starts[:, None] + np.arange(width)).ravel()
    for own, full in zip(out, every, strict=True):
        own[:, :, columns] = arm.tree.gearing[order].T @ full


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
    fill_links(arm, fill_inertial, tree(arm), (q, qd, qdd), layout.block, Y)
    if layout.rotor_inertia:
        Y[:, range(arm.n), layout.rotors] = qdd
    fill_friction(arm, qd, load, history, Y)
    first = layout.first_coupling
    for k, column in enumerate(arm.coupling):
        Y[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qdd)
    return Y


def rigid_torque(
    arm: ArmModel, inertial: Array, q: Array, qd: Array, qdd: Array, *, weightless: bool = False,
) -> Array:
    """
    Torque of the links of an arm alone.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    inertial : (10 m,) ndarray
        Inertial parameters of the links.
    q, qd, qdd : (N, n) ndarray
        Positions, velocities and accelerations.
    weightless : bool
        Without gravity.

    Returns
    -------
    (N, n) ndarray
        Nm, or N for prismatic joints.

    """
    width, torque, constants = len(INERTIAL), np.empty(q.shape), tree(arm)
    if weightless:
        constants = constants._replace(gravity=np.zeros(3))
    # In blocks, of which the regressor stays in the cache.
    Y = np.zeros((min(BLOCK, len(q)), q.shape[1], inertial.size))
    for start in range(0, len(q), BLOCK):
        part = slice(start, start + BLOCK)
        motion = tuple(np.ascontiguousarray(x[part], dtype=float) for x in (q, qd, qdd))
        rows = Y[:len(motion[0])]
        fill_links(arm, fill_inertial, constants, motion, width, rows)
        torque[part] = rows @ inertial
    return torque


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
    loads = np.zeros_like(qd) if load is None else np.atleast_2d(np.asarray(load, dtype=float))
    known = JointHistory.unknown(qd) if history is None else history
    for term in friction_terms(arm.friction):
        if term.needs_load and load is None:
            raise ValueError(f"friction term '{term.name}' needs the torque that loads the joints")
        out[:, range(arm.n), arm.layout.friction_columns(term.symbol)] = term.at(
            qd, loads, known, arm.friction_shape)


def coupling_value(quantity: str, matrix: Array, qd: Array, qdd: Array) -> Array:
    """Value (N, n) of a declared coupling column; see `CouplingColumn`."""
    if quantity == 'qdd':
        return np.asarray(qdd @ matrix.T)
    combined = qd @ matrix.T
    return np.asarray(combined if quantity == 'qd' else np.sign(combined))
