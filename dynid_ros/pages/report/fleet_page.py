"""The page of a fleet: findings, the arms, drift, and skipped bags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import re
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.applications.fleet.arms import day
from dynid_ros.applications.fleet.drift import DAY, Series
from dynid_ros.applications.fleet.run import FleetResult
from dynid_ros.pages.report.drawings import inline_svg, page_style
from dynid_ros.pages.report.figures import MEASURED, PREDICTED, RESIDUAL
from dynid_ros.pages.report.templating import render

if TYPE_CHECKING:
    from markupsafe import Markup

#: Series that are drawn although they do not drift, the steadiest changes first.
DRAWN_STEADY = 4
MOST_DRAWN = 24
#: Bags that a table lists.
LISTED = 500
#: Inches of 72 units.
SIZE = (6.0, 2.8)


def fleet_page(found: FleetResult) -> bytes:
    """Make the page, one self-contained HTML file."""
    chosen = _chosen(found.series)
    return render(
        'fleet.html', found=found, listed=LISTED, kinds=Counter(
            bag.fault for bag in found.skipped).most_common(),
        folders={name: re.sub(r'[^\w.-]', '_', name) for name in found.arms}, drawn=[
            (each, draw_series(each, f'series{number}')) for number, each in enumerate(chosen)])


def _chosen(series: Sequence[Series]) -> list[Series]:
    """Choose the series to draw: those that drift, then the steepest of the others."""
    drifting = [each for each in series if each.drifts]
    steady = sorted((each for each in series if not each.drifts), key=lambda each: -abs(each.tau))
    return [*drifting, *steady[:DRAWN_STEADY]][:MOST_DRAWN]


@page_style
def draw_series(series: Series, name: str) -> Markup:
    """Draw values over date with the line through them, as SVG."""
    axes = Figure(figsize=SIZE).subplots()
    days = (series.date - series.date[0]) / DAY
    axes.plot(days, series.values, '.', color=MEASURED, markersize=4)
    axes.plot(days[[0, -1]], series.line, linewidth=1.8,
              color=RESIDUAL if series.drifts else PREDICTED)
    spread = np.ptp(series.values) or 1.0
    axes.set_ylim(series.values.min() - 0.3 * spread, series.values.max() + 0.3 * spread)
    axes.set_xlabel(f'days since {day(float(series.date[0]))}')
    axes.set_ylabel(series.name)
    return inline_svg(axes.figure, name, 'series_label.html', series=series, day=day)
