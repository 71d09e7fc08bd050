"""Base parameters: the identifiable combinations of the standard parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, ParameterLayout
from dynid_ros.dynamics.gravity_kernel import fill_gravity
from dynid_ros.dynamics.regressor import regressor, tree

Array = NDArray[np.float64]

# Columns are kept from first to last, so that the masses and the parameters along an axis, which
# always regroup, are eliminated: the grouping of Gautier and Khalil.
KEEP_FIRST = ('Ixx', 'Ixy', 'Ixz', 'Iyz', 'Izz', 'mx', 'my', 'mz', 'Iyy', 'm')
#: What is left of a column of unit length beside the columns kept before it, or singular value by
#: the largest one, below which a regressor leaves a direction open. At random states of the
#: shipped arms, with all friction terms and without, rounding leaves at most 3e-15 of a dependent
#: column and an independent one keeps at least 3e-3; the smallest singular value is 1e-3.
RANK_TOLERANCE = 1e-9
STATES = 200
SEED = 1990
#: Speed of the slowest random state, by that of the fastest ones.
SLOWEST = 1e-3


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
    layout : ParameterLayout
        Names of the columns.

    """

    columns: NDArray[np.intp]
    grouping: Array
    layout: ParameterLayout

    @property
    def count(self) -> int:
        """Return the number of base parameters."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the leading parameter of each group, such as ``Izz1``."""
        names = self.layout.names
        return tuple(names[c] for c in self.columns)

    @property
    def groups(self) -> tuple[str, ...]:
        """Each base parameter as a printable sum of standard parameters."""
        return tuple(
            _sum_of_terms(row, int(lead), self.layout.names)
            for row, lead in zip(self.grouping, self.columns, strict=True)
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
    own = [j * layout.block + c for j in range(layout.joints) for c in block]
    return np.array(own + list(range(len(own), layout.size)), dtype=np.intp)


def _triangle(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode='r'))


def random_states(
    arm: ArmModel, states: int = STATES, seed: int = SEED,
) -> tuple[Array, Array, Array, Array, JointHistory]:
    """Random q, qd and qdd, the torque that loads the joints, (states, n) each, and a history."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-np.pi, np.pi, size=(3, states, arm.n))
    # Smooth signs of several speeds differ in slow joints only.
    qd[1::2] *= np.geomspace(SLOWEST, 1.0, len(qd[1::2]))[:, None]
    # A joint that gravity cannot load, such as an upright first one, has no load column.
    still, rigid = np.zeros_like(q), arm.rigid()
    load = regressor(rigid, q, still, still) @ rng.uniform(size=rigid.layout.size)
    # Any other numbers that do not depend on the velocity would do.
    return q, qd, qdd, load, JointHistory(np.abs(qdd), np.tanh(qdd))


def random_regressor(arm: ArmModel, states: int = STATES, seed: int = SEED) -> Array:
    """Regressor (states n, p) at random states, the same ones in every run."""
    q, qd, qdd, load, history = random_states(arm, states, seed)
    return regressor(arm, q, qd, qdd, load=load, history=history).reshape(states * arm.n, -1)


@lru_cache(maxsize=32)
def base_parameters(arm: ArmModel) -> BaseParameters:
    """
    Find the base parameters of an arm, independently of any recording.

    A column of the regressor at random states that depends on the columns before it has a
    vanishing diagonal entry of R in ``W = Q R`` (Gautier 1991, Numerical calculation of the
    base inertial parameters of robots).

    Returns
    -------
    BaseParameters
        The same in every run.

    """
    layout = arm.layout
    W = random_regressor(arm)
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > RANK_TOLERANCE * norms.max(), norms, np.inf)
    order = _order(layout)
    R = _triangle(W[:, order] / scale[order])
    independent = np.abs(np.diag(R)) > RANK_TOLERANCE
    kept, gone = order[independent], order[~independent]
    # The triangle stands for the rows, once no dependent column comes before an independent one:
    # rounding gives it a direction of its own, which would be missing in the columns behind it.
    sizes = np.where(np.isfinite(scale), scale, 0.0)[order]
    R = _triangle((R * sizes)[:, np.argsort(~independent, kind='stable')])
    b = len(kept)
    regroup = solve_triangular(R[:b, :b], R[:b, b:])
    regroup[np.abs(regroup) < RANK_TOLERANCE] = 0.0
    near = np.round(regroup)
    regroup = np.where(np.abs(regroup - near) < RANK_TOLERANCE, near, regroup)
    grouping = np.zeros((b, layout.size))
    grouping[np.arange(b), kept] = 1.0
    grouping[:, gone] = regroup
    ascending = np.argsort(kept)
    return BaseParameters(kept[ascending], grouping[ascending], layout)


def friction_places(arm: ArmModel) -> NDArray[np.intp]:
    """Positions of the friction columns among the base parameters of an arm, (f,)."""
    layout, base = arm.layout, base_parameters(arm)
    own = {layout.friction_column(joint, term.symbol)
           for joint in range(arm.n) for term in friction_terms(arm.friction)}
    return np.array([k for k, column in enumerate(base.columns) if column in own], dtype=np.intp)


def gravity_load(arm: ArmModel, q: Array, theta: Array | None) -> Array:
    """
    Torque that holds the arm at rest, from its base parameters.

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
    standard = np.zeros(arm.layout.size)
    standard[base_parameters(arm).columns] = theta
    return gravity_torque(arm, q, standard[arm.layout.all_inertial()])


def gravity_torque(arm: ArmModel, q: Array, inertial: Array) -> Array:
    """
    Torque that holds the arm at rest, from its inertial parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions, rad or m.
    inertial : (10 n,) ndarray
        Inertial parameters of the links; only those of order zero and one count.

    Returns
    -------
    (N, n) ndarray
        Nm.

    """
    q = np.ascontiguousarray(q, dtype=float)
    moments = np.ascontiguousarray(inertial.reshape(arm.n, -1)[:, :4])
    out = np.empty_like(q)
    fill_gravity(*tree(arm), moments, q, out)
    return out
