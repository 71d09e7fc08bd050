"""The type of arrays in annotations, and runs of marks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def runs_of(marks: ArrayLike) -> NDArray[np.int64]:
    """Return the first mark of each run and the one behind its last, (K, 2)."""
    around = np.concatenate([[False], np.asarray(marks), [False]])
    return np.flatnonzero(around[1:] != around[:-1]).reshape(-1, 2)
