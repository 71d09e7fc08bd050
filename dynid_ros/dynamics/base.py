# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Base parameters: the identifiable combinations of the standard parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, ParameterLayout
from dynid_ros.dynamics.regressor import regressor, rigid_torque
from dynid_ros.utilities.arrays import Array

# Order in which columns are kept. Masses and parameters along an axis, which always regroup, come
# last and are eliminated: the grouping of Gautier and Khalil.
KEEP_FIRST = ('Ixx', 'Ixy', 'Ixz', 'Iyz', 'Izz', 'mx', 'my', 'mz', 'Iyy', 'm')
#: Least part of an independent rigid-body column orthogonal to the columns kept before, relative
#: to the longest column of its unit: a smaller part is invisible in torque. Right angles that a
#: description rounds to 1.571 cause up to 2e-4, and an independent column has 0.06.
EFFECT = 1e-3
#: The same for friction and couplings, which do not depend on angles: rounding is 3e-15.
COLUMN_ROUNDING = 1e-9
BASE_STATES = 200
BASE_SEED = 1990
#: Ratio of the slowest to the fastest speed among random states.
SLOWEST_BY_FASTEST = 1e-3


@dataclass(frozen=True)
class BaseParameters:
    """
    Columns of the base parameters, and the grouping of the other columns into them.

    Attributes
    ----------
    columns : (b,) ndarray of int
        Independent columns of the layout, in ascending order.
    grouping : (b, p) ndarray
        Base parameters are ``grouping @ theta``; the identity on ``columns``.
    sizes : (p,) ndarray
        Norm of each column at random states; zero for a column without effect on torque.
    states : int
        Number of these states.
    layout : ParameterLayout
        Names of the columns.

    """

    columns: NDArray[np.intp]
    grouping: Array
    sizes: Array
    states: int
    layout: ParameterLayout

    @property
    def count(self) -> int:
        """Return the number of base parameters."""
        return len(self.columns)

    @cached_property
    def coordinates(self) -> Array:
        """Map base parameters and then the dependent ones to standard parameters, (p, p)."""
        p, b = self.layout.size, self.count
        others = np.setdiff1d(np.arange(p), self.columns)
        T = np.zeros((p, p))
        T[self.columns, :b], T[others, b:] = np.eye(b), np.eye(p - b)
        T[self.columns, b:] = -self.grouping[:, others]
        return T

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the leading parameter of each group, such as ``Izz1``."""
        names = self.layout.names
        return tuple(names[c] for c in self.columns)

    @property
    def groups(self) -> tuple[str, ...]:
        """Each base parameter as a printable sum of standard parameters."""
        relative = self.sizes[self.columns][:, None] / np.where(self.sizes > 0, self.sizes, np.inf)
        visible = np.where(np.abs(self.grouping) * relative > EFFECT, self.grouping, 0.0)
        return tuple(
            _sum_of_terms(row, int(lead), self.layout.names)
            for row, lead in zip(visible, self.columns, strict=True)
        )


def _sum_of_terms(row: Array, lead: int, names: tuple[str, ...]) -> str:
    text = names[lead]
    for c in np.flatnonzero(row):
        if c != lead:
            factor = '' if abs(row[c]) == 1 else f'{abs(row[c]):.6g} '
            text += f" {'-' if row[c] < 0 else '+'} {factor}{names[c]}"
    return text


def _order(layout: ParameterLayout) -> NDArray[np.intp]:
    inertial = [INERTIAL.index(symbol) for symbol in KEEP_FIRST]
    block = inertial + list(range(len(INERTIAL), layout.block))
    columns = [j * layout.block + c for j in range(layout.joints) for c in block]
    columns += [layout.inertial(layout.joints + f).start + c
                for f in range(layout.followers) for c in inertial]
    return np.array(columns + list(range(len(columns), layout.size)), dtype=np.intp)


def random_states(
    arm: ArmModel, states: int = BASE_STATES, seed: int = BASE_SEED,
) -> tuple[Array, Array, Array, Array, JointHistory]:
    """Random q, qd, qdd and load torque of the joints, (states, n) each, and a history."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-np.pi, np.pi, size=(3, states, arm.n))
    # Only slow joints distinguish smoothed sign functions of different widths.
    qd[1::2] *= np.geomspace(SLOWEST_BY_FASTEST, 1.0, len(qd[1::2]))[:, None]
    # A joint that gravity cannot load, such as an upright first one, has no load column; nor has a
    # lift, since friction by a constant load is plain friction, whatever share its offset takes.
    still, rigid = np.zeros_like(q), arm.rigid
    load = regressor(rigid, q, still, still) @ rng.uniform(size=rigid.layout.size)
    load[:, np.ptp(load, axis=0) <= EFFECT * np.abs(load).max(axis=0)] = 0.0
    # The history may be any numbers independent of the velocity.
    return q, qd, qdd, load, JointHistory(np.abs(qdd), np.tanh(qdd))


