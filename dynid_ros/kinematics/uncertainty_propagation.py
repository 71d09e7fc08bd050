"""Propagation of uncertainty from the error sources to a pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel, TOOL
from dynid_ros.kinematics.error_sources import error_sources, ErrorSource
from dynid_ros.kinematics.pose_error import exact_pose_error

Array = NDArray[np.float64]


def propagated_covariance(jacobian: Array, std: ArrayLike) -> Array:
    """
    Covariance of a pose error to first order, ``J diag(std²) Jᵀ``.

    Parameters
    ----------
    jacobian : (6, S) or (N, 6, S) ndarray
        See `error_jacobian`.
    std : (S,) array_like
        Standard deviations of independent sources; or their covariance, (S, S).

    Returns
    -------
    (6, 6) or (N, 6, 6) ndarray
        rad², rad m and m².

    """
    spread = np.asarray(std, dtype=float)
    if spread.ndim == 1:
        spread = np.diag(spread**2)
    return np.asarray(jacobian @ spread @ np.swapaxes(jacobian, -1, -2))


def monte_carlo_covariance(
    arm: ArmModel, q: ArrayLike, std: ArrayLike, *, samples: int = 10_000, seed: int = 0,
    body: str = TOOL, sources: Sequence[ErrorSource] | None = None,
) -> tuple[Array, Array]:
    """
    Mean and covariance of a pose error from exact kinematics with random errors.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) array_like
        Position.
    std : (S,) array_like
        Standard deviations of the sources, which are independent and normal.
    samples : int
        Number of draws; the relative standard deviation of a variance is sqrt(2 / samples).
    seed : int
        The same seed gives the same draws.
    body : str
        ``tool``, or the joint that moves the link.
    sources : sequence of ErrorSource, optional
        Sources; all of ``error_sources(arm, body)`` if not given.

    Returns
    -------
    mean : (6,) ndarray
        Remainder of the first-order error, rad and m.
    covariance : (6, 6) ndarray
        rad², rad m and m².

    """
    sources = error_sources(arm, body) if sources is None else sources
    draws = np.random.default_rng(seed).normal(size=(samples, len(sources))) * np.asarray(std)
    errors = exact_pose_error(arm, q, draws, body, sources)
    return errors.mean(axis=0), np.cov(errors, rowvar=False)
