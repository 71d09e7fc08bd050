"""Estimates over time, one panel a parameter, as in the two-axis article."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PANEL = (2.6, 1.9)
_COLUMNS = 6
_INTERVAL = 1.96
# The last estimate, and so many times its band, fill the panel.
_ZOOM = 4.0
_SMALLEST = 0.2


def draw_evolution(
    path: Path, names: Sequence[str], units: Sequence[str], t: Array, theta: Array, std: Array
) -> None:
    """
    Draw the history of every estimate with its 95 % band.

    Parameters
    ----------
    path : Path
        File to write; the suffix (``.svg``, ``.png``) decides the format.
    names, units : sequence of str
        Of the b parameters.
    t : (K,) ndarray
        Time, s.
    theta, std : (K, b) ndarray
        Estimates and standard deviations; bands that are not finite are left out.

    """
    from matplotlib.figure import Figure

    b = len(names)
    columns = min(_COLUMNS, int(np.ceil(np.sqrt(b))))
    rows = -(-b // columns)
    figure = Figure(figsize=(columns * _PANEL[0], rows * _PANEL[1]), layout='constrained')
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    band = _INTERVAL * np.where(np.isfinite(std), std, np.nan)
    for k, axes in enumerate(panels[:b]):
        axes.fill_between(
            t, theta[:, k] - band[:, k], theta[:, k] + band[:, k], alpha=0.25, linewidth=0)
        axes.plot(t, theta[:, k], linewidth=1.2)
        last = theta[-1, k]
        reach = np.nanmax([_ZOOM * band[-1, k], _SMALLEST * abs(last), np.finfo(float).tiny])
        axes.set_ylim(last - reach, last + reach)
        axes.set_title(f'{names[k]}, {units[k]}', fontsize=9)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
    for axes in panels[b:]:
        axes.set_axis_off()
    for axes in panels[max(0, b - columns):b]:
        axes.set_xlabel('time, s', fontsize=8)
    figure.savefig(path)
