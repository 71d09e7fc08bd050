# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Axes with curves, as SVG inside a page.

The style sheet has the colours, so one drawing serves light, dark and paper. Matplotlib draws the
figures of notebooks and files; for the 26 drawings of a report it takes longer than the
identification (``benchmarks/identify_speed.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.pages.report.templating import part, power_of_ten, typeset
from dynid_ros.utilities.arrays import Array, runs_of

if TYPE_CHECKING:
    from markupsafe import Markup

#: Width and height of a drawing. It is stretched to its column, so letters of a narrow one are
#: larger.
Size = tuple[float, float]
#: Margins for labels, in units of the size (eight letters at the left), and the gap of panels.
LEFT_MARGIN, RIGHT, TOP, BOTTOM, PANEL_GAP = 64.0, 10.0, 8.0, 32.0, 14.0
#: Space around curves, relative to the length of the axis.
CURVE_ROOM = 0.05
#: Steps between ticks, times powers of ten; the last one always gives few enough ticks.
TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Scale:
    """
    One axis.

    Attributes
    ----------
    low, high : float
        Its ends.
    ticks : tuple of (float, str)
        Places with their labels.
    logarithmic : bool
        Whether equal distances are equal ratios.

    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False

    def share(self, values: Array) -> Array:
        """Return places on the axis, 0 at its low end and 1 at its high end."""
        low, high, values = ((np.log10(each) for each in (self.low, self.high, values))
                             if self.logarithmic else (self.low, self.high, values))
        return np.asarray((values - low) / (high - low))


def linear(low: float, high: float, most: int = 6) -> Scale:
    """Return a linear scale with at most some ticks, at round numbers."""
    if not high > low:
        low, high = low - (abs(low) or 1.0) / 2, low + (abs(low) or 1.0) / 2
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (power * each for each in TICK_STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return Scale(low, high, tuple(
        (k * step, typeset(f'{k * step:.6g}')) for k in range(first, last + 1)))


def around(values: Iterable[Array], most: int = 6, room: float = CURVE_ROOM) -> Scale:
    """Return a linear scale with room around values, which may be NaN."""
    every = np.concatenate([np.ravel(each) for each in values])
    every = every[np.isfinite(every)]
    low, high = (float(every.min()), float(every.max())) if len(every) else (-1.0, 1.0)
    return linear(low - room * (high - low), high + room * (high - low), most)


def decades(low: float, high: float) -> Scale:
    """Return a logarithmic scale of complete decades around positive numbers."""
    first = math.floor(math.log10(low))
    last = max(math.ceil(math.log10(high)), first + 1)
    return Scale(10.0**first, 10.0**last, tuple(
        (10.0**k, power_of_ten(k)) for k in range(first, last + 1)), logarithmic=True)


@dataclass(frozen=True, eq=False)
class Curve:
    """
    A curve (k,), (k,) with gaps of NaN, and its classes in the style sheet.

    Attributes
    ----------
    x, y : (k,) ndarray
        Points.
    style : str
        Such as ``'predicted'``; ``'dots'`` or ``'squares'`` beside it draws points instead of a
        line, ``'area'`` fills the polygon.

    """

    x: Array
    y: Array
    style: str


@dataclass(frozen=True)
class Panel:
    """
    Axes above others that share their x axis.

    Attributes
    ----------
    scale : Scale
        Of the y axis.
    label : str
        Of the y axis.
    curves : sequence of Curve
        In the order in which they are drawn.
    share : float
        Height relative to the other panels.

    """

    scale: Scale
    label: str
    curves: Sequence[Curve]
    share: float = 1.0


def drawing(
    size: Size, x: Scale, x_label: str, panels: Sequence[Panel], summary: str,
    marked: tuple[float, str] | None = None,
) -> Markup:
    """
    Draw panels as one SVG element.

    Parameters
    ----------
    size : tuple of float
        Width and height.
    x : Scale
        The x axis of all panels.
    x_label : str
        Its label.
    panels : sequence of Panel
        From top to bottom.
    summary : str
        Text alternative, escaped as a template gives it.
    marked : tuple of (float, str), optional
        Place of a line across, drawn if it is on the axis, and its class in the style sheet.

    """
    from markupsafe import Markup

    wide = size[0] - LEFT_MARGIN - RIGHT
    high = size[1] - TOP - BOTTOM - PANEL_GAP * (len(panels) - 1)
    top, drawn = TOP, []
    for panel in panels:
        own = high * panel.share / sum(each.share for each in panels)
        drawn.append({
            'top': top, 'high': own, 'label': panel.label,
            'rows': _placed(panel.scale, -own, own), 'curves': [
                (each.style, _path(wide * x.share(each.x), own * (1 - panel.scale.share(each.y)),
                                   each.style)) for each in panel.curves]})
        top += own + PANEL_GAP
    across = (float(wide * x.share(np.array(marked[0]))), marked[1]) if (
        marked and x.low <= marked[0] <= x.high) else None
    return Markup(part(
        'axes.html', size=size, left=LEFT_MARGIN, wide=wide, panels=drawn, x_label=x_label,
        columns=_placed(x, wide, 0.0), summary=Markup(summary.strip()), across=across))


def points(x: Array, y: Array) -> str:
    """Write coordinates (k,), (k,) in pixels as SVG does."""
    return ' '.join(f'{a:.1f},{b:.1f}' for a, b in zip(x.tolist(), y.tolist(), strict=True))


def runs(values: Array) -> list[slice]:
    """Parts of a series (k,) without gaps of NaN."""
    return [slice(*run) for run in runs_of(np.isfinite(values)).tolist()]


def _placed(scale: Scale, length: float, start: float) -> list[tuple[float, str]]:
    """Places of the ticks in units of the drawing, with their labels."""
    return [(start + length * float(scale.share(np.array(value))), text)
            for value, text in scale.ticks]


def _path(x: Array, y: Array, style: str) -> str:
    """Write the path of a curve, a point as a line of no length with a cap."""
    parts = [points(x[run], y[run]) for run in runs(y)]
    if {'dots', 'squares'} & set(style.split()):
        return ''.join(f'M{each}h0' for text in parts for each in text.split())
    return ''.join(f'M{text}' for text in parts) + ('Z' if 'area' in style.split() else '')
