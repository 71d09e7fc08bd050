# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples of many messages in arrays that grow while a bag is read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array

#: Capacity of a growing array relative to its content.
GROWTH_FACTOR = 1.05


@dataclass(frozen=True)
class SampleBlock:
    """
    Messages of one layout.

    Attributes
    ----------
    names : tuple of str
        Joint names, in the order of the columns.
    index : (k,) ndarray of int64
        Place of each message in the recording, counted from 0.
    stamp, received : (k,) ndarray of int64
        Header stamp, and time at which the recorder received the message, ns.
    position, velocity, effort : (k, a), (k, b), (k, c) ndarray
        Values; the columns may be fewer than the names, or none.

    """

    names: tuple[str, ...]
    index: NDArray[np.int64]
    stamp: NDArray[np.int64]
    received: NDArray[np.int64]
    position: Array
    velocity: Array
    effort: Array


class JoinedBlocks:
    """Join blocks of equal names and array lengths as they arrive."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], dict[str, _GrowingArray]] = {}

    def add(self, block: SampleBlock) -> None:
        """Take in the next block."""
        widths = (block.position.shape[1], block.velocity.shape[1], block.effort.shape[1])
        rows = {field.name: getattr(block, field.name) for field in fields(SampleBlock)[1:]}
        group = self._groups.setdefault((block.names, *widths), {
            name: _GrowingArray(own) for name, own in rows.items()})
        for name, own in rows.items():
            group[name].add(own)

    def take(self) -> tuple[SampleBlock, ...]:
        """Return the blocks, in the order of their first messages; no more can be added."""
        return tuple(
            SampleBlock(names, **{name: array.take() for name, array in group.items()})
            for (names, *_), group in self._groups.items())


class _GrowingArray:
    """Rows that are appended in place: joining parts would need twice the memory."""

    def __init__(self, like: NDArray[Any]) -> None:
        self._held, self._count = np.empty((0, *like.shape[1:]), like.dtype), 0

    def add(self, rows: NDArray[Any]) -> None:
        start, self._count = self._count, self._count + len(rows)
        if self._count > len(self._held):
            self._resize(int(GROWTH_FACTOR * self._count))
        self._held[start:self._count] = rows

    def take(self) -> NDArray[Any]:
        self._resize(self._count)
        return self._held

    def _resize(self, rows: int) -> None:
        # Nothing else refers to it yet, and the system resizes large arrays without a copy.
        self._held.resize((rows, *self._held.shape[1:]), refcheck=False)
