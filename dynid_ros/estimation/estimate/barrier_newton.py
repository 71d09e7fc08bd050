# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Least squares over physically possible parameters, by a primal-dual Newton method.

The minimum of

    1/2 ‖A x - b‖² + w Σ (tr(P0⁻¹ P) - log det P) + w' Σ (s/s0 - log s)

is sought, with P the pseudo-inertia of a link and s = G x + h not negative: parameters, or the
distances of masses and first moments from their bounds. The terms with w and w' = `SCALAR` w are
the entropic pull of P to P0 and of s to s0 (Lee, Wensing and Park 2020, A Geometric Approach to
Robot Dynamic Model Identification), and the barriers that keep P positive definite and s positive.
As the Hessian of m/m0 - log m at m0 is 1/m0², w is 1/r² for a prior whose relative standard
deviation is r.

With multipliers Z of each P and z of each s, the minimum has ``P Z = w 1``, ``s z = w'`` and no
gradient of the rest. Newton's method for these conditions, in the scaling of Nesterov and Todd
(Todd, Toh and Tütüncü 1998, On the Nesterov-Todd direction in semidefinite programming), aims at
products of a weight that falls to w: Mehrotra's predictor tells how far it may fall in one step,
and his corrector bends the step (Mehrotra 1992, On the implementation of a primal-dual interior
point method). The pull keeps its weight w on the way. With the weight of the products, bodies a
thousand times as large as the prior's would bend the path to the minimum so sharply that steps end
at the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError

from dynid_ros.estimation.estimate.physical_cone import PhysicalCone, SCALAR
from dynid_ros.utilities.arrays import Array, solve_definite

#: Largest step, as a share of the way to the boundary. From nearer to it, later steps are short.
TO_BOUNDARY = 0.8
#: Newton decrement, by the weight, at which the search ends: half of it is about the distance from
#: the minimum (Boyd and Vandenberghe 2004, eq. 9.60).
CONVERGED = 1e-9
#: Decrement at which the sizes of the prior's bodies follow the links. Given the sizes, the
#: objective is convex; sizes that followed each step could run away with the links.
NEARLY = 10.0
NEWTON_STEPS = 100
#: Share of the diagonal added to a matrix that rounding left semidefinite.
SEMIDEFINITE = 1e-12
EYE = np.eye(4)


@dataclass(frozen=True, eq=False)
class Step:
    """
    Changes of a Newton step.

    Attributes
    ----------
    y : (p,) ndarray
        Of the coordinates.
    P, Z : (n, 4, 4) ndarray
        Of bodies and multipliers, scaled.
    s, z : (k,) ndarray
        Of scalars and their multipliers.
    longest : float
        Multiple of the step that ends at the boundary.

    """

    y: Array
    P: Array
    Z: Array
    s: Array
    z: Array
    longest: float


class Linearised:
    """
    Conditions of the minimum, linear about a point: its bodies P and multipliers Z, (n, 4, 4).

    The factors F (n, 4, 4) scale both to the same diagonals d (n, 4): ``F P Fᵀ = F⁻ᵀ Z F⁻¹``.
    """

    def __init__(
        self, cone: PhysicalCone, T: Array, H: Array, P: Array, Z: Array, s: Array, z: Array,
    ) -> None:
        under = np.linalg.cholesky(Z).transpose(0, 2, 1)
        U, self.d, _ = np.linalg.svd(under @ np.linalg.cholesky(P))
        self.F = U.transpose(0, 2, 1) @ under / np.sqrt(self.d)[:, :, None]
        self.cone, self.T, self.s, self.z = cone, T, s, z
        self.matrix = H + T.T @ cone.curvature(self.F, z / s) @ T

    @property
    def weight(self) -> float:
        """Return the average weight of the products."""
        return float(((self.d**2).sum() + self.s @ self.z) / self.cone.size)

    def step(self, weight: float, slope: Array, predicted: Step | None = None) -> Step:
        """
        Step towards the minimum for a weight.

        Parameters
        ----------
        weight : float
            The weight.
        slope : (p,) ndarray
            Gradient of the objective without the barrier, by the coordinates.
        predicted : Step, optional
            Predictor, whose second-order terms the step corrects.

        """
        F, d, s, z = self.F, self.d, self.s, self.z
        products, scalars = weight * EYE - d[:, :, None]**2 * EYE, SCALAR * weight / s
        if predicted is not None:
            both = predicted.P @ predicted.Z
            products = products - (both + both.transpose(0, 2, 1)) / 2
            scalars = scalars - predicted.s * predicted.z / s
        # The symmetric solution X of D X + X D = 2 products.
        wanted = 2 * products / (d[:, :, None] + d[:, None, :])
        inward = self.cone.adjoint(
            F.transpose(0, 2, 1) @ (wanted + d[:, :, None] * EYE) @ F, scalars)
        y = _solve(self.matrix, self.T.T @ inward - slope)
        dx = self.T @ y
        dP, ds = F @ self.cone.bodies(dx) @ F.transpose(0, 2, 1), self.cone.rows @ dx
        changes = dP, wanted - dP, ds, scalars - z - z / s * ds
        return Step(y, *changes, self._longest(*changes))

    def _longest(self, dP: Array, dZ: Array, ds: Array, dz: Array) -> float:
        """Return the multiple of a step that ends at the boundary."""
        half = np.tile(1 / np.sqrt(self.d), (2, 1))
        relative = half[:, :, None] * np.concatenate([dP, dZ]) * half[:, None, :]
        eigenvalues = np.linalg.eigvalsh(relative).ravel()
        least = np.concatenate([eigenvalues, ds / self.s, dz / self.z]).min(initial=0.0)
        return 1 / max(-float(least), 1e-300)


