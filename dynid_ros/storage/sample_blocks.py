"""Samples of many messages in arrays that grow while a bag is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Room that growing arrays have beyond what they hold, as a share of it.
SPARE = 0.1


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
    """
    Blocks of equal names and array lengths, joined as they come.

    The arrays grow in place: blocks beside their join would take the memory twice.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[object, ...], _Growing] = {}

    def add(self, block: SampleBlock) -> None:
        """Take in the next block."""
        widths = (block.position.shape[1], block.velocity.shape[1], block.effort.shape[1])
        group = self._groups.setdefault((block.names, *widths), _Growing(block.names))
        group.add([getattr(block, field.name) for field in fields(SampleBlock)[1:]])

    def take(self) -> tuple[SampleBlock, ...]:
        """Return the blocks, in the order in which the first of each came, and forget them."""
        groups, self._groups = self._groups, {}
        return tuple(group.take() for group in groups.values())


class _Growing:
    """Arrays of one block, to which samples are added."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names, self._count, self._room = names, 0, 0
        self._arrays: list[NDArray[Any]] = []

    def add(self, arrays: Sequence[NDArray[Any]]) -> None:
        if not self._arrays:
            self._arrays = [np.empty((0, *array.shape[1:]), array.dtype) for array in arrays]
        stop = self._count + len(arrays[0])
        if stop > self._room:
            self._resize(stop + int(SPARE * stop))
        for whole, array in zip(self._arrays, arrays, strict=True):
            whole[self._count:stop] = array
        self._count = stop

    def take(self) -> SampleBlock:
        self._resize(self._count)
        return SampleBlock(self._names, *self._arrays)

    def _resize(self, room: int) -> None:
        self._room = room
        for array in self._arrays:
            # Nothing else refers to it, and the system moves large arrays without a copy.
            array.resize((room, *array.shape[1:]), refcheck=False)
