# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Constraints to physical bodies, and to positive friction and rotor inertia."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import CURVE, friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL, pseudo_inertia
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.utilities.arrays import Array

#: Pseudo-inertia of a unit of each inertial parameter, (10, 4, 4): the map is linear.
UNIT_PSEUDO_INERTIAS = np.array([pseudo_inertia(row) for row in np.eye(len(INERTIAL))])
_FLAT = UNIT_PSEUDO_INERTIAS.reshape(len(INERTIAL), 16)
#: Centre of friction and rotor inertia without a prior, relative to their standard deviation.
UNSEEN = 0.1
#: Ratio of the weight of the entropic prior of a scalar to that of a body. The weight of a link is
#: 4, so this one is 0.01: it keeps the scalar positive, and a scalar of a thousand times its
#: centre costs as much as four and a half standard deviations of the Gaussian prior.
SCALAR = UNSEEN**2 / 4
#: Prior standard deviation of the logarithm of the size of a link: a link of a thousand times the
#: stated mass is pulled as hard as one of 2.6 times its size.
SIZE_STD = 1.0
#: Largest size: ten times that of a link a thousand times as heavy as stated. Data that no body
#: explains would enlarge a poorly determined link until rounding destroys its inertia.
LARGEST_SIZE = 1e4
#: Change of the logarithm of a size below which it has converged.
SAME_SIZE = 0.1
#: Most Newton steps for the size of a link, which converge from any start above it, and the step
#: at which they end.
SIZE_STEPS, SIZE_SETTLED_STEP = 20, 1e-3


@dataclass(frozen=True, eq=False)
class PhysicalCone:
    """
    Cone of physically possible parameters, with the prior inside.

    Attributes
    ----------
    links : (n, 10) ndarray of int
        Columns of the inertial parameters of each link.
    rows, offsets : (k, p) and (k,) ndarray
        G and h of ``G x + h >= 0``.
    prior : (p,) ndarray
        Values inside the cone; links are pulled to the shape of its bodies.
    sizes : (n,) ndarray, optional
        Scale factors of these bodies, which follow the links; None for fixed bodies.

    """

    links: NDArray[np.intp]
    rows: Array
    offsets: Array
    prior: Array
    sizes: Array | None = None

    @cached_property
    def pull(self) -> Array:
        """Gradient of the linear part of the prior, (p,)."""
        inverse = self._inverse if self.sizes is None else (
            self._inverse / self.sizes[:, None, None])
        return self.adjoint(inverse, SCALAR / self.scalars(self.prior))

    @cached_property
    def _inverse(self) -> Array:
        """Inverse of the pseudo-inertias of the prior, (n, 4, 4)."""
        return np.asarray(np.linalg.inv(self.bodies(self.prior)))

    def resized(self, x: Array) -> PhysicalCone:
        """Return the cone with the sizes for parameters (p,); itself if they have converged."""
        if self.sizes is None:
            return self
        sizes = _sizes(np.einsum('lij,lji->l', self._inverse, self.bodies(x)))
        settled = np.abs(np.log(sizes / self.sizes)).max() < SAME_SIZE
        return self if settled else replace(self, sizes=sizes)

    @property
    def size(self) -> float:
        """Return the sum of the weights of the barrier: of rows of matrices, and of scalars."""
        return 4 * len(self.links) + SCALAR * len(self.rows)

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
        scaled = (half[:, None] @ UNIT_PSEUDO_INERTIAS
                  @ half.transpose(0, 2, 1)[:, None]).reshape(-1, 10, 16)
        hessian[self.links[:, :, None], self.links[:, None, :]] += (
            scaled @ scaled.transpose(0, 2, 1))
        return np.asarray(hessian)

    def hessian(self, x: Array) -> Array:
        """Hessian (p, p) of the barrier at parameters inside the cone."""
        return self.curvature(
            np.linalg.inv(np.linalg.cholesky(self.bodies(x))), SCALAR / self.scalars(x)**2)


def physical_cone(arm: ArmModel, prior: ArmPrior) -> PhysicalCone:
    """
    Constrain links to physical bodies, and rotor inertia and plain friction to above zero.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior, the centre of the cone.

    """
    layout = arm.layout
    links = layout.all_inertial().reshape(arm.links, -1)
    centre, positive = prior.values.copy(), [*layout.rotors, *_plain_columns(arm)]
    centre[positive] = np.where(
        centre[positive] > 0, centre[positive], UNSEEN * prior.std[positive])
    rows = np.eye(layout.size)[positive]
    offsets = np.zeros(len(rows))
    if arm.link_bounds is not None:
        centre[links] = arm.link_bounds.inside(centre[links])
        bounds, distances = arm.link_bounds.rows(links, layout.size)
        rows, offsets = np.vstack([rows, bounds]), np.append(offsets, distances)
    return PhysicalCone(links, rows, offsets, centre, np.ones(len(links)))


def _sizes(traces: Array) -> Array:
    """
    Sizes (n,) of bodies, given ``tr(P0⁻¹ P)`` (n,).

    They minimise ``tr/size + 4 log size + (log size)²/2/SIZE_STD²``.
    """
    u = np.maximum(np.log(traces / 4), -4 * SIZE_STD**2)
    for _ in range(SIZE_STEPS):
        pulled = traces * np.exp(-u)
        step = (pulled - 4 - u / SIZE_STD**2) / (pulled + 1 / SIZE_STD**2)
        u = u + step
        if np.abs(step).max() < SIZE_SETTLED_STEP:
            break
    return np.asarray(np.minimum(np.exp(u), LARGEST_SIZE))


def _plain_columns(arm: ArmModel) -> list[int]:
    """Columns of viscous and Coulomb friction; a term of a curve may have either sign."""
    curve = [name for name in arm.friction if name in CURVE]
    plain = {'viscous', 'coulomb', *(curve if curve == ['coulomb_smooth'] else ())}
    return [column for term in friction_terms(arm.friction) if term.name in plain
            for column in arm.layout.friction_columns(term.symbol).tolist()]
