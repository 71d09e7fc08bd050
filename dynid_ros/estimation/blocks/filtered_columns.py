# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Evaluate, filter and decimate all candidate columns of the regressor, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, FrictionTerm
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.filters import Decimator, Shares
from dynid_ros.data.signals.near_reversals import NearReversals
from dynid_ros.dynamics.base import base_parameters, gravity_torque, random_regressor
from dynid_ros.dynamics.kernel_arrays import pairs, tree
from dynid_ros.dynamics.link_tiles import LINK_WIDTH
from dynid_ros.dynamics.regressor import coupling_value, fill_tiles
from dynid_ros.dynamics.tiles import TILE
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Samples evaluated at a time, so that the columns of links, and the other columns, stay in the
#: cache until they are filtered.
IN_CACHE, AT_ONCE = 4 * TILE, 64 * TILE
#: Most samples, and most kept rows, of a piece. The low-pass extends beyond both ends of a piece,
#: so samples there are evaluated twice: 2 % of them at a cut-off of 2.5 Hz and 1 kHz.
PIECE_SAMPLES, ROWS = 65536, 2048


@dataclass(frozen=True)
class Piece:
    """
    Some consecutive rows of a stretch.

    Attributes
    ----------
    segment : int
        Number of the stretch.
    first, count : int
        First of the kept rows of the stretch, and their number.

    """

    segment: int
    first: int
    count: int


