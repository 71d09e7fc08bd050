"""Cut-offs that were compared, and how late stamps are, as drawings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.data.recordings.recording import SampleClock
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.pages.report.drawings import inline_svg, page_style, SOFT
from dynid_ros.pages.report.figures import PREDICTED

if TYPE_CHECKING:
    from markupsafe import Markup

# Inches of 72 units.
_SIZE = (5.2, 2.7)
# The axes end so far beyond the last values; the least top of one, %.
_BEYOND, _LEAST = 1.15, 1e-9
_MILLI = 1e3


@page_style
def ladder_drawing(settings: ConditioningSettings) -> Markup:
    """
    Draw the error in the lowest band against the cut-off of the rows.

    Parameters
    ----------
    settings : ConditioningSettings
        With cut-offs that were compared, and the one that was chosen.

    Returns
    -------
    Markup
        SVG element.

    """
    cutoffs, errors = np.array(
        [(rung.cutoff_hz, rung.error_percent) for rung in settings.ladder]).T
    lowest = f'{cutoffs[0]:.3g} Hz'
    axes = Figure(figsize=_SIZE).subplots()
    axes.semilogx(cutoffs, errors, '-o', color=PREDICTED, linewidth=1.4, markersize=4)
    axes.axvline(settings.cutoff_hz, color=SOFT, linewidth=1.0, linestyle=':')
    axes.set_xticks(cutoffs, [f'{each:g}' for each in cutoffs])
    axes.minorticks_off()
    axes.set(xlim=(cutoffs[0] / _BEYOND, cutoffs[-1] * _BEYOND),
             ylim=(0.0, _BEYOND * errors.max(initial=_LEAST)), ylabel=f'error below {lowest}, %')
    axes.set_xlabel('cut-off of the rows, Hz', labelpad=1)
    return inline_svg(axes.figure, 'ladder', 'ladder_label.html', settings=settings)


@page_style
def clock_drawing(clock: SampleClock, name: str) -> Markup:
    """
    Draw by how much the stamps of a recording are late over time.

    Parameters
    ----------
    clock : SampleClock
        With times for a drawing.
    name : str
        Identifier of the drawing in the page, letters and digits.

    Returns
    -------
    Markup
        SVG element.

    """
    t, late = (_MILLI * np.array(each) for each in (clock.t, clock.late))
    newest = clock.kind == 'newest'
    # With room for the last label.
    axes = Figure(figsize=_SIZE).subplots(gridspec_kw={'right': 0.95})
    axes.plot(t, late, 'o', color=PREDICTED, markersize=2.5)
    if newest:
        # Each tooth of the saw has a line of its own; late messages have none.
        falls = np.flatnonzero(np.abs(np.diff(late)) > _MILLI / clock.rate_hz / 2) + 1
        axes.plot(*(np.insert(each, falls, np.nan) for each in (t, late)), color=PREDICTED,
                  linewidth=0.8)
    axes.margins(x=0.02)
    axes.set_ylabel('stamp is late by, ms' if newest else 'stamp − even time, ms')
    axes.set_xlabel('time, ms', labelpad=1)
    axes.locator_params('x', nbins=6)
    return inline_svg(axes.figure, name, 'clock_label.html', t=t, late=late, newest=newest,
                      source=Path(clock.source).name)
