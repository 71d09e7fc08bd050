"""Long signals block by block: no table of many columns by all samples fills the memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

#: Samples of a block: so many of seven joints stay in the cache.
BLOCK = 8192


def blocks(samples: int) -> Iterator[slice]:
    """Cut samples into blocks, in the order of time."""
    for start in range(0, samples, BLOCK):
        yield slice(start, min(start + BLOCK, samples))


def finite_span(x: Array) -> tuple[Array, Array]:
    """Smallest and largest finite value of each column (N, n); infinite where there is none."""
    known = np.isfinite(x)
    return (np.min(x, axis=0, initial=np.inf, where=known),
            np.max(x, axis=0, initial=-np.inf, where=known))
