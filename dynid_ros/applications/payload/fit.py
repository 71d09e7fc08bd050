# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Least squares of a load on the rows of an arm of which a model is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from dynid_ros.applications.payload.known_friction import friction_spread, with_offsets
from dynid_ros.arm.description.tree import Placement
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import friction_change, load_columns, LOAD_STD
from dynid_ros.errors import InputError, listed
from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Reweightings at most, and the relative change of the weights at which they have settled.
ITERATIONS, SETTLED = 10, 1e-3
#: Least residual of a joint by its torque: no joint takes all weight.
LEAST = 1e-6


@contextmanager
def finite_numbers(model: IdentifiedModel, sources: Sequence[str]) -> Iterator[None]:
    """
    Refuse a model and recordings, as of damaged files, whose sums of squares overflow.

    Raises
    ------
    InputError
        They do.

    """
    try:
        with np.errstate(all='ignore'):
            yield
    except LinAlgError as error:
        raise InputError(
            f'the numbers of the model of {", ".join(model.sources)}, or of {", ".join(sources)}, '
            'are too large for a regression; identify again') from error


@dataclass(frozen=True, eq=False)
class LoadFit:
    """
    A load, by least squares beside its prior, whether or not a body can have it.

    Attributes
    ----------
    load : (10,) ndarray
        Inertial parameters.
    factor : (10, 10) ndarray
        Triangle A of the rows that are left to the load, and of its prior: ``‖A (p - load)‖²`` is
        what parameters p add to the weighted squares.
    scatter : (10, 10) ndarray
        Covariance of ``Aᵀ A (load - truth)``.
    theta : (b,) ndarray
        Base parameters of the arm with its load, and with the friction of the recording.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    score : (b, 10) ndarray
        Score of the load relative to the base parameters'.

    """

    load: Array
    factor: Array
    scatter: Array
    theta: Array
    sigma: Array
    score: Array

    def theta_with(self, load: Array) -> Array:
        """Return the base parameters (b,) of the arm with another load, model errors refitted."""
        return np.asarray(self.theta + self.score @ (load - self.load))

    @property
    def covariance(self) -> Array:
        """Return the covariance of the load, (10, 10)."""
        half = inverse_of(self.factor)
        return np.asarray(half @ (half.T @ self.scatter @ half) @ half.T)

    @property
    def std(self) -> Array:
        """Return the standard deviations of the load, (10,), above zero."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def tells_mass(self) -> bool:
        """Whether the rows determine the mass rather than the prior."""
        return bool(1 - (self.std[0] / LOAD_STD)**2 >= FROM_DATA)


class LoadRegression:
    """
    Regression of a load, with what a model knows as further rows.

    Unknown are the load, and how far the arm's parameters are from the model's: by the errors of
    the model, and since friction and the zeros of torque change from one recording to another.
    A parameter that the model's samples leave open counts with the width of the arm's prior.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    frame : Placement, optional
        Frame of the load's parameters in the link that carries the tool; by default the tool.

    Attributes
    ----------
    arm : ArmModel
        The arm, with an offset of each joint.
    theta : (b,) ndarray
        Its base parameters in the model.
    columns : (b, 10) ndarray
        Change of the base parameters with the load.

    Raises
    ------
    InputError
        The model was written by version 0.1.

    """

    def __init__(self, model: IdentifiedModel, frame: Placement | None = None) -> None:
        if np.isnan(model.root_information).any():
            raise InputError(
                f'the model of {", ".join(model.sources)} was written by version 0.1, without the '
                'information that a payload needs; identify again')
        self.model, self.arm = model, with_offsets(model.arm)
        self.columns = load_columns(self.arm, frame)
        names, own = (base_parameters(arm).names for arm in (self.arm, model.arm))
        known = np.eye(len(names))[:, [names.index(name) for name in own]]
        self.theta = known @ model.theta
        drift = friction_change(self.arm) * friction_spread(model, self.arm)
        spread = known @ model.covariance @ known.T + drift @ drift.T
        self._root = inverse_of(np.asarray(np.linalg.cholesky(spread).T)).T

    def solve(
        self, W: Array, z: Array, held: Array | None = None, held_std: Array | None = None,
    ) -> tuple[Array, Array, Array, Array]:
        """
        Solve for the load.

        Parameters
        ----------
        W : (m, b) ndarray
            Rows of the base parameters, whitened.
        z : (m,) ndarray
            Torque that the model does not explain, whitened.
        held : (m, h) ndarray, optional
            Whitened columns of further unknowns, whose expectation is zero.
        held_std : (h,) ndarray, optional
            Their standard deviations.

        Returns
        -------
        load : (10,) ndarray
            Inertial parameters.
        factor : (10, 10) ndarray
            As for `LoadFit`.
        others : (b + h,) ndarray
            Differences of the base parameters from the model's, further unknowns.
        shift : (b + h, 10) ndarray
            By how much these follow from the load.

        Raises
        ------
        LinAlgError
            The squares of the rows overflow.

        """
        ties = np.zeros(0) if held_std is None else 1 / held_std
        own = W if held is None else np.hstack([W, held])
        b, size, loads = W.shape[1], own.shape[1], self.columns.shape[1]
        rows = np.zeros((len(W) + size + loads, size + loads + 1))
        rows[:len(W)] = np.column_stack([own, W @ self.columns, z])
        known = rows[len(W):]
        known[:b, :b] = self._root
        known[b:, b:-1] = np.diag([*ties, *np.full(loads, 1 / LOAD_STD)])
        R = np.asarray(np.linalg.qr(rows, mode='r'))
        if not np.isfinite(R).all():
            raise LinAlgError
        factor, half = R[size:size + loads, size:-1], inverse_of(R[:size, :size])
        load = inverse_of(factor) @ R[size:size + loads, -1]
        shift = half @ R[:size, size:-1]
        return load, factor, half @ R[:size, -1] - shift @ load, shift

    def fit(self, rows: QRFactors) -> LoadFit:
        """Fit compressed rows, each joint weighted by what is left of it."""
        b = len(self.columns)
        counts = np.maximum(rows.rows, 1)
        floor = LEAST * np.sqrt(rows.torque_squares().sum() / counts.sum()) + np.finfo(float).tiny
        sigma = np.maximum(self.model.sigma, floor)
        for _ in range(ITERATIONS):
            scale = sigma * np.sqrt(self.model.colour)
            R = np.asarray(np.linalg.qr(
                (rows.factors / scale[:, None, None]).reshape(-1, b + 1), mode='r'))
            W, z = R[:, :b], R[:, b] - R[:, :b] @ self.theta
            load, factor, others, shift = self.solve(W, z)
            theta = self.theta + others + self.columns @ load
            before = sigma
            left = np.sqrt(rows.residual_squares(theta) / counts)
            sigma = np.where(rows.rows > 0, np.maximum(left, floor), before)
            if np.abs(sigma / before - 1).max() < SETTLED:
                break
        score, pull = self.columns - shift, self._root @ shift
        scatter = pull.T @ pull + np.eye(len(factor)) / LOAD_STD**2 + _joint_scatter(
            rows, theta, before * np.sqrt(self.model.colour), score, factor)
        return LoadFit(load, factor, scatter, theta, before, score)

    @property
    def prior(self) -> Array:
        """
        Return what is known of the arm with its load before any rows, as rows ``[w tau]``.

        Returns
        -------
        (b, b + 1) ndarray
            Rows of the base parameters of the loaded arm, weighted by the standard
            deviation of their joint.

        """
        b, loads = self.columns.shape
        rows = np.zeros((loads + b, loads + b + 1))
        rows[:loads, :loads] = np.eye(loads) / LOAD_STD
        rows[loads:, :loads] = -self._root @ self.columns
        rows[loads:, loads:-1] = self._root
        rows[loads:, -1] = self._root @ self.theta
        triangle = np.asarray(np.linalg.qr(rows, mode='r'))[loads:, loads:]
        return np.asarray(np.sqrt(self.model.colour) * triangle)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Name the parameters that a load changes and that the model has from its prior."""
        unknown = load_columns(self.model.arm).any(axis=1) & ~self.model.from_data
        if not unknown.any():
            return ()
        names = base_parameters(self.model.arm).names
        open_ones = listed([names[k] for k in np.flatnonzero(unknown)])
        return (f'the model of {", ".join(self.model.sources)} leaves {open_ones} open, which the '
                'load changes: identify the arm with a motion of all joints',)


def _joint_scatter(
    rows: QRFactors, theta: Array, sigma: Array, score: Array, factor: Array,
) -> Array:
    """
    Return the covariance of the load's score by how much joints contradict each other, (10, 10).

    A model is wrong by gears, cables, friction and drives, each in one joint: that goes with the
    motion, so that no later part of it tells anything new, and other joints do not share it. So
    the rows of a joint are one group, and a load that one joint alone tells has no witness: where
    all joints move in step, its torque may be anything else that follows the motion.
    """
    scaled = rows.factors / sigma[:, None, None]
    own = [Products((each.T @ each)[None], count) for each, count in zip(
        np.dstack([scaled[:, :, :-1] @ score, scaled[:, :, -1] - scaled[:, :, :-1] @ theta]),
        rows.rows[:, None], strict=True)]
    values, vectors = np.linalg.eigh(np.sum([each.products[0, :-1, :-1] for each in own], axis=0))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    nothing = np.zeros(len(factor))
    found = group_scatter(own, Solution(
        nothing, np.ones(1), inverse_of(factor), root, nothing, np.zeros((0, len(factor) + 1)),
        np.ones(0), np.inf))
    return np.asarray(found.root.T @ found.root)
