# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Physically possible parameters as a conic program, which Clarabel solves: the truth of a test.

The arms are of several sizes, and their estimates are impossible at each link.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.estimate.physical_cone import (
    physical_cone,
    PhysicalCone,
    SCALAR,
    UNIT_PSEUDO_INERTIAS,
)

Array = NDArray[np.float64]

#: Standard deviation of the torque, Nm, and of the parameters' error in their own.
SIGMA, OFF = 1.0, 3.0


def by_clarabel(A: Array, b: Array, cone: PhysicalCone, weight: float) -> Array:
    """
    Solve the problem of `dynid_ros.estimation.estimate.barrier_newton` as a conic program.

    With Z lower triangular, ``[[P, Z], [Zᵀ, diag(Z)]] >= 0`` and ``t_i <= log Z_ii`` give
    ``sum t <= log det P`` (Boyd and Vandenberghe 2004; MOSEK Modeling Cookbook, 6.2.3).
    """
    import clarabel

    p, links, scalars = A.shape[1], len(cone.links), len(cone.rows)
    # Unknowns: x, then ten entries of Z and four t of each link, then one t of each scalar.
    size = p + 14 * links + scalars
    quadratic = sparse.lil_matrix((size, size))
    quadratic[:p, :p] = A.T @ A
    linear = np.zeros(size)
    linear[:p] = -A.T @ b + weight * cone.pull
    linear[p + 10 * links:] = -weight
    linear[p + 14 * links:] *= SCALAR
    rows: list[Array] = []
    offsets: list[float] = []
    cones: list[object] = []

    def constrain(entries: dict[int, float], offset: float = 0.0) -> None:
        row = np.zeros(size)
        for column, value in entries.items():
            row[column] -= value
        rows.append(row)
        offsets.append(offset)

    def exponential(t: int, entries: dict[int, float], offset: float = 0.0) -> None:
        constrain({t: 1.0})
        constrain({}, 1.0)
        constrain(entries, offset)
        cones.append(clarabel.ExponentialConeT())

    triangle = [(i, j) for i in range(4) for j in range(i + 1)]
    for link, columns in enumerate(cone.links):
        z = {at: p + 10 * link + k for k, at in enumerate(triangle)}
        for j in range(8):
            for i in range(j + 1):
                scale = 1.0 if i == j else np.sqrt(2)
                if j < 4:
                    entries = {int(c): scale * UNIT_PSEUDO_INERTIAS[k, i, j]
                               for k, c in enumerate(columns)}
                elif i < 4:
                    entries = {z[i, j - 4]: scale} if i >= j - 4 else {}
                else:
                    entries = {z[i - 4, i - 4]: scale} if i == j else {}
                constrain(entries)
        cones.append(clarabel.PSDTriangleConeT(8))
        for i in range(4):
            exponential(p + 10 * links + 4 * link + i, {z[i, i]: 1.0})
    for k, (row, offset) in enumerate(zip(cone.rows, cone.offsets, strict=True)):
        entries = {int(column): float(row[column]) for column in np.flatnonzero(row)}
        exponential(p + 14 * links + k, entries, float(offset))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.triu(quadratic).tocsc(), linear, sparse.csc_matrix(np.array(rows)),
        np.array(offsets), cones, settings)
    return np.array(solver.solve().x)[:p]


def problem(arm: ArmModel, seed: int = 0) -> tuple[Array, Array, PhysicalCone]:
    """Rows, right side and cone of an arm whose estimate no bodies have."""
    rng = np.random.default_rng(seed)
    base = base_parameters(arm)
    root = np.linalg.qr(random_regressor(arm)[:, base.columns] / SIGMA, mode='r')
    true = base.grouping @ nominal_parameters(arm)
    theta = true + OFF * np.linalg.solve(root, rng.normal(size=base.count))
    A, b = root @ base.grouping, root @ theta
    bare = replace(arm, inertial=None)
    prior = arm_prior(bare)
    # Of bodies as large as they are stated: a conic solver has no other.
    cone = replace(physical_cone(bare, prior), sizes=None)
    # Columns outside the cone, such as offsets, have their prior as further rows.
    tie = np.diag(1 / prior.std)
    return np.vstack([A, tie]), np.append(b, tie @ prior.values), cone


def objective(A: Array, b: Array, cone: PhysicalCone, weight: float, x: Array) -> float:
    """Return the objective of the solver at parameters (p,)."""
    return float(
        0.5 * np.sum((A @ x - b)**2) + weight * (
            cone.pull @ x - SCALAR * np.log(cone.scalars(x)).sum()
            - np.linalg.slogdet(cone.bodies(x))[1].sum()))


def many_joints(count: int) -> ArmModel:
    """Return an arm of the links of the Panda, one after the other."""
    panda = load_arm('panda')
    at = np.arange(count) % panda.n
    assert panda.inertial is not None
    return replace(
        panda.with_tree(
            joint_names=tuple(f'joint{k + 1}' for k in range(count)),
            parent=np.arange(count) - 1, rotation=panda.rotation[at],
            translation=panda.translation[at], prismatic=panda.prismatic[at],
            axis=panda.axis[at]),
        inertial=panda.inertial[at], rotor_nominal=None, friction_nominal={},
        limits=JointLimits.unknown(count), drive=Drive.joint_torque(count))
