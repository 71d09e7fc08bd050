"""The regressor of the dynamics: joint torque is linear in the standard parameters."""

from __future__ import annotations

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
    """Constant arrays of an arm for the kernels."""

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
    n = arm.n
    K = np.cross(np.eye(3), arm.axis[:, None, :])
    P = arm.rotation
    turns = np.stack([P, P @ K, P @ K @ K], axis=1).reshape(n, 27)
    along = np.einsum('jab,jb->ja', P, arm.axis)
    slide = np.where(arm.prismatic[:, None], along, 0.0)
    return Tree(
        np.ascontiguousarray(arm.parent, dtype=np.int64),
        np.ascontiguousarray(arm.prismatic, dtype=np.bool_),
        *(np.ascontiguousarray(x, dtype=float)
          for x in (turns, arm.translation, slide, arm.axis, arm.gravity)),
    )


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
    fill_inertial(*tree(arm), q, qd, qdd, layout.block, Y)
    joints = range(arm.n)
    if layout.rotor_inertia:
        Y[:, joints, [layout.rotor(j) for j in joints]] = qdd
    fill_friction(arm, qd, load, history, Y)
    first = arm.n * layout.block
    for k, column in enumerate(arm.coupling):
        Y[:, :, first + k] = coupling_value(column.quantity, column.matrix, qd, qdd)
    return Y


def rigid_torque(constants: Tree, inertial: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """
    Torque of the links of an arm alone.

    Parameters
    ----------
    constants : Tree
        Arrays of the arm.
    inertial : (10 n,) ndarray
        Inertial parameters of the links.
    q, qd, qdd : (N, n) ndarray
        Positions, velocities and accelerations.

    Returns
    -------
    (N, n) ndarray
        Nm, or N for prismatic joints.

    """
    width, torque = len(INERTIAL), np.empty(q.shape)
    # In blocks, of which the regressor stays in the cache.
    Y = np.zeros((min(BLOCK, len(q)), q.shape[1], inertial.size))
    for start in range(0, len(q), BLOCK):
        part = slice(start, start + BLOCK)
        states, rates, changes = (
            np.ascontiguousarray(x[part], dtype=float) for x in (q, qd, qdd))
        fill_inertial(*constants, states, rates, changes, width, Y)
        torque[part] = Y[:len(states)] @ inertial
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
        joints = range(arm.n)
        columns = [arm.layout.friction_column(j, term.symbol) for j in joints]
        out[:, joints, columns] = term.at(qd, loads, known, arm.friction_shape)


def coupling_value(quantity: str, matrix: Array, qd: Array, qdd: Array) -> Array:
    """Value (N, n) of a declared coupling column; see `CouplingColumn`."""
    if quantity == 'qdd':
        return np.asarray(qdd @ matrix.T)
    combined = qd @ matrix.T
    return np.asarray(combined if quantity == 'qd' else np.sign(combined))
