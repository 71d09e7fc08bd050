# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Type of arrays in annotations, runs of marks, root mean squares, systems, joined arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Part = TypeVar('Part')


def runs_of(marks: ArrayLike) -> NDArray[np.int64]:
    """Return the first mark of each run and the one after its last, (K, 2)."""
    around = np.concatenate([[False], np.asarray(marks), [False]])
    return np.flatnonzero(around[1:] != around[:-1]).reshape(-1, 2)


def rms(x: Array) -> Array:
    """Root mean square of the finite values of each column, (n,); zero where there are none."""
    known = np.isfinite(x)
    squares = np.where(known, x, 0.0)**2
    return np.asarray(np.sqrt(squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1)))


def solve_definite(matrix: Array, right: Array) -> Array:
    """Solve a symmetric system; raise LinAlgError where it is not positive definite."""
    # SciPy's interfaces take longer than solving a hundred equations.
    from scipy.linalg.lapack import dposv

    diagonal = np.diag(matrix)
    if not (diagonal > 0).all():
        raise np.linalg.LinAlgError('a diagonal entry is not above zero')
    # Columns span many decades; unit diagonals keep the solution exact.
    size = np.sqrt(diagonal)
    _, solution, failed = dposv(matrix / np.outer(size, size), right / size)
    if failed:
        raise np.linalg.LinAlgError('the matrix is not positive definite')
    return np.asarray(solution / size)


def inverse_of(R: Array) -> Array:
    """Inverse of an upper triangle without a zero on its diagonal."""
    from scipy.linalg.lapack import dtrtri

    return np.asarray(dtrtri(R)[0])


def joined(parts: Sequence[Part]) -> Part:
    """Concatenate the arrays of objects of one dataclass; other fields are those of the first."""
    first: Any = parts[0]
    whole: Part = type(first)(**{
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        if isinstance(getattr(first, field.name), np.ndarray) else getattr(first, field.name)
        for field in fields(first)})
    return whole
