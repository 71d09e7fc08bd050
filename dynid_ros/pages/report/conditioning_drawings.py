# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drawings of the compared cut-offs, and of the lateness of stamps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.data.recordings.recording import SampleClock
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.pages.report.axes import around, Curve, drawing, linear, Panel, Scale
from dynid_ros.pages.report.templating import part

if TYPE_CHECKING:
    from markupsafe import Markup

# Inches of 72 units.
_SIZE = (374.0, 194.0)
# Margin of the axes beyond the last values; the least top of one, %.
_BEYOND, _LEAST = 1.15, 1e-9
_MILLI = 1e3


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
    x = Scale(cutoffs[0] / _BEYOND, cutoffs[-1] * _BEYOND,
              tuple((float(each), f'{each:g}') for each in cutoffs), logarithmic=True)
    panel = Panel(
        linear(0.0, _BEYOND * float(errors.max(initial=_LEAST))), f'error below {lowest}, %',
        [Curve(cutoffs, errors, style) for style in ('predicted', 'predicted dots')])
    return drawing(_SIZE, x, 'cut-off of the rows, Hz', (panel,),
                   part('ladder_label.html', settings=settings),
                   (settings.cutoff_hz, 'fitcutoff'))


def clock_drawing(clock: SampleClock) -> Markup:
    """
    Draw the lateness of the stamps of a recording over time.

    Parameters
    ----------
    clock : SampleClock
        With times for a drawing.

    Returns
    -------
    Markup
        SVG element.

    """
    t, late = (_MILLI * np.array(each) for each in (clock.t, clock.late))
    newest = clock.kind == 'newest'
    curves = [Curve(t, late, 'predicted dots')]
    if newest:
        # Each sawtooth is a separate line; late messages have none.
        falls = np.flatnonzero(np.abs(np.diff(late)) > _MILLI / clock.rate_hz / 2) + 1
        curves.append(Curve(
            np.insert(t, falls, np.nan), np.insert(late, falls, np.nan), 'predicted'))
    label = 'stamp is late by, ms' if newest else 'stamp − even time, ms'
    summary = part(
        'clock_label.html', t=t, late=late, newest=newest, source=Path(clock.source).name)
    return drawing(_SIZE, around([t], room=0.02), 'time, ms',
                   (Panel(around([late]), label, curves),), summary)
