# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Small charts of many series: bands of estimates that converge, and prediction errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.pages.report.axes import points, runs
from dynid_ros.pages.report.templating import part
from dynid_ros.pages.viewer.charts import polylines
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from markupsafe import Markup

#: Size of a chart of an estimate, and of the error of a joint, pixels.
TILE_W, TILE_H = 120, 34
STRIP_W, STRIP_H = 330, 40
#: Part of the series that determines the scale: bands are wide at first.
SETTLED_SHARE = 0.6
#: Relative width of a band from which on it is drawn in colour.
NARROW = 0.5
#: Least reach of an axis, in its unit.
LEAST_REACH = 1e-12


def estimate_tiles(
    names: Sequence[str], t: Array, theta: Array, std: Array, from_data: NDArray[np.bool_],
) -> str:
    """
    Draw each estimate over time in its 95 % band.

    Parameters
    ----------
    names : sequence of str
        Of b parameters.
    t : (k,) ndarray
        s.
    theta, std : (k, b) ndarray
        Estimates and standard deviations.
    from_data : (b,) ndarray of bool
        Which estimates the data determine now; the prior determines the others.

    """
    tiles = [] if len(t) < 2 else [
        _tile(name, t, theta[:, j], std[:, j], bool(from_data[j])) for j, name in enumerate(names)]
    return part('watch_estimates.html', tiles=tiles, width=TILE_W, height=TILE_H)


def _tile(name: str, t: Array, theta: Array, std: Array, from_data: bool) -> dict[str, Any]:
    # Messages of others may hold anything.
    half = np.where(np.isfinite(std), INTERVAL * std, np.nan)
    change = theta - theta[-1]
    reach = (np.abs(change) + half)[int(SETTLED_SHARE * len(t)):]
    reach = reach[np.isfinite(reach)]
    scale = 0.45 * TILE_H / max(float(reach.max(initial=0.0)), LEAST_REACH)
    x = TILE_W * _shares(t)
    upper, middle, lower = (
        np.clip(TILE_H / 2 - scale * (change + side * half), -TILE_H, 2 * TILE_H)
        for side in (1, 0, -1))
    return {
        'name': name, 'value': theta[-1], 'half': half[-1],
        'from_data': from_data, 'drawn': len(reach) and t[-1] > t[0],
        'certain': from_data and half[-1] < NARROW * abs(theta[-1]),
        'bands': [f'{points(x[run], upper[run])} {points(x[run][::-1], lower[run][::-1])}'
                  for run in runs(half)],
        'middle': polylines(x, middle)}


def error_strips(
    names: Sequence[str], units: Sequence[str], t: Array, errors: Array,
    percent: Mapping[str, float],
) -> str:
    """
    Draw the torque of each joint minus its prediction before it was used.

    Parameters
    ----------
    names, units : sequence of str
        Of n joints.
    t : (k,) ndarray
        s.
    errors : (k, n) ndarray
        Nm or N; NaN where nothing was predicted.
    percent : dict of str to float
        Errors as a share of the torque, percent.

    """
    strips = [] if len(t) < 2 else [
        (name, unit, percent.get(name, np.nan), *_strip(t, errors[:, j]))
        for j, (name, unit) in enumerate(zip(names, units, strict=True))]
    return part('watch_errors.html', strips=strips, seconds=np.ptp(t) if len(t) else 0.0,
                width=STRIP_W, height=STRIP_H)


def _strip(t: Array, error: Array) -> tuple[float, Markup]:
    """Reach of the axis, and the line in pixels."""
    # Clip the first predictions and outliers, which would flatten the rest.
    late = error[len(error) // 2:]
    there = late[np.isfinite(late)]
    reach = max(float(np.quantile(np.abs(there), 0.98)) if len(there) else 0.0, LEAST_REACH)
    y = np.clip(STRIP_H / 2 - 0.42 * STRIP_H * error / reach, 0, STRIP_H)
    return reach, polylines(STRIP_W * _shares(t), y)


def _shares(t: Array) -> Array:
    """Scale times (k,) from 0 at the first to 1 at the last."""
    return np.asarray((t - t[0]) / max(t[-1] - t[0], LEAST_REACH))