class FilteredColumns:
    """
    Structurally nonzero entries of ``[W tau]``, for every choice of friction terms.

    A column of a link has an entry for each joint that carries the link; a column of friction or
    rotor inertia has one for its own joint. The inertial columns are the base parameters of the
    rigid arm. Rotor inertia and friction add no inertial base parameter, because a column is
    dropped only if it depends on earlier ones.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms do not matter.
    settings : ConditioningSettings
        Cut-off and decimation.
    terms : sequence of str
        Friction terms to evaluate; terms that depend on the load are evaluated separately.

    Attributes
    ----------
    names : tuple of str
        Names of the B columns, as in the layouts of the arm; columns of the load come last.
    joints, columns : (M,) ndarray of int
        Joint and column of each entry: the torque (column B) first, the load last.

    """

    def __init__(
        self, arm: ArmModel, settings: ConditioningSettings, terms: Sequence[str],
    ) -> None:
        self.arm, self._decimator = arm.rigid, settings.decimator()
        self._shares = Shares(self._decimator, TILE)
        chosen = friction_terms(terms)
        self._terms = tuple(term for term in chosen if not term.needs_load)
        self._load_terms: tuple[FrictionTerm, ...] = tuple(t for t in chosen if t.needs_load)
        self._coupling, self._shape = arm.coupling, arm.friction_shape
        self._needs_history = any(term.needs_history for term in chosen)
        symbols = ('Ia', *(term.symbol for term in self._terms))
        rigid, all_joints = base_parameters(self.arm), np.arange(arm.n)
        self.names = (
            *rigid.names, *(f'{symbol}{j + 1}' for symbol in symbols for j in all_joints),
            *(column.name for column in arm.coupling),
            *(f'{term.symbol}{j + 1}' for term in self._load_terms for j in all_joints))
        example = random_regressor(self.arm)[:, rigid.columns].reshape(-1, arm.n, rigid.count)
        movers, columns = np.nonzero(example.any(axis=0))
        self._sums = _sums_of_tiles(self.arm, movers, rigid.columns[columns])
        friction = rigid.count + np.arange(arm.n * len(symbols))
        couplings = rigid.count + len(friction) + np.arange(len(arm.coupling))
        self._loads = arm.n * len(self._load_terms)
        load_columns = len(self.names) - np.arange(self._loads, 0, -1)
        self.columns: Places = np.concatenate([
            np.full(arm.n, len(self.names)), friction, np.repeat(couplings, arm.n), columns,
            load_columns])
        self.joints: Places = np.concatenate([
            np.tile(all_joints, 1 + len(symbols) + len(couplings)), movers,
            np.tile(all_joints, len(self._load_terms))])

    def pieces(self, motions: Sequence[ConditionedMotion]) -> list[Piece]:
        """Cut stretches into pieces, in order of time."""
        rows = max(1, min(ROWS, PIECE_SAMPLES // self._decimator.step))
        totals = [self._decimator.outputs(len(motion.t)) for motion in motions]
        return [Piece(number, first, min(rows, total - first))
                for number, total in enumerate(totals) for first in range(0, total, rows)]

    def kept_samples(self, piece: Piece) -> slice:
        """Return the samples of the stretch at the centres of the rows of a piece."""
        step = self._decimator.step
        first = self._decimator.reach + piece.first * step
        return slice(first, first + (piece.count - 1) * step + 1, step)

    def evaluate(self, piece: Piece, motion: ConditionedMotion) -> Array:
        """Evaluate, filter and decimate all entries except those of the load."""
        def entries(part: slice) -> list[Array]:
            qd, qdd = motion.qd[part], motion.qdd[part]
            couplings = [coupling_value(each.quantity, each.matrix, qd, qdd).T
                         for each in self._coupling]
            friction = self._friction(self._terms, motion, part, None)
            return [motion.tau[part].T, qdd.T, friction, *couplings]

        return np.hstack([self._filtered(piece, entries), self._filtered_links(piece, motion)])

    def evaluate_load(
        self, piece: Piece, motion: ConditionedMotion, inertial: Array | None,
    ) -> Array:
        """Evaluate, filter and decimate the columns of the load, given inertial parameters."""
        if inertial is None or not self._loads:
            return np.zeros((piece.count, self._loads))
        return self._filtered(
            piece, lambda part: [self._friction(self._load_terms, motion, part, inertial)])

    def _friction(
        self, terms: Sequence[FrictionTerm], motion: ConditionedMotion, part: slice,
        inertial: Array | None,
    ) -> Array:
        """Evaluate terms, with reversals between samples, (terms n, k); the load as above."""
        near = NearReversals(motion.low_pass, motion.qd, part)
        inner = slice(part.start - near.around.start, part.stop - near.around.start)
        qd = load = motion.qd[near.around]
        fine = fine_load = near.between(qd)
        if inertial is not None:
            load = gravity_torque(self.arm, motion.q[near.around], inertial)
            fine_load = near.between(load)
        # Joint by joint, as the columns lie. Terms act on each value alone.
        own_qd, own_load = (np.ascontiguousarray(x[inner].T) for x in (qd, load))
        history = motion.history(part).transposed() if self._needs_history else None
        columns = np.empty((len(terms), self.arm.n, part.stop - part.start))
        for values, term in zip(columns, terms, strict=True):
            values[:] = term.at(own_qd, own_load, history, self._shape)
            # History is known at the samples alone.
            if not term.needs_history:
                near.decimated(values, term.value(fine, fine_load, self._shape))
        return columns.reshape(-1, columns.shape[2])

    def _filtered_links(self, piece: Piece, motion: ConditionedMotion) -> Array:
        """Filter and decimate the entries of the links, (rows, E)."""
        link_pairs = pairs(self.arm)
        tiles = link_pairs.tiles(IN_CACHE)
        filtered = np.zeros((piece.count, LINK_WIDTH * len(link_pairs.joints)))
        # The last tile may be partly empty.
        tiles[:] = 0.0
        for start, part in _parts(piece, self._decimator, IN_CACHE):
            states = motion.q[part], motion.qd[part], motion.qdd[part]
            fill_tiles(self.arm, tree(self.arm), states, tiles)
            for k in range(0, len(states[0]), TILE):
                within, share = self._shares.of(start + k, piece.count)
                filtered[within] += share @ tiles[k // TILE].reshape(-1, TILE).T
        places, starts, factors = self._sums
        if not self.arm.tree.followers:
            return np.asarray(filtered[:, places])
        return np.asarray(np.add.reduceat(filtered[:, places] * factors, starts, axis=1))

    def _filtered(self, piece: Piece, entries: Callable[[slice], list[Array]]) -> Array:
        """
        Filter and decimate entries of a piece, `AT_ONCE` samples at a time.

        Parameters
        ----------
        piece : Piece
            The rows.
        entries : callable
            Returns entries at some samples, (c, k) each.

        Returns
        -------
        (rows, C) ndarray
            All entries.

        """
        filtered: Array | None = None
        for start, part in _parts(piece, self._decimator, AT_ONCE):
            values = np.concatenate(entries(part))
            if filtered is None:
                filtered = np.zeros((piece.count, len(values)))
            for k in range(0, values.shape[1], TILE):
                within, share = self._shares.of(start + k, piece.count)
                taken = values[:, k:k + TILE]
                filtered[within] += share[:, :taken.shape[1]] @ taken.T
        assert filtered is not None
        return filtered


def _parts(piece: Piece, decimator: Decimator, size: int) -> Iterator[tuple[int, slice]]:
    """Yield parts of a piece: first sample in the piece, and samples in the stretch."""
    first = piece.first * decimator.step
    samples = (piece.count - 1) * decimator.step + len(decimator.taps)
    for start in range(0, samples, size):
        yield start, slice(first + start, first + min(start + size, samples))


def _sums_of_tiles(
    arm: ArmModel, movers: Places, columns: Places,
) -> tuple[Places, Places, Array]:
    """
    Express entries of the rigid arm as weighted sums of the entries in tiles.

    The torque of a joint includes that of its followers, times their gearing.

    Parameters
    ----------
    arm : ArmModel
        The arm, without rotor inertia and friction.
    movers, columns : (E,) ndarray of int
        Joint and column of each entry.

    Returns
    -------
    places : (K,) ndarray of int
        Rows of tiles, entry by entry.
    starts : (E,) ndarray of int
        First row of each entry among `places`.
    factors : (K,) ndarray
        Weight of each row.

    """
    link_pairs, order = pairs(arm), arm.tree.order
    gearing = arm.tree.gearing[order[link_pairs.joints]][:, movers].T
    links = order[link_pairs.columns // LINK_WIDTH] == columns[:, None] // LINK_WIDTH
    entries, pair = np.nonzero(links & (gearing != 0))
    places = pair * LINK_WIDTH + columns[entries] % LINK_WIDTH
    starts = np.searchsorted(entries, np.arange(len(columns)))
    return places, starts, gearing[entries, pair]