def closest_possible(
    H: Array, g: Array, cone: PhysicalCone, weight: float, start: Array | None = None,
    basis: Array | None = None,
) -> Array:
    """
    Minimise the objective of this module.

    Parameters
    ----------
    H, g : (p, p) and (p,) ndarray
        ``Aᵀ A`` and ``Aᵀ b``, of coordinates y; H is positive definite in the columns outside the
        cone.
    cone : PhysicalCone
        Constraints and prior.
    weight : float
        Weight w of the prior, above zero.
    start : (p,) ndarray, optional
        Parameters inside the cone from which the search starts; by default the prior.
    basis : (p, p) ndarray, optional
        T of the parameters ``x = T y``; by default the identity. Where base parameters are among
        the coordinates, rounding in their large entries of H does not reach the others, which
        have none.

    Returns
    -------
    (p,) ndarray
        Strictly inside the cone.

    Raises
    ------
    ValueError
        A number is not finite.

    """
    x = cone.prior if start is None else start
    T = np.eye(len(x)) if basis is None else basis
    y, sized = np.linalg.solve(T, x), cone.resized(x)
    if not (np.isfinite(H).all() and np.isfinite(g).all() and weight > 0):
        raise ValueError('the rows must be finite, and the weight above zero')
    first = _first_weight(H, H @ y - g, T.T @ cone.hessian(x) @ T, weight, cone.size)
    Z, z = np.asarray(first * np.linalg.inv(cone.bodies(x))), SCALAR * first / cone.scalars(x)
    for _ in range(NEWTON_STEPS):
        try:
            near = Linearised(cone, T, H, cone.bodies(x), Z, cone.scalars(x), z)
            slope = H @ y - g + weight * T.T @ sized.pull
            predicted = near.step(weight, slope)
            aim = max(weight, near.weight * (1 - min(1.0, predicted.longest))**2)
            step = near.step(aim, slope, predicted)
        except LinAlgError:
            # Rounding ends the search near the boundary, where x is almost the minimum.
            break
        length = min(1.0, TO_BOUNDARY * step.longest)
        y, z = y + length * step.y, z + length * step.z
        Z = Z + length * near.F.transpose(0, 2, 1) @ step.Z @ near.F
        x = T @ y
        decrement = step.y @ near.matrix @ step.y / weight
        if aim == weight and length == 1 and decrement <= NEARLY:
            before, sized = sized, sized.resized(x)
            if sized is before and decrement <= CONVERGED:
                break
    return x


def _first_weight(H: Array, slope: Array, barrier: Array, weight: float, size: float) -> float:
    """Estimate the gain still possible, per dimension of the cone; at least the final weight."""
    return max(weight, float(np.sum(slope**2 / np.diag(H + weight * barrier))) / size)


def _solve(matrix: Array, slope: Array) -> Array:
    """Newton step."""
    try:
        return solve_definite(matrix, slope)
    except LinAlgError:
        # Where few rows are fitted almost exactly, rounding leaves the matrix semidefinite.
        return solve_definite(matrix + SEMIDEFINITE * np.diag(np.diag(matrix)), slope)