def random_regressor(arm: ArmModel, states: int = BASE_STATES, seed: int = BASE_SEED) -> Array:
    """Regressor (states n, p) at random states, the same ones in every run."""
    q, qd, qdd, load, history = random_states(arm, states, seed)
    return regressor(arm, q, qd, qdd, load=load, history=history).reshape(states * arm.n, -1)


@lru_cache(maxsize=32)
def base_parameters(arm: ArmModel) -> BaseParameters:
    """
    Find the base parameters of an arm, independently of any recording.

    A column of the regressor at random states is dependent if it is a linear combination of the
    columns before it (Gautier 1991, Numerical calculation of the base inertial parameters of
    robots), except for a part without effect on torque, see `EFFECT`.

    Returns
    -------
    BaseParameters
        The same in every run.

    """
    layout = arm.layout
    R = np.asarray(np.linalg.qr(random_regressor(arm), mode='r'))
    sizes = np.linalg.norm(R, axis=0)
    order = _order(layout)
    least = np.full(layout.size, COLUMN_ROUNDING * sizes.max())
    links = layout.all_inertial().reshape(-1, len(INERTIAL))
    for columns in (links[:, 0], links[:, 1:4].ravel(), np.append(links[:, 4:], layout.rotors)):
        least[columns] = EFFECT * sizes[columns].max()
    independent = _independent(R[:, order], least[order])
    sizes[sizes <= COLUMN_ROUNDING * sizes.max()] = 0.0
    kept, dependent = order[independent], order[~independent]
    regroup, *_ = np.linalg.lstsq(R[:, kept], R[:, dependent], rcond=None)
    regroup[np.abs(regroup) < COLUMN_ROUNDING] = 0.0
    near = np.round(regroup)
    regroup = np.where(np.abs(regroup - near) < COLUMN_ROUNDING, near, regroup)
    grouping = np.zeros((len(kept), layout.size))
    grouping[np.arange(len(kept)), kept] = 1.0
    grouping[:, dependent] = regroup
    ascending = np.argsort(kept)
    return BaseParameters(kept[ascending], grouping[ascending], sizes, BASE_STATES, layout)


def _independent(columns: Array, least: Array) -> NDArray[np.bool_]:
    """
    Mark columns whose part orthogonal to the columns kept before exceeds a least norm.

    Unlike in a triangular factor, a dropped column does not reduce the columns after it.
    """
    basis = np.zeros((len(columns), 0))
    kept = np.zeros(columns.shape[1], dtype=np.bool_)
    for k, column in enumerate(columns.T):
        residual = column - basis @ (basis.T @ column)
        # Twice, because of rounding.
        residual -= basis @ (basis.T @ residual)
        size = float(np.linalg.norm(residual))
        kept[k] = size > least[k]
        if kept[k]:
            basis = np.column_stack([basis, residual / size])
    return kept


def friction_places(arm: ArmModel) -> NDArray[np.intp]:
    """Positions of the friction columns among the base parameters of an arm, (f,)."""
    layout, base = arm.layout, base_parameters(arm)
    friction = [layout.friction_columns(term.symbol) for term in friction_terms(arm.friction)]
    return np.flatnonzero(np.isin(base.columns, friction))


def standard_of(arm: ArmModel, theta: Array) -> Array:
    """Return standard parameters (p,) with given base parameters (b,); dependent ones are zero."""
    standard = np.zeros(arm.layout.size)
    standard[base_parameters(arm).columns] = theta
    return standard


def gravity_load(arm: ArmModel, q: Array, theta: Array | None) -> Array:
    """
    Torque that holds the arm at rest, from base parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions, rad or m.
    theta : (b,) ndarray or None
        Base parameters of the arm; None for an unknown arm.

    Returns
    -------
    (N, n) ndarray
        Nm; zero for an unknown arm.

    """
    if theta is None:
        return np.zeros_like(q)
    return gravity_torque(arm, q, standard_of(arm, theta)[arm.layout.all_inertial()])


def gravity_torque(arm: ArmModel, q: Array, inertial: Array) -> Array:
    """
    Torque that holds the arm at rest, from inertial parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions, rad or m.
    inertial : (10 m,) ndarray
        Inertial parameters of the links.

    Returns
    -------
    (N, n) ndarray
        Nm.

    """
    still = np.zeros_like(q, dtype=float)
    return rigid_torque(arm, inertial, q, still, still)


def column_scale(arm: ArmModel) -> Array:
    """Root mean square of each base column at random states of joints that move fast, (b,)."""
    W = random_regressor(arm)[:, base_parameters(arm).columns]
    return np.asarray(np.sqrt((W**2).sum(axis=0) * arm.n / len(W)))
