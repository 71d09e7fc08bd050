# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fit a load to the rows of an arm with a known model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy

import numpy as np
from scipy.linalg import LinAlgError

from dynid_ros.applications.payload.joint_scatter import joint_scatter, JointRows
from dynid_ros.applications.payload.known_friction import friction_spread, with_offsets
from dynid_ros.applications.payload.load_estimate import (
    KnownLoad,
    LoadFit,
    Part,
    residual_squares,
)
from dynid_ros.arm.description.tree import Placement
from dynid_ros.dynamics.base import base_parameters, COLUMN_ROUNDING
from dynid_ros.dynamics.load_columns import friction_change, load_columns, LOAD_STD
from dynid_ros.errors import InputError, listed
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array, inverse_of

#: Most reweightings, and the relative change of the weights at which they have converged.
LOAD_REWEIGHTINGS, LOAD_WEIGHTS_SETTLED = 10, 1e-3
#: Least residual of a joint relative to its torque, so that no joint takes all weight.
LEAST_RESIDUAL = 1e-6


@contextmanager
def finite_numbers(model: IdentifiedModel, sources: Sequence[str]) -> Iterator[None]:
    """
    Refuse a model and recordings, as of damaged files, with sums of squares that overflow.

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


class LoadRegression:
    """
    Regression of a load, with the information of a model as further rows.

    The unknowns are the load and the deviation of the arm's parameters from the model's: by errors
    of the model, and since friction and zeros of torque change between recordings. A parameter
    that the model's samples do not determine has the width of the arm's prior.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    frame : Placement, optional
        Frame of the load's parameters in the link that carries the tool; by default the tool.
    known : KnownLoad, optional
        What is known of the load.

    Attributes
    ----------
    model, known
        As given.
    arm : ArmModel
        The arm, with an offset of each joint.
    theta : (b,) ndarray
        Its base parameters in the model.
    columns : (b, 10) ndarray
        Change of the base parameters with the load.

    """

    def __init__(
        self, model: IdentifiedModel, frame: Placement | None = None,
        known: KnownLoad | None = None,
    ) -> None:
        self.model, self.arm = model, with_offsets(model.arm)
        self.known = KnownLoad() if known is None else known
        self.columns = load_columns(self.arm, frame)
        names, own = (base_parameters(arm).names for arm in (self.arm, model.arm))
        place = np.eye(len(names))[:, [names.index(name) for name in own]]
        self.theta = place @ model.theta
        self._spread = friction_spread(model, self.arm)
        drift = friction_change(self.arm) * self._spread
        spread = place @ model.covariance @ place.T + drift @ drift.T
        self._root = inverse_of(np.asarray(np.linalg.cholesky(spread).T)).T

    def solve(
        self, W: Array, z: Array, held: Array | None = None, held_std: Array | None = None,
        loaded: Array | None = None,
    ) -> tuple[Array, Array, Array, Array, Array]:
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
        loaded : (m,) ndarray, optional
            One for rows with the load, zero for the others; all have it by default.

        Returns
        -------
        load : (10,) ndarray
            Inertial parameters.
        factor : (10, 10) ndarray
            As for `LoadEstimate`.
        others : (b + h,) ndarray
            Differences of the base parameters from the model's, further unknowns.
        shift : (b + h, 10) ndarray
            Change of these with the load.
        half : (b + h, b + h) ndarray
            Upper triangle whose square is their covariance where the load is known.

        Raises
        ------
        LinAlgError
            The squares of the rows overflow.

        """
        ties = np.zeros(0) if held_std is None else 1 / held_std
        own = W if held is None else np.hstack([W, held])
        carried = W if loaded is None else W * loaded[:, None]
        b, size, loads = W.shape[1], own.shape[1], self.columns.shape[1]
        rows = np.zeros((len(W) + size + loads, size + loads + 1))
        rows[:len(W)] = np.column_stack([own, carried @ self.columns, z])
        known = rows[len(W):]
        known[:b, :b] = self._root
        known[b:, b:-1] = np.diag([*ties, *np.full(loads, 1 / LOAD_STD)])
        R = np.asarray(np.linalg.qr(rows, mode='r'))
        if not np.isfinite(R).all():
            raise LinAlgError
        factor, half = R[size:size + loads, size:-1], inverse_of(R[:size, :size])
        load, N = self.known.start, self.known.open_directions
        basis, triangle = np.linalg.qr(factor @ N)
        gap = R[size:size + loads, -1] - factor @ load
        load = load + N @ (inverse_of(triangle) @ (basis.T @ gap))
        shift = half @ R[:size, size:-1]
        return load, factor, half @ R[:size, -1] - shift @ load, shift, half

    def fit(self, parts: Sequence[Part]) -> LoadFit:
        """
        Fit recordings, in the order of time, each joint weighted by its residual.

        Friction and zeros change from each recording to the next, by as much as from the model's
        to the first.
        """
        b, loads = self.columns.shape
        rows = np.sum([part.rows.rows for part in parts], axis=0)
        counts = np.maximum(rows, 1)
        torque = np.sum([part.rows.torque_squares() for part in parts], axis=0)
        floor = LEAST_RESIDUAL * np.sqrt(torque.sum() / counts.sum()) + np.finfo(float).tiny
        sigma = np.maximum(self.model.sigma, floor)
        loaded = np.array([part.loaded for part in parts], dtype=float)
        steps, step_std = self._steps(len(parts))
        for _ in range(LOAD_REWEIGHTINGS):
            scale = sigma * np.sqrt(self.model.colour)
            R = [np.asarray(np.linalg.qr(
                (part.rows.factors / scale[:, None, None]).reshape(-1, b + 1), mode='r'))
                for part in parts]
            W = np.concatenate([own[:, :b] for own in R])
            z = np.concatenate([own[:, b] for own in R]) - W @ self.theta
            held = np.concatenate([own[:, :b] @ step for own, step in zip(R, steps, strict=True)])
            load, factor, others, shift, half = self.solve(
                W, z, held, step_std, np.repeat(loaded, [len(own) for own in R]))
            thetas = self.theta + others[:b] + steps @ others[b:] + np.outer(
                loaded, self.columns @ load)
            before = sigma
            left = np.sqrt(residual_squares(parts, thetas) / counts)
            sigma = np.where(rows > 0, np.maximum(left, floor), before)
            if np.abs(sigma / before - 1).max() < LOAD_WEIGHTS_SETTLED:
                break
        score = loaded[:, None, None] * self.columns - shift[:b] - steps @ shift[b:]
        N = self.known.open_directions
        pull = np.concatenate([
            self._root @ shift[:b], shift[b:] / step_std[:, None], np.eye(loads) / LOAD_STD]) @ N
        scatter = pull.T @ pull + joint_scatter(
            JointRows.of([part.rows.factors / scale[:, None, None] for part in parts],
                         thetas, score @ N, steps), rows,
            half, np.asarray(np.linalg.qr(factor @ N, mode='r')), self.known.asked)
        return LoadFit(load, factor, scatter, self.known,
                       thetas=thetas, sigma=before, score=score)

    def _steps(self, count: int) -> tuple[Array, Array]:
        """
        Describe the steps of friction and zeros from one recording to the next.

        The step from the model to the first recording is an error of the model.

        Returns
        -------
        columns : (K, b, s) ndarray
            Change of the base parameters of each recording with the steps before it.
        std : (s,) ndarray
            Standard deviation of each step.

        """
        changing = self._spread > 0
        own = friction_change(self.arm)[:, changing]
        after = np.tri(count, count - 1, -1)
        columns = np.einsum('ks,bf->kbsf', after, own).reshape(count, len(own), -1)
        return columns, np.tile(self._spread[changing], count - 1)

    def on_link(self, link: int) -> LoadRegression:
        """Return the regression of an unknown load on another link."""
        other = copy(self)
        other.known = KnownLoad()
        other.columns = np.asarray(
            base_parameters(self.arm).grouping[:, self.arm.layout.inertial(link)])
        return other

    @property
    def shows_mass(self) -> bool:
        """Whether any motion separates the mass from the place of its centre."""
        Q, _ = np.linalg.qr(self.known.open_directions)
        _, singular, V = np.linalg.svd(self.columns @ Q)
        share = ((Q @ V[singular > COLUMN_ROUNDING * singular[0]].T)[0]**2).sum()
        return bool(share > (1 - COLUMN_ROUNDING) * (Q[0]**2).sum() or self.known.mass is not None)

    @property
    def prior(self) -> Array:
        """
        Return the prior of the arm with its load, as rows ``[w tau]``.

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
        """Name the parameters that a load changes and that only the model's prior determines."""
        unknown = load_columns(self.model.arm).any(axis=1) & ~self.model.from_data
        if not unknown.any():
            return ()
        names = base_parameters(self.model.arm).names
        open_ones = listed([names[k] for k in np.flatnonzero(unknown)])
        return (f'the model of {", ".join(self.model.sources)} leaves {open_ones} open, which the '
                'load changes: identify the arm with a motion of all joints',)
