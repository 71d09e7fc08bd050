# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The page of a fleet: findings, the arms, drift, and skipped bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.applications.fleet.drift import DAY, day, Series
from dynid_ros.applications.fleet.run import FleetResult
from dynid_ros.pages.report.axes import around, Curve, drawing, linear, Panel
from dynid_ros.pages.report.templating import part, render

if TYPE_CHECKING:
    from markupsafe import Markup

#: Most series drawn without a drift, the steadiest changes first.
DRAWN_STEADY = 4
MOST_DRAWN = 24
#: Bags that a table lists.
LISTED_BAGS = 500
SIZE = (432.0, 202.0)


def fleet_page(found: FleetResult) -> bytes:
    """Make the page, one self-contained HTML file."""
    return render(
        'fleet.html', found=found, listed=LISTED_BAGS,
        drawn=[(each, draw_series(each)) for each in _chosen(found.series)])


def _chosen(series: Sequence[Series]) -> list[Series]:
    """Choose the series to draw: those that drift, then the steepest of the others."""
    drifting = [each for each in series if each.drifts]
    steady = sorted((each for each in series if not each.drifts), key=lambda each: -abs(each.tau))
    return [*drifting, *steady[:DRAWN_STEADY]][:MOST_DRAWN]


def draw_series(series: Series) -> Markup:
    """Draw values over date with the line through them, as SVG."""
    days = (series.date - series.date[0]) / DAY
    style = 'residual' if series.drifts else 'predicted'
    curves = (Curve(days, series.values, 'measured dots'),
              Curve(days[[0, -1]], np.array(series.line), style))
    return drawing(
        SIZE, linear(0.0, float(days[-1])), f'days since {day(float(series.date[0]))}',
        (Panel(around([series.values], room=0.3), series.name, curves),),
        part('series_label.html', series=series, day=day))
