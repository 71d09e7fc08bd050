# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Curves of a track: joint states against their limits, torque and clearance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np

from dynid_ros.arm.parameters import torque_units
from dynid_ros.pages.report.axes import around, points, runs
from dynid_ros.pages.report.curves import MEASURED, PREDICTED_COLOUR, RESIDUAL_COLOUR, thinned
from dynid_ros.pages.viewer.scene.closest_pair import ClosestPair
from dynid_ros.pages.viewer.sources.track import Quantity, Track
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from markupsafe import Markup

#: Colours of curves in turn, legible on white and black, distinct to the colour-blind (Okabe and
#: Ito).
COLORS = ('#0b76b8', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56a3d9', '#8c564b', '#7f7f7f')
#: Most points of a curve, and size of a chart in its own units: more points than it has pixels.
CHART_POINTS, CHART_WIDTH, HIGH = 500, 600.0, 120.0
#: Space above and below curves, relative to the length of the axis.
CHART_ROOM = 0.08
#: Name of a curve from the user (escape it), its values at the times of the track, and its CSS
#: colour.
Curve: TypeAlias = tuple[str, Array, str]


def track_charts(
    track: Track, pair: ClosestPair | None, clearance: float,
) -> Iterator[dict[str, Any]]:
    """
    Make the charts of a track, as the template ``chart.html`` takes them.

    Parameters
    ----------
    track : Track
        States over time.
    pair : ClosestPair, optional
        Clearance over time.
    clearance : float
        Stated clearance, m.

    """
    if pair is not None:
        closest = 'closest pair', 1e3 * pair.distance, COLORS[2]
        yield _chart('clearance, mm', track.t, (closest,), (1e3 * clearance,), (0.0,))
    for quantity in track.quantities():
        yield _shares(track, quantity)


def torque_charts(track: Track) -> list[dict[str, Any]]:
    """Make a chart of measured and predicted torque for each joint, if a model predicts it."""
    if track.tau is None or track.tau_hat is None:
        return []
    return [
        _chart(f'{name}: torque, {unit}', track.t, (
            ('measured', measured, MEASURED), ('predicted', predicted, PREDICTED_COLOUR),
            ('residual', measured - predicted, RESIDUAL_COLOUR)))
        for name, unit, measured, predicted in zip(
            track.arm.joint_names, torque_units(track.arm), track.tau.T, track.tau_hat.T,
            strict=True)]


def polylines(x: Array, y: Array) -> Markup:
    """Draw a curve (k,), (k,) in pixels as SVG, with its gaps of NaN."""
    from markupsafe import Markup

    return Markup(''.join(f'<polyline points="{points(x[run], y[run])}"/>' for run in runs(y)))


def _shares(track: Track, quantity: Quantity) -> dict[str, Any]:
    """Chart of shares of limits, or of the largest value of a joint without limits."""
    name, values, _, lower, upper = quantity
    known = np.isfinite(upper - lower) & (upper > lower)
    # A joint without limits turns about its zero.
    lower, upper = np.where(known, lower, 0.0), np.where(known, upper, 0.0)
    values = values - (lower + upper) / 2
    largest = np.nan_to_num(np.abs(values)).max(axis=0)
    scale = np.where(known, (upper - lower) / 2, np.where(largest > 0, largest, 1.0))
    return _chart(f'{name}, % of its {"range" if name == "position" else "limit"}', track.t, [
        (joint if has else f'{joint} (no limit: of its largest)', 100 * column / by, color)
        for joint, has, column, by, color in zip(
            track.arm.joint_names, known, values.T, scale, cycle(COLORS), strict=False)],
        (-100.0, 100.0))


def _chart(
    title: str, t: Array, curves: Sequence[Curve], limits: Sequence[float] = (),
    held: Sequence[float] = (),
) -> dict[str, Any]:
    """Chart whose axis holds all curves and limits, and further values."""
    axis = around(
        [*(values for _, values, _ in curves), np.array([*limits, *held])], room=CHART_ROOM)

    def height(values: Array) -> Array:
        return HIGH * (1 - axis.share(values))

    return {
        'title': title, 'ends': (axis.low, axis.high, t[-1]), 'size': (CHART_WIDTH, HIGH),
        'limits': height(np.array(limits)), 'curves': [
            (name, color,
             polylines(*thinned(CHART_WIDTH * t / t[-1], height(values), CHART_POINTS)))
            for name, values, color in curves]}
