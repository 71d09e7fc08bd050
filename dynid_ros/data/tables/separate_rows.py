# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tables in which positions and drive signals have rows of their own, as topics in one file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dynid_ros.data.recordings.lost_values import LOST_SHARE, splined
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.recordings.stamp_checks import GAP_SECONDS
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask


def with_joined_rows(
    t: Array, data: Mapping[str, Array], bad: Mask,
) -> tuple[dict[str, Array], Mask, list[Defect]]:
    """
    Bring values that are in rows of their own to the rows of positions.

    A tool that writes several topics into one file fills the columns of one topic a row. A column
    is apart if most rows of positions lack it while others hold it: as lost values, so many would
    be refused.

    Parameters
    ----------
    t : (N,) ndarray
        Time of the rows, s.
    data : dict of str to (N, n) ndarray
        Values of ``position``, ``signal`` and perhaps ``velocity``; NaN where a cell is empty.
    bad : (N,) ndarray of bool
        Rows that are left out.

    Returns
    -------
    data, bad
        The same, with signals interpolated over at most `GAP_SECONDS`; other rows are left out.
    defects : list of Defect
        A report, if there are such columns.

    """
    rows = np.isfinite(data['position'][:, 0]) & ~bad
    joined, missing, apart = dict(data), ~rows, set[str]()
    if not rows.any() or not (~rows & ~bad).any():
        return joined, bad, []
    for name, values in data.items():
        there = np.isfinite(values) & ~bad[:, None]
        lost = 1 - there[rows].mean(axis=0)
        for j in np.flatnonzero((lost > LOST_SHARE) & there[~rows].any(axis=0)).tolist():
            if name not in apart:
                apart.add(name)
                joined[name] = values.copy()
            own, x, at = t[there[:, j]], values[there[:, j], j], t[rows]
            far = too_far(own, at)
            joined[name][rows, j] = np.where(far, np.nan, between(
                own, x, at, smooth=name == 'position'))
            if name != 'velocity':
                missing[rows] |= far
    if not apart:
        return joined, bad, []
    count, unpaired = int(rows.sum()), int((missing & rows).sum())
    text = (f'{" and ".join(sorted(apart))} values are in rows of their own, as of topics in one '
            f'file: they are interpolated to the {count} rows of positions')
    return joined, bad | missing, [Defect(
        'rows_joined', 'warning' if unpaired > LOST_SHARE * count else 'info',
        text + (f', {unpaired} of which are left out because those around them are more than '
                f'{GAP_SECONDS:g} s apart.' if unpaired else '.'),
        None, count, None, unpaired / count)]


def too_far(own: Array, t: Array) -> Mask:
    """Mark times (k,) outside of stamps (N,), or in a gap of them, s."""
    own = np.sort(own)
    if len(own) < 2:
        return np.ones(len(t), dtype=np.bool_)
    place = np.clip(np.searchsorted(own, t), 1, len(own) - 1)
    return np.asarray(
        (t < own[0]) | (t > own[-1]) | (own[place] - own[place - 1] > GAP_SECONDS))


def between(own: Array, x: Array, t: Array, *, smooth: bool) -> Array:
    """Interpolate values (N,) of stamps (N,) at times (k,), by a cubic spline if smooth."""
    stamps, first = np.unique(own, return_index=True)
    if smooth and len(stamps) > 2:
        return splined(stamps, x[first], t)
    return np.asarray(np.interp(t, stamps, x[first]))
