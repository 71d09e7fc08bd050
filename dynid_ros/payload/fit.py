"""Least squares of a load on the rows of an arm of which a model is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dynid_ros.arm.description.tree import Placement
from dynid_ros.calibration.loaded_rows import HEAVIEST, load_columns, own_friction
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.payload.known_friction import KnownFriction
from dynid_ros.regression.covariance import hac_covariance
from dynid_ros.regression.least_squares import LeastSquares
from dynid_ros.regression.weighted_least_squares import QRFactors

Array = NDArray[np.float64]

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
            f'are too large for a regression ({error}); identify again') from error


@dataclass(frozen=True, eq=False)
class LoadFit:
    """
    A load, by least squares, whether or not a body can have it.

    Attributes
    ----------
    load : (10,) ndarray
        Inertial parameters; the shortest ones where the rows leave a direction open.
    factor : (10, 10) ndarray
        Triangle A of the rows that are left to the load: ``‖A (p - load)‖²`` is what parameters p
        add to the weighted squares.
    scatter : (10, 10) ndarray
        Covariance of ``Aᵀ A (load - truth)``.
    theta : (b,) ndarray
        Base parameters of the arm with its load, and with the friction of the recording.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    score : (b, 10) ndarray
        Score of the load by that of the base parameters.

    """

    load: Array
    factor: Array
    scatter: Array
    theta: Array
    sigma: Array
    score: Array

    @property
    def covariance(self) -> Array:
        """Return the covariance of the load, (10, 10), but for its open directions."""
        inverse = LeastSquares(self.factor).covariance
        return np.asarray(inverse @ self.scatter @ inverse)

    @property
    def std(self) -> Array:
        """Return the standard deviations of the load, (10,), infinite where it is open."""
        variance = np.maximum(np.diag(self.covariance), 0.0)
        return np.where(LeastSquares(self.factor).undetermined, np.inf, np.sqrt(variance))


class LoadRegression:
    """
    Regression of a load, with what a model knows as further rows.

    Unknown are the errors of the model's parameters, whose information the model holds, the
    changes of friction since it was identified, and the load.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    frame : Placement, optional
        Frame of the load's parameters in the link that carries the tool; by default the tool.

    Attributes
    ----------
    columns : (b, 10) ndarray
        Change of the base parameters with the load.
    others : (b, b + f) ndarray
        The same with their errors in the model, and with the changes of friction.

    Raises
    ------
    InputError
        The model was written by version 0.1, or states no standard deviations.

    """

    def __init__(self, model: IdentifiedModel, frame: Placement | None = None) -> None:
        if np.isnan(model.root_information).any():
            raise InputError(
                f'the model of {", ".join(model.sources)} was written by version 0.1, without the '
                'information that a payload needs; identify again')
        if not 0 < model.colour < np.inf:
            raise InputError(
                f'the model of {", ".join(model.sources)} states no standard deviation above '
                'zero, so that nothing follows for a payload; identify again')
        self.model = model
        self.columns = load_columns(model.arm, frame)
        self._root = model.root_information / np.sqrt(model.colour)
        spread = KnownFriction(model).spread
        varied = spread > 0
        self.others = np.hstack([np.eye(len(self.columns)), own_friction(model.arm)[:, varied]])
        self._tie = 1 / spread[varied]

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
        others : (b + f + h,) ndarray
            Errors of the base parameters, changes of friction, further unknowns.
        shift : (b + f + h, 10) ndarray
            By how much these follow from the load.

        """
        ties = self._tie if held_std is None else np.append(self._tie, 1 / held_std)
        own = W @ self.others if held is None else np.hstack([W @ self.others, held])
        b, size = W.shape[1], own.shape[1]
        nuisance = np.vstack([own, np.zeros((size, size))])
        nuisance[len(W):len(W) + b, :b] = self._root
        nuisance[len(W) + b:, b:] = np.diag(ties)
        P, right = np.zeros((len(nuisance), self.columns.shape[1])), np.zeros(len(nuisance))
        P[:len(W)], right[:len(W)] = W @ self.columns, z
        known = LeastSquares(nuisance)
        basis = known.torque_basis
        both = np.column_stack([P, right])
        left = np.asarray(np.linalg.qr(both - basis @ (basis.T @ both), mode='r'))
        factor = left[:P.shape[1], :P.shape[1]]
        load = LeastSquares(factor).solve(left[:P.shape[1], -1])
        return load, factor, known.solve(right - P @ load), known.solve(P)

    def fit(self, rows: QRFactors) -> LoadFit:
        """
        Fit compressed rows, each joint weighted by what is left of it.

        The scatter is that of model and friction alone; see `score_scatter`.
        """
        b = len(self.columns)
        counts = np.maximum(rows.rows, 1)
        floor = LEAST * np.sqrt(rows.torque_squares().sum() / counts.sum()) + np.finfo(float).tiny
        sigma = np.maximum(self.model.sigma, floor)
        for _ in range(ITERATIONS):
            scale = sigma * np.sqrt(self.model.colour)
            R = np.asarray(np.linalg.qr(
                (rows.factors / scale[:, None, None]).reshape(-1, b + 1), mode='r'))
            W, z = R[:, :b], R[:, b] - R[:, :b] @ self.model.theta
            load, factor, others, shift = self.solve(W, z)
            theta = self.model.theta + self.others @ others + self.columns @ load
            before = sigma
            left = np.sqrt(rows.residual_squares(theta) / counts)
            sigma = np.where(rows.rows > 0, np.maximum(left, floor), before)
            if np.abs(sigma / before - 1).max() < SETTLED:
                break
        score = self.columns - self.others @ shift
        return LoadFit(load, factor, self._prior_scatter(shift), theta, before, score)

    def score_scatter(self, fit: LoadFit, scores: Sequence[Array], rate_hz: float) -> Array:
        """
        Return the covariance of the load's score by the residuals of one recording, (10, 10).

        Parameters
        ----------
        fit : LoadFit
            The fit.
        scores : sequence of (N, b) ndarray
            Of the base parameters, as `weighted_scores` makes them, stretch by stretch.
        rate_hz : float
            Rate of the rows.

        """
        projected = [score @ fit.score / self.model.colour for score in scores]
        return hac_covariance(projected, np.eye(fit.score.shape[1]), rate_hz)

    @property
    def prior(self) -> Array:
        """
        Return what is known of the arm with its load before any rows, as rows ``[w tau]``.

        Returns
        -------
        (b, b + 1) ndarray
            Rows of the base parameters of the loaded arm, whose noise counts as that of rows
            that are weighted by the standard deviation of their joint.

        """
        b, ties = len(self.columns), np.append(
            self._tie, np.full(self.columns.shape[1], 1 / HEAVIEST))
        change = np.hstack([self.others[:, b:], self.columns])
        rows = np.zeros((len(ties) + b, len(ties) + b + 1))
        rows[:len(ties), :len(ties)] = np.diag(ties)
        rows[len(ties):, :len(ties)] = -self._root @ change
        rows[len(ties):, len(ties):-1] = self._root
        rows[len(ties):, -1] = self._root @ self.model.theta
        triangle = np.asarray(np.linalg.qr(rows, mode='r'))[len(ties):, len(ties):]
        return np.asarray(np.sqrt(self.model.colour) * triangle)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Name the parameters that a load changes and the model leaves open."""
        unknown = self.columns.any(axis=1) & LeastSquares(self._root).undetermined
        if not unknown.any():
            return ()
        names = base_parameters(self.model.arm).names
        listed = ', '.join(names[k] for k in np.flatnonzero(unknown))
        return (f'the model of {", ".join(self.model.sources)} leaves {listed} open, which the '
                'load changes: identify the arm with a motion of all joints',)

    def _prior_scatter(self, shift: Array) -> Array:
        """Part of the scatter that is the model's and that of the friction."""
        b = len(self.columns)
        pull = self._root.T @ (self._root @ shift[:b])
        tie = self._tie[:, None] * shift[b:b + len(self._tie)]
        return np.asarray(pull.T @ self.model.covariance @ pull + tie.T @ tie)
