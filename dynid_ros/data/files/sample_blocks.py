"""Samples of many messages in arrays that grow while a bag is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array, joined


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


def joined_blocks(blocks: Sequence[SampleBlock]) -> tuple[SampleBlock, ...]:
    """Join blocks of equal names and array lengths, in the order in which the first ones came."""
    groups: dict[tuple[Any, ...], list[SampleBlock]] = {}
    for block in blocks:
        widths = (block.position.shape[1], block.velocity.shape[1], block.effort.shape[1])
        groups.setdefault((block.names, *widths), []).append(block)
    return tuple(map(joined, groups.values()))
