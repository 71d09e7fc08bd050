# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of recordings with all candidate columns, evaluated once and reused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
import os

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.base import base_parameters, standard_of
from dynid_ros.estimation.blocks.filtered_columns import FilteredColumns, Piece, Places
from dynid_ros.estimation.blocks.groups import group_count, motion_groups
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.qr_factors import compress_groups, QRFactors, stack
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array


class KeptRows:
    """
    Decimated rows of conditioned stretches, with every candidate column.

    Selecting columns selects friction terms, and masks exclude outliers. Only columns of the load
    on the joints are evaluated again, since the load follows from an estimate. An hour of a
    7-joint arm takes 53 MB at a cut-off of 2.5 Hz and 210 MB at 10 Hz.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms do not matter.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    terms : sequence of str
        Candidate friction terms; all by default.
    groups : sequence of (N,) ndarray of int, optional
        Number of the group of each sample, stretch by stretch; from `motion_groups` by default.

    Attributes
    ----------
    motions, settings
        Of the parameters.
    names : tuple of str
        Columns of `groups`, as in the layouts of arms.

    """

    def __init__(
        self, arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
        terms: Sequence[str] = tuple(TERMS), groups: Sequence[Places] | None = None,
    ) -> None:
        self.motions, self.settings = list(motions), settings
        self._numbers = groups
        self._source = FilteredColumns(arm, settings, terms)
        self.names = self._source.names
        self._pieces = self._source.pieces(motions)
        self._values: dict[Piece, Array] = {}
        self._loads: tuple[bytes, dict[Piece, Array]] = b'', {}
        self._groups: dict[bytes, list[QRFactors]] = {}
        self._whole: dict[bytes, QRFactors] = {}

    def masked(self, motions: Sequence[ConditionedMotion]) -> KeptRows:
        """Return the same rows, in the same groups, with the masks `moving` of other motions."""
        other = copy(self)
        other.motions, other._groups, other._whole = list(motions), {}, {}
        other._numbers = self.numbers
        return other

    def columns(self, arm: ArmModel) -> NDArray[np.intp]:
        """Return the indices of the base columns of an arm of the same tree among `names`."""
        places = {name: k for k, name in enumerate(self.names)}
        return np.array([places[name] for name in base_parameters(arm).names], dtype=np.intp)

    def blocks(self, arm: ArmModel, load_theta: Array | None = None) -> Iterator[RowBlock]:
        """
        Yield the rows of an arm of the same tree, with any of the friction terms.

        Parameters
        ----------
        arm : ArmModel
            The arm; its friction terms define the columns.
        load_theta : (b,) ndarray, optional
            Base parameters from which the torque that loads each joint is computed; needed by the
            ``load`` friction term only.

        Yields
        ------
        RowBlock
            In the order of time.

        """
        source, wanted = self._source, self.columns(arm)
        n, size = arm.n, len(wanted)
        place = np.full(len(source.names), -1)
        place[wanted] = np.arange(size)
        joints, columns = source.joints, source.columns
        used = np.flatnonzero(np.append(place, -1)[columns] >= 0)
        target = joints[used] * size + place[columns[used]]
        for piece, values in self._read(arm, load_theta):
            moving = self._moving(piece)
            W = np.zeros((piece.count, n * size))
            W[:, target] = values[:, used]
            motion, kept = self.motions[piece.segment], source.kept_samples(piece)
            yield RowBlock(
                piece.segment, motion.t[kept], motion.q[kept], motion.qd[kept],
                W.reshape(-1, n, size) * moving[:, :, None], values[:, :n] * moving, moving)

    def groups(self, arm: ArmModel, load_theta: Array | None = None) -> list[QRFactors]:
        """
        Compress the rows of each group to the factors of each joint, with all candidate columns.

        Parameters
        ----------
        arm, load_theta
            As for `blocks`; columns of the load are zero if no term needs it.

        Returns
        -------
        list of QRFactors
            Of each group; ``factors.part(rows.columns(arm))`` has the columns of an arm.

        """
        key = self._load_key(arm, load_theta)
        if key not in self._groups:
            # Only rows with the latest load are needed again.
            for kept in (self._groups, self._whole):
                for old in [each for each in kept if each]:
                    del kept[old]
            self._groups[key] = self._compressed(self._read(arm, load_theta))
        return self._groups[key]

    def parts(self, arm: ArmModel, load_theta: Array | None = None) -> list[QRFactors]:
        """Return the factors of each group of the rows that `blocks` yields."""
        columns = self.columns(arm)
        return [each.part(columns) for each in self.groups(arm, load_theta)]

    def compressed(self, arm: ArmModel, load_theta: Array | None = None) -> QRFactors:
        """Return the factors of the rows that `blocks` yields."""
        key, parts = self._load_key(arm, load_theta), self.groups(arm, load_theta)
        if key not in self._whole:
            self._whole[key] = stack(parts)
        return self._whole[key].part(self.columns(arm))

    @property
    def numbers(self) -> Sequence[Places]:
        """Return the number of the group of each sample, stretch by stretch."""
        if self._numbers is None:
            self._numbers = motion_groups(self.motions, self.settings.decimator().reach)
        return self._numbers

    def _compressed(self, pieces: Iterable[tuple[Piece, Array]]) -> list[QRFactors]:
        columns, n = self._source.columns, self._source.arm.n
        entries = [np.flatnonzero(self._source.joints == joint) for joint in range(n)]
        # The torque of each joint goes last.
        entries = [joint_entries[np.argsort(columns[joint_entries], kind='stable')]
                   for joint_entries in entries]
        numbers = self.numbers
        return compress_groups(
            ((numbers[piece.segment][self._source.kept_samples(piece)], self._moving(piece),
              [values[:, joint_entries] for joint_entries in entries])
             for piece, values in pieces),
            [columns[joint_entries] for joint_entries in entries], len(self.names) + 1,
            group_count(numbers))

    def predict(
        self, arm: ArmModel, theta: Array, name: str, held_out: bool,
    ) -> list[Prediction]:
        """
        Predict the torque of each stretch long enough for a row, with base parameters of an arm.

        Parameters
        ----------
        arm : ArmModel
            The arm.
        theta : (b,) ndarray
            Base parameters.
        name : str
            Name of the samples.
        held_out : bool
            False if they were used for fitting.

        """
        source, n = self._source, arm.n
        factor = np.zeros(len(self.names) + 1)
        factor[self.columns(arm)] = theta
        combine = np.eye(n)[source.joints] * factor[source.columns, None]
        stretches: dict[int, list[tuple[Array, ...]]] = {}
        for piece, values in self._read(arm, theta):
            motion, kept = self.motions[piece.segment], source.kept_samples(piece)
            # Copies: concatenating views would page in all pieces at once.
            stretches.setdefault(piece.segment, []).append((
                motion.t[kept].copy(), motion.q[kept].copy(), motion.qd[kept],
                *(np.where(self._moving(piece), x, np.nan)
                  for x in (values[:, :n], values @ combine))))
        return [Prediction(name, held_out, *map(np.concatenate, zip(*parts, strict=True)))
                for parts in stretches.values()]

    def _moving(self, piece: Piece) -> NDArray[np.bool_]:
        return self.motions[piece.segment].moving[self._source.kept_samples(piece)]

    def _read(self, arm: ArmModel, load_theta: Array | None) -> Iterator[tuple[Piece, Array]]:
        """Yield all pieces; evaluate the missing ones on all processors."""
        key = self._load_key(arm, load_theta)
        if key != self._loads[0]:
            self._loads = key, {}
        (_, loads), inertial = self._loads, np.frombuffer(key) if key else None

        def evaluated(piece: Piece) -> Piece:
            motion = self.motions[piece.segment]
            if piece not in self._values:
                self._values[piece] = self._source.evaluate(piece, motion)
            if piece not in loads:
                loads[piece] = self._source.evaluate_load(piece, motion, inertial)
            return piece

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for piece in pool.map(evaluated, self._pieces):
                yield piece, np.hstack([self._values[piece], loads[piece]])

    @staticmethod
    def _load_key(arm: ArmModel, load_theta: Array | None) -> bytes:
        """Bytes of the inertial parameters that determine the load; empty if no term needs it."""
        if load_theta is None or not arm.needs_load:
            return b''
        return standard_of(arm, load_theta)[arm.layout.all_inertial()].tobytes()
