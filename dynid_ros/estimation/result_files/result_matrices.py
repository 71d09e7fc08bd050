# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Read and write matrices of a result file, and refuse impossible numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dynid_ros.arm.settings import LEAST_CUTOFF, LONGEST_DELAY
from dynid_ros.data.recordings.recording import SampleClock
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.utilities.arrays import Array

#: Largest value of a parameter or of a covariance; squares of larger ones overflow.
LARGEST_VALUE = 1e100
#: Rate, Hz, and decimation that no recording has.
IMPOSSIBLE_HZ = 1e12
#: Kinds of clocks, see `SampleClock`.
CLOCKS = ('even', 'newest')
#: Largest correlation of two parameters; rounding may lift one above 1.
MOST_CORRELATED = 1.001


def symmetric_rows(matrix: Array) -> list[list[float]]:
    """Rows of a symmetric matrix up to the diagonal."""
    # The last bit of a product may differ across the diagonal; then every number is kept.
    rows: list[list[float]] = matrix.tolist()
    if np.array_equal(matrix, matrix.T):
        return [row[:i + 1] for i, row in enumerate(rows)]
    return rows


def symmetric(rows: Any, names: tuple[str, ...]) -> Array:
    """
    Matrix (b, b) from its rows, of a parameter each.

    Raises
    ------
    ValueError
        The rows do not fit, or hold a number that is not finite; the message names the parameter.

    """
    size, lengths = len(names), [len(row) for row in rows]
    if lengths == list(range(1, size + 1)):
        matrix = np.zeros((size, size))
        lower = np.tril_indices(size)
        matrix[lower] = matrix.T[lower] = [float(entry) for row in rows for entry in row]
    elif lengths == [size] * size:
        matrix = np.array(rows, dtype=float)
    else:
        raise ValueError(f'covariance is not a matrix of {size} rows')
    check_finite(np.abs(matrix).max(axis=1), names, 'covariance')
    for name, variance in zip(names, np.diag(matrix).tolist(), strict=True):
        if variance < 0:
            raise ValueError(f'the variance of parameter {name} is {variance:g}, below zero')
    deviation = np.sqrt(np.diag(matrix))
    beyond = np.abs(matrix) > MOST_CORRELATED * np.outer(deviation, deviation)
    if beyond.any():
        first, second = (names[i] for i in np.argwhere(beyond)[0])
        raise ValueError(f'the covariance of {first} and {second} exceeds their deviations')
    return matrix


def check_finite(values: Array, names: tuple[str, ...], what: str) -> None:
    """Raise ValueError for an impossible value; the message names its parameter."""
    for name, value in zip(names, values.tolist(), strict=True):
        if not abs(value) < LARGEST_VALUE:
            raise ValueError(f'the {what} of parameter {name} is {value}, which is no estimate')


def upper_triangle(rows: Any, size: int) -> tuple[Array, Array]:
    """Upper triangle (b, b) and torque (b,) from their rows."""
    if [len(row) for row in rows] != list(range(size + 1, 1, -1)):
        raise ValueError(f'root_information is not an upper triangle of {size} rows')
    matrix = np.zeros((size, size + 1))
    matrix[np.triu_indices(size, m=size + 1)] = [float(entry) for row in rows for entry in row]
    if not np.isfinite(matrix).all():
        raise ValueError('root_information holds a number that is not finite')
    return matrix[:, :-1], matrix[:, -1]


def check_treatment(treatment: ConditioningSettings) -> None:
    """Raise ValueError if no filters can be made of the settings."""
    period = treatment.period
    possible = {
        'rate_hz': 0 < treatment.rate_hz < IMPOSSIBLE_HZ,
        'cutoff_hz': LEAST_CUTOFF <= treatment.cutoff_hz < IMPOSSIBLE_HZ,
        'decimation': 0 < treatment.decimation < IMPOSSIBLE_HZ,
        'delay': abs(treatment.delay) <= LONGEST_DELAY,
        'period': period is None or 0 < period < np.inf,
        'position_hz': all(each >= LEAST_CUTOFF for each in treatment.position_hz),
        'ladder': all(0 < rung.cutoff_hz < IMPOSSIBLE_HZ
                      and 0 <= rung.error_percent < LARGEST_VALUE
                      for rung in treatment.ladder),
    }
    for name, is_possible in possible.items():
        if not is_possible:
            raise ValueError(
                f'treatment.{name} is {getattr(treatment, name)}, which no treatment has')


def check_clocks(clocks: Iterable[SampleClock]) -> None:
    """Raise ValueError if clocks cannot be plotted and described."""
    for clock in clocks:
        times = np.array([*clock.t, *clock.late])
        possible = {
            'kind': clock.kind in CLOCKS,
            'rate_hz': 0 < clock.rate_hz < IMPOSSIBLE_HZ,
            'jitter': 0 <= clock.jitter < LARGEST_VALUE,
            'step': 0 < clock.step < LARGEST_VALUE,
            't': len(clock.t) == len(clock.late) and bool((np.abs(times) < LARGEST_VALUE).all()),
        }
        for name, is_possible in possible.items():
            if not is_possible:
                raise ValueError(f'clocks.{name} of {clock.source} is one that no clock has')
