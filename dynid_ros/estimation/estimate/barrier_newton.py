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

With a multiplier Z of each P, the minimum has ``P Z = w 1`` and no gradient of the rest. Newton's
method for both conditions, in the scaling of Nesterov and Todd (Todd, Toh and Tütüncü 1998, On the
Nesterov-Todd direction in semidefinite programming), takes a third of the steps that it takes
with the barrier alone. The weight w falls to its value on the way, with that of the pull: under a
barrier alone, parameters that the data do not tell would run away from their prior, and rounding
would not let them return.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from dynid_ros.estimation.estimate.physical_cone import PhysicalCone, SCALAR
from dynid_ros.utilities.arrays import Array, solve_definite

#: Factor from one weight to the next that a full step aims at.
COOLING = 0.5
#: Mean square of the relative changes of eigenvalues and distances in the step to the minimum of
#: the first weight. From a smaller weight on, steps end at the boundary, along which the search
#: creeps: for a simulated LBR Med 7 it was far from the minimum after a hundred steps.
FIRST_CHANGE = 0.1
#: Share of the way to the boundary that a step may take.
TO_BOUNDARY = 0.98
#: Newton decrement, by the weight, at which the search ends: half of it is about the distance from
#: the minimum (Boyd and Vandenberghe 2004, eq. 9.60).
CONVERGED = 1e-9
STEPS = 100
#: Share of the diagonal that makes a matrix definite which rounding left semidefinite.
SEMIDEFINITE = 1e-12


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
    y, sized = np.linalg.solve(T, x), cone
    if not (np.isfinite(H).all() and np.isfinite(g).all() and weight > 0):
        raise ValueError('the rows must be finite, and the weight above zero')
    aim = _first_weight(H, H @ y - g, T.T @ cone.hessian(x) @ T, weight, cone.size)
    Z, z = np.asarray(aim * np.linalg.inv(cone.bodies(x))), SCALAR * aim / cone.scalars(x)
    length = 1.0
    for _ in range(STEPS):
        P, s = cone.bodies(x), cone.scalars(x)
        # No faster than steps are possible, or the search creeps along the boundary.
        aim = max(weight, aim * (1 - (1 - COOLING) * length))
        sized = sized.resized(x)
        try:
            F, scale = _scaling(P, Z)
            matrix = H + T.T @ cone.curvature(F, z / s) @ T
            wanted = aim * (F.transpose(0, 2, 1) / scale[:, None]) @ F
            wanted_scalars = np.asarray(SCALAR * aim / s)
            inward = cone.adjoint(wanted, wanted_scalars) - aim * sized.pull
            step = _solve(matrix, T.T @ inward + g - H @ y)
        except LinAlgError:
            # So near to the boundary that rounding ends the search: x is all but the minimum.
            break
        dx = T @ step
        scaled, ds = F @ cone.bodies(dx) @ F.transpose(0, 2, 1), cone.rows @ dx
        dZ = wanted - Z - F.transpose(0, 2, 1) @ scaled @ F
        dz = wanted_scalars - z - z / s * ds
        least = min(_least(scaled, scale, aim), (ds / s).min(initial=0.0),
                    (dz / z).min(initial=0.0))
        length = min(1.0, TO_BOUNDARY / max(-least, 1e-300))
        y, Z, z = y + length * step, Z + length * dZ, z + length * dz
        x = T @ y
        if aim == weight and length == 1 and step @ matrix @ step <= CONVERGED * weight:
            break
    return x


def _first_weight(H: Array, slope: Array, barrier: Array, weight: float, size: int) -> float:
    """Find a weight, the last one at least, whose minimum is near the start."""
    # About what the data can gain from here, spread over the cone.
    first = max(weight, float(np.sum(slope**2 / np.diag(H + weight * barrier))) / size)
    while slope @ _solve(H + first * barrier, slope) > FIRST_CHANGE * size * first:
        first /= COOLING
    return first


def _scaling(P: Array, Z: Array) -> tuple[Array, Array]:
    """Factors F (n, 4, 4) with ``F P Fᵀ = F⁻ᵀ Z F⁻¹`` diagonal, and these diagonals (n, 4)."""
    under = np.linalg.cholesky(Z).transpose(0, 2, 1)
    U, singular, _ = np.linalg.svd(under @ np.linalg.cholesky(P))
    return U.transpose(0, 2, 1) @ under / np.sqrt(singular)[:, :, None], singular


def _least(scaled: Array, scale: Array, aim: float) -> float:
    """Least eigenvalue of the steps of P and Z by these: ``F dP Fᵀ``, and what follows from it."""
    half = 1 / np.sqrt(scale)
    diagonal = (aim / scale - scale)[:, :, None] * np.eye(4)
    both = np.concatenate([scaled, diagonal - scaled])
    weights = np.concatenate([half, half])
    relative = weights[:, :, None] * both * weights[:, None]
    return float(np.linalg.eigvalsh(relative).min(initial=0.0))


def _solve(matrix: Array, slope: Array) -> Array:
    """Newton step."""
    try:
        return solve_definite(matrix, slope)
    except LinAlgError:
        # Rounding leaves no more than semidefiniteness where few rows are fitted all but exactly.
        return solve_definite(matrix + SEMIDEFINITE * np.diag(np.diag(matrix)), slope)
