"""Candidate columns of the rows, evaluated, filtered and decimated piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, FrictionTerm, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.base import base_parameters, gravity_torque
from dynid_ros.dynamics.regressor import all_joints, coupling_value, tree
from dynid_ros.estimation.regression.filter_kernels import (
    add_filtered,
    add_filtered_inertial,
    PADDING,
)
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Samples whose columns stay in the cache until they are filtered.
IN_CACHE = 2048
#: Samples, and kept rows, of a piece at most. The low-pass reaches over both ends of a piece,
#: where samples are evaluated twice: 2 % of this many at a cut-off of 2.5 Hz and 1 kHz.
SAMPLES, ROWS = 65536, 2048


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
    Entries of ``[W tau]`` that can differ from zero, for every choice of friction terms.

    A column of a link has an entry for each joint that carries the link; a column of friction or
    rotor inertia one for its own joint. Of the inertial columns those of the base parameters of
    the rigid arm are kept: with rotor inertia and friction, base parameters are some of these,
    as they are kept from first to last unless they depend on those before.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms do not matter.
    settings : ConditioningSettings
        Cut-off and decimation.
    terms : sequence of str
        Friction terms to evaluate; those that depend on the load make columns of their own.

    Attributes
    ----------
    names : tuple of str
        Names of the B columns, as the layouts of the arm call them; those of the load come last.
    joints, columns : (M,) ndarray of int
        Row and column of each entry; entries of the torque, which come last, have column B.
    loaded : tuple of FrictionTerm
        Terms that depend on the load, with n columns each.

    """

    def __init__(
        self, arm: ArmModel, settings: ConditioningSettings, terms: Sequence[str],
    ) -> None:
        self.arm, self._decimator = arm, settings.decimator()
        self._tree = tree(arm)
        self._taps = np.pad(self._decimator.taps, PADDING)
        chosen = friction_terms(terms)
        self._terms = tuple(term for term in chosen if not term.needs_load)
        self.loaded: tuple[FrictionTerm, ...] = tuple(t for t in chosen if t.needs_load)
        self._remembers = any(term.needs_history for term in chosen)
        own = ('Ia', *(term.symbol for term in self._terms))
        rigid = base_parameters(arm.rigid())
        couplings = tuple(column.name for column in arm.coupling)
        numbers = range(1, arm.n + 1)
        self.names = (
            *rigid.names, *(f'{symbol}{j}' for symbol in own for j in numbers), *couplings,
            *(f'{term.symbol}{j}' for term in self.loaded for j in numbers))
        links, entries = np.divmod(rigid.columns, len(INERTIAL))
        movers, of = np.nonzero(_carried(arm)[:, links])
        place = np.argsort(arm.tree.order)
        self._inertial = np.column_stack(
            [place[movers], place[links[of]], entries[of]]).astype(np.int64)
        gearing = arm.tree.gearing
        joints, columns = np.nonzero(np.abs(gearing).T @ _carried(arm)[:, links])
        #: Entries per driven joint from entries of all joints, whose torque counts by its gearing.
        self._reduction = (of[:, None] == columns) * gearing[movers][:, joints]
        self._rigid = len(joints)
        b, n, every = len(rigid.names), arm.n, np.arange(arm.n)
        diagonal = b + np.arange(n * len(own))
        declared = b + n * len(own) + np.repeat(np.arange(len(couplings)), n)
        self.joints: Places = np.concatenate(
            [joints, np.tile(every, len(own) + len(couplings) + 1)])
        self.columns: Places = np.concatenate(
            [columns, diagonal, declared, np.full(n, len(self.names))])

    def pieces(self, motions: Sequence[ConditionedMotion]) -> list[Piece]:
        """Cut stretches into pieces, in the order of time."""
        rows = max(1, min(ROWS, SAMPLES // self._decimator.step))
        totals = [self._decimator.outputs(len(motion.t)) for motion in motions]
        return [Piece(number, first, min(rows, total - first))
                for number, total in enumerate(totals) for first in range(0, total, rows)]

    def kept(self, piece: Piece) -> slice:
        """Return the samples of the stretch that the rows of a piece stand for."""
        step = self._decimator.step
        first = self._decimator.reach + piece.first * step
        return slice(first, first + (piece.count - 1) * step + 1, step)

    def evaluate(self, piece: Piece, motion: ConditionedMotion) -> Array:
        """Evaluate, filter and decimate all entries but those of the load, (count, M)."""
        out = np.zeros((piece.count, len(self.joints)))
        led = bool(self.arm.tree.followers)
        inertial = np.zeros((piece.count, len(self._inertial))) if led else out
        for part, first in self._parts(piece):
            q, qd, qdd, tau = (
                np.ascontiguousarray(x[part])
                for x in (motion.q, motion.qd, motion.qdd, motion.tau))
            every = all_joints(self.arm, q, qd, qdd)
            add_filtered_inertial(
                *self._tree, every[0], every[1], every[2], self._inertial,
                self._taps, self._decimator.step, first, inertial)
            history = motion.history(part) if self._remembers else JointHistory.unknown(qd)
            # No term here needs the load.
            own = [qdd, *(term.at(qd, qd, history, self.arm.friction_shape)
                          for term in self._terms)]
            own += [coupling_value(column.quantity, column.matrix, qd, qdd)
                    for column in self.arm.coupling]
            # Side by side: rows of a few columns leave the vector units idle.
            self._add(np.hstack([*own, tau]), first, out, self._rigid)
        if led:
            out[:, :self._rigid] = inertial @ self._reduction
        return out

    def evaluate_load(
        self, piece: Piece, motion: ConditionedMotion, inertial: Array | None,
    ) -> Array:
        """Evaluate, filter and decimate the columns of the load of inertial parameters."""
        out = np.zeros((piece.count, len(self.loaded) * self.arm.n))
        if inertial is None:
            return out
        for part, first in self._parts(piece):
            load = gravity_torque(self.arm, motion.q[part], inertial)
            for k, term in enumerate(self.loaded):
                values = term.value(motion.qd[part], load, self.arm.friction_shape)
                self._add(values, first, out, k * self.arm.n)
        return out

    def _parts(self, piece: Piece) -> list[tuple[slice, int]]:
        """Cut a piece into samples that fit the cache, with the number of the first one there."""
        step = self._decimator.step
        start = piece.first * step
        stop = start + (piece.count - 1) * step + 2 * self._decimator.reach + 1
        return [(slice(a, min(a + IN_CACHE, stop)), a - start)
                for a in range(start, stop, IN_CACHE)]

    def _add(self, values: Array, first: int, out: Array, column: int) -> None:
        values = np.ascontiguousarray(values)
        add_filtered(values, self._taps, self._decimator.step, first, out, column)


def _carried(arm: ArmModel) -> NDArray[np.bool_]:
    """Whether a joint (row) carries a link (column), its own one included, (m, m)."""
    carried = np.zeros((arm.links, arm.links), dtype=np.bool_)
    for link in range(arm.links):
        joint = link
        while joint >= 0:
            carried[joint, link] = True
            joint = int(arm.parent[joint])
    return carried
