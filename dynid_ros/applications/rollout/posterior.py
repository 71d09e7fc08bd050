# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Physically possible models drawn from the posterior of data and prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from dynid_ros.arm.parameters import inertial_of
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.physical_cone import PhysicalCone, SIZE_STD
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters, SHAPE_STD
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import Range
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.progress import progress

#: Samples in files at most: their names have numbers of three digits.
MOST_SAMPLE_FILES = 1000
SAMPLE_FILES = Range(int, f'a whole number from 1 to {MOST_SAMPLE_FILES}',
                     lambda value: 1 <= value <= MOST_SAMPLE_FILES)
SampleFiles: TypeAlias = Annotated[int, SAMPLE_FILES]


@one_thread()
def draw_parameters(model: IdentifiedModel, count: int, seed: int = 0) -> Array:
    """
    Draw physically possible standard parameters from the posterior of a model.

    Each draw repeats the fit of the `standard_parameters` with other data and another prior: noise
    with the covariance of the jackknife is added to the score of the data, and the centre of the
    prior is drawn from the prior. Without constraints this is an exact draw from the Gaussian
    posterior. With them, a draw is inside the cone because every fit is: parameters that the data
    determine vary by their error bars, and the others by the prior.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    count : int
        Number S of draws.
    seed : int
        Of the random numbers; the same seed gives the same draws.

    Returns
    -------
    (S, p) ndarray
        In the order of ``arm.layout``, SI units.

    Raises
    ------
    InputError
        See `IdentifiedModel.standard_parameters`.

    References
    ----------
    Bardsley, Solonen, Haario and Laine 2014, Randomize-then-optimize: a method for sampling from
    posterior distributions in nonlinear inverse problems, SIAM Journal on Scientific Computing
    36(4). Wensing, Kim and Slotine 2018, Linear matrix inequalities for physically consistent
    inertial parameter identification, IEEE Robotics and Automation Letters 3(1), for the cone.

    """
    if count < 1:
        raise InputError(f'the number of samples must be at least one, not {count}')
    found, rng = model.standard_parameters(), np.random.default_rng(seed)
    half = score_root(model, found)
    # Strengths of shrunk friction hold for white residuals.
    spread = found.prior.inflated(model.colour).std
    draws = np.empty((count, len(found.values)))
    for k in range(count):
        score = found.score + half @ rng.normal(size=len(half))
        prior = replace(found.prior, values=(
            found.prior.values + spread * rng.normal(size=len(spread))))
        own = replace(found, cone=_other_bodies(found, rng))
        draws[k] = own.constrained_fit(prior, found.information, score)
        progress('draw samples', (k + 1) / count)
    return draws


def score_root(model: IdentifiedModel, found: PossibleParameters) -> Array:
    """
    Return a square root S (b, b) of the covariance ``S Sᵀ`` of the score of the data.

    It follows from the covariance of the unconstrained parameters, which is
    ``(A + B)⁻¹ (S Sᵀ + B') (A + B)⁻¹``, with A the information of the data for white noise and B
    that of the prior, B' with the colour of the residual in shrunk friction.
    """
    rows = _prior_rows(found.prior)
    L = np.linalg.cholesky(found.information + rows.T @ rows)
    coloured = rows * np.where(found.prior.is_shrunk, np.sqrt(model.colour), 1.0)
    prior = solve_triangular(L, coloured.T, lower=True)
    # In coordinates with A + B = 1, rounding is the same in all directions.
    values, vectors = np.linalg.eigh(L.T @ model.covariance @ L - prior @ prior.T)
    return np.asarray(L @ (vectors * np.sqrt(np.maximum(values, 0.0))))


def _prior_rows(prior: ArmPrior) -> Array:
    return prior.rows()[:, :-1]


def _other_bodies(found: PossibleParameters, rng: np.random.Generator) -> PhysicalCone:
    """Draw the bodies that links are pulled to, by the curvature of that pull and their size."""
    cone, values = found.cone, found.cone.prior.copy()
    for body, columns in zip(cone.bodies(values), cone.links, strict=True):
        L = np.linalg.cholesky(body)
        E = rng.normal(scale=SHAPE_STD / np.sqrt(2), size=(4, 4))
        eigenvalues, vectors = np.linalg.eigh((E + E.T) / np.sqrt(2))
        size = SIZE_STD * rng.normal()
        drawn = L @ (vectors * np.exp(eigenvalues + size)) @ vectors.T @ L.T
        values[columns] = inertial_of(drawn)
    bounds = found.arm.link_bounds
    if bounds is not None:
        values[cone.links] = bounds.inside(values[cone.links])
    return replace(cone, prior=values)
