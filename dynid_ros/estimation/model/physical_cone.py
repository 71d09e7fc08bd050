"""The bodies and the plain friction that an arm can have, as constraints of its parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import CURVE, friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.model.barrier_newton import PhysicalCone
from dynid_ros.utilities.arrays import Array

TINY = float(np.finfo(float).tiny)
#: Friction that no motion shows, by that which takes all torque of the drive.
UNSEEN = 0.1


def physical_cone(arm: ArmModel, prior: ArmPrior, R: Array, z: Array) -> PhysicalCone:
    """
    Constrain links to bodies, and rotor inertias, viscous and Coulomb friction to above zero.

    The centre of the cone is the prior. Cylinders that stand for links are of one density, which
    suits the data best, and friction is of the size that the data show.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior.
    R, z : (b, b) and (b,) ndarray
        Square root of the information of the data, and of their torque.

    """
    layout, A = arm.layout, R @ prior.grouping
    links = layout.all_inertial().reshape(arm.links, -1)
    centre = prior.values.copy()
    shaped = np.zeros_like(centre)
    shaped[links[prior.from_shape]] = centre[links[prior.from_shape]]
    centre += (_density_factor(A, z, links, centre - shaped, shaped) - 1) * shaped
    friction = _plain_columns(arm)
    size = np.linalg.norm(A[:, friction], axis=0)
    # The coefficient that explains the torque along its column alone, or what may hide in noise.
    alone = A[:, friction].T @ z / np.maximum(size**2, TINY)
    shown = np.maximum(alone, 1 / np.maximum(size, 1 / (UNSEEN * prior.std[friction])))
    centre[friction] = np.where(centre[friction] > 0, centre[friction], shown)
    rows = np.eye(layout.size)[[*layout.rotors, *friction]]
    offsets = np.zeros(len(rows))
    if arm.link_bounds is not None:
        centre[links] = arm.link_bounds.inside(centre[links])
        bounds, distances = arm.link_bounds.rows(links, layout.size)
        rows, offsets = np.vstack([rows, bounds]), np.append(offsets, distances)
    return PhysicalCone(links, rows, offsets, centre)


def _plain_columns(arm: ArmModel) -> list[int]:
    """Columns of viscous and Coulomb friction; a term of a curve may have either sign."""
    curve = [name for name in arm.friction if name in CURVE]
    plain = {'viscous', 'coulomb', *(curve if curve == ['coulomb_smooth'] else ())}
    return [column for term in friction_terms(arm.friction) if term.name in plain
            for column in arm.layout.friction_columns(term.symbol).tolist()]


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
