"""What is known of the standard parameters of an arm before any motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.friction import CURVE, dry_friction, friction_terms, PRESLIDING, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia
from dynid_ros.dynamics.base import random_states
from dynid_ros.dynamics.rigid_body import mass_matrix
from dynid_ros.model.barrier_newton import PhysicalCone

Array = NDArray[np.float64]

#: Radius of a link by its length, and by the mean length of the links at the least.
SLENDER, STOUT = 0.25, 0.15
#: Length of a link where no joint or tool tells any, m; its mass still follows from the data.
LENGTH = 0.3
#: Density of a link before the data tell it, kg/m³: some aluminium, some motor, some air.
DENSITY = 1500.0
#: Least eigenvalue of a stated pseudo-inertia, by the largest, that counts as a body.
BODY = 1e-9
#: Friction terms whose coefficient may be negative.
SIGNED = ('offset', WARM)
#: Speeds at which a friction curve opposes the motion, rad/s or m/s.
SPEEDS = np.geomspace(3e-3, 3.0, 7)
#: States over which the inertia about a joint is averaged.
STATES = 20


def inertia_prior(arm: ArmModel, A: Array, b: Array) -> tuple[PhysicalCone, tuple[bool, ...]]:
    """
    Collect the stated parameters, and plausible ones where none are stated.

    The cylinders are of one density, which suits the data best.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    A : (m, p) ndarray
        Whitened rows of the standard parameters.
    b : (m,) ndarray
        Their right side.

    Returns
    -------
    cone : PhysicalCone
        Columns that are constrained, and values inside.
    from_shape : tuple of bool
        Links of which no possible inertia is stated, so that a cylinder of the link's length
        stands for them.

    """
    layout = arm.layout
    links = layout.all_inertial().reshape(arm.n, -1)
    known = np.zeros((arm.n, len(INERTIAL))) if arm.inertial is None else arm.inertial
    given = np.array([_is_body(link) for link in known])
    prior = np.zeros(layout.size)
    prior[links[given]] = known[given]
    shapes = np.array([_cylinder(arm, joint) for joint in range(arm.n)])
    shaped = np.zeros_like(prior)
    shaped[links[~given]] = shapes[~given]
    prior += _density_factor(A, b, links, prior, shaped) * shaped
    scalars = []
    estimate, *_ = np.linalg.lstsq(A, b, rcond=None)
    if layout.rotor_inertia:
        rotor = [layout.rotor(joint) for joint in range(arm.n)]
        prior[rotor] = _rotor_inertia(arm, prior[links])
        scalars += rotor
    for term in friction_terms(arm.friction):
        if term.name not in SIGNED:
            # Gravity does not load every joint, so that not every load-dependent term acts.
            acting = [joint for joint in range(arm.n)
                      if A[:, layout.friction_column(joint, term.symbol)].any()]
            columns = [layout.friction_column(joint, term.symbol) for joint in acting]
            stated = arm.friction_nominal.get(term.name, np.zeros(arm.n))[acting]
            estimated = np.asarray(estimate[columns], dtype=np.float64)
            prior[columns] = _coefficients(stated, A[:, columns], estimated)
            scalars += columns
    curve = _curve_columns(arm)
    alone = np.setdiff1d(np.array(scalars, dtype=np.intp), curve)
    rows = np.vstack([np.eye(layout.size)[alone], _curve_rows(arm, curve), _warm_rows(arm)])
    offsets = np.zeros(len(rows))
    if arm.link_bounds is not None:
        prior[links] = arm.link_bounds.inside(prior[links])
        bounds, distances = arm.link_bounds.rows(links, layout.size)
        rows, offsets = np.vstack([rows, bounds]), np.append(offsets, distances)
    return PhysicalCone(links, rows, offsets, prior), tuple((~given).tolist())


def _curve_columns(arm: ArmModel) -> NDArray[np.intp]:
    """Columns (n, k) of the terms of a friction curve; none where a single one stands alone."""
    names = [name for name in arm.friction if name in CURVE]
    return _columns(arm, names if len(names) > 1 else [])


def _curve_rows(arm: ArmModel, columns: NDArray[np.intp]) -> Array:
    """Rows (m, p) of the sliding friction of joints that have a curve, at `SPEEDS`."""
    if not columns.size:
        return np.zeros((0, arm.layout.size))
    names = [name for name in arm.friction if name in (*CURVE, PRESLIDING)]
    rows = np.zeros((arm.n, len(SPEEDS), arm.layout.size))
    for name, own in zip(names, _columns(arm, names).T, strict=True):
        shape = dry_friction({name: np.ones(1)}, SPEEDS, arm.friction_shape)
        for joint in arm.rubbing(name):
            rows[joint, :, own[joint]] = shape[:, 0]
    return rows.reshape(-1, arm.layout.size)


def _columns(arm: ArmModel, names: Sequence[str]) -> NDArray[np.intp]:
    """Columns (n, k) of friction terms."""
    return np.array([[arm.layout.friction_column(joint, term.symbol)
                      for term in friction_terms(names)] for joint in range(arm.n)], dtype=np.intp)


def _warm_rows(arm: ArmModel) -> Array:
    """Rows (m, p) of the viscous friction of joints as warm as their limits of speed allow."""
    if not {'viscous', WARM} <= set(arm.friction):
        return np.zeros((0, arm.layout.size))
    limited = np.flatnonzero(np.isfinite(arm.limits.velocity))
    rows = np.zeros((len(limited), arm.layout.size))
    cold, warm = (term.symbol for term in friction_terms(('viscous', WARM)))
    for row, joint in zip(rows, limited.tolist(), strict=True):
        row[arm.layout.friction_column(joint, cold)] = 1.0
        if joint in arm.rubbing(WARM):
            row[arm.layout.friction_column(joint, warm)] = arm.limits.velocity[joint]
    return rows


def _is_body(parameters: Array) -> bool:
    eigenvalues = np.linalg.eigvalsh(pseudo_inertia(parameters))
    return bool(eigenvalues[0] > BODY * eigenvalues[-1])


def _cylinder(arm: ArmModel, joint: int) -> Array:
    """Inertial parameters (10,) of a cylinder from a joint to the next, of `DENSITY`."""
    ends = [arm.translation[child] for child in range(arm.n) if arm.parent[child] == joint]
    if not ends and arm.tool.joint % arm.n == joint:
        ends = [arm.tool.placement.translation]
    lengths = np.linalg.norm(arm.translation, axis=1)
    mean = float(lengths[1:].mean()) if arm.n > 1 and lengths[1:].any() else 0.0
    end = max(ends, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))
    length = float(np.linalg.norm(end))
    mean = mean or length or LENGTH
    along = end / length if length else arm.axis[joint]
    radius = max(SLENDER * length, STOUT * mean)
    # As long as it is thick, where two axes meet.
    length = max(length, 2 * radius)
    mass = DENSITY * np.pi * radius**2 * length
    center = end / 2
    across = np.eye(3) - np.outer(along, along)
    second = (length**2 / 12 * np.outer(along, along) + radius**2 / 4 * across
              + np.outer(center, center)) * mass
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([mass, *(mass * center), *inertia[np.triu_indices(3)]])


def _density_factor(
    A: Array, b: Array, links: NDArray[np.intp], known: Array, shaped: Array,
) -> float:
    """Factor of the cylinders' density by least squares, all other columns free; one if absurd."""
    if not shaped.any():
        return 1.0
    others = np.setdiff1d(np.arange(len(known)), links)
    columns = np.column_stack([A @ shaped, A[:, others]])
    factor = float(np.linalg.lstsq(columns, b - A @ known, rcond=None)[0][0])
    return factor if factor > 0 else 1.0


def _rotor_inertia(arm: ArmModel, inertial: Array) -> Array:
    """Return the stated rotor inertia, or that of the links, as a gear matches it (n,)."""
    bare = replace(arm.rigid(), inertial=inertial, rotor_nominal=None,
                   limits=JointLimits.unknown(arm.n))
    q = random_states(bare, STATES)[0]
    links = np.mean([np.diag(M) for M in mass_matrix(bare, q)], axis=0)
    stated = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
    return np.asarray(np.where(stated > 0, stated, links))


def _coefficients(stated: Array, A: Array, estimate: Array) -> Array:
    """Return the stated coefficients of friction, or the estimated size in their columns (k,)."""
    spread = 1 / np.linalg.norm(A, axis=0)
    return np.asarray(np.where(stated > 0, stated, np.maximum(estimate, spread)))
