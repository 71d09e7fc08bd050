"""The bodies and the plain friction that an arm can have, as constraints of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import CURVE, friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.utilities.arrays import Array

#: Pseudo-inertia of a unit of each inertial parameter, (10, 4, 4): the map is linear.
UNITS = np.array([pseudo_inertia(row) for row in np.eye(len(INERTIAL))])
_FLAT = UNITS.reshape(len(INERTIAL), 16)
TINY = float(np.finfo(float).tiny)
#: Friction that no motion shows, relative to friction that takes all torque of the drive.
UNSEEN = 0.1


@dataclass(frozen=True, eq=False)
class PhysicalCone:
    """
    Parameters that a body can have, and the prior in their midst.

    Attributes
    ----------
    links : (n, 10) ndarray of int
        Columns of the inertial parameters of each link.
    rows, offsets : (k, p) and (k,) ndarray
        G and h of ``G x + h >= 0``.
    prior : (p,) ndarray
        Values to which these columns are pulled; inside the cone.

    """

    links: NDArray[np.intp]
    rows: Array
    offsets: Array
    prior: Array

    @cached_property
    def pull(self) -> Array:
        """Gradient of the linear part of the prior, (p,)."""
        inverse = np.asarray(np.linalg.inv(self.bodies(self.prior)))
        return self.adjoint(inverse, 1 / self.scalars(self.prior))

    @property
    def size(self) -> int:
        """Return the parameter of the barrier: its rows of matrices and its scalars."""
        return 4 * len(self.links) + len(self.rows)

    def scalars(self, x: Array) -> Array:
        """Distances s (k,) of parameters (p,) from the linear bounds."""
        return np.asarray(self.rows @ x + self.offsets)

    def bodies(self, x: Array) -> Array:
        """Pseudo-inertias (n, 4, 4) of parameters (p,)."""
        return np.asarray((x[self.links] @ _FLAT).reshape(-1, 4, 4))

    def adjoint(self, Z: Array, z: Array) -> Array:
        """Gradient (p,) of ``Σ tr(P Z) + Σ s z``."""
        gradient = self.rows.T @ z
        gradient[self.links] += Z.reshape(-1, 16) @ _FLAT.T
        return np.asarray(gradient)

    def curvature(self, half: Array, z: Array) -> Array:
        """Hessian (p, p) of ``Σ ‖F P Fᵀ‖²/2 + Σ z s²/2`` with F (n, 4, 4) the halves."""
        hessian = self.rows.T @ (z[:, None] * self.rows)
        scaled = (half[:, None] @ UNITS @ half.transpose(0, 2, 1)[:, None]).reshape(-1, 10, 16)
        hessian[self.links[:, :, None], self.links[:, None, :]] += (
            scaled @ scaled.transpose(0, 2, 1))
        return np.asarray(hessian)

    def hessian(self, x: Array) -> Array:
        """Hessian (p, p) of the barrier at parameters inside."""
        return self.curvature(
            np.linalg.inv(np.linalg.cholesky(self.bodies(x))), 1 / self.scalars(x)**2)


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
