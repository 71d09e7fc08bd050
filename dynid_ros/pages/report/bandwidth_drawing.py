"""Held-out error against bandwidth, as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import BandwidthError, unrepeated_percent
from dynid_ros.pages.report.drawings import inline_svg, page_style, SOFT
from dynid_ros.pages.report.figures import PREDICTED, RESIDUAL

if TYPE_CHECKING:
    from markupsafe import Markup

# Inches of 72 units.
_SIZE = (5.2, 3.0)
#: The torque as recorded stands so far right of the last cut-off.
_RECORDED = 2.2
#: Relative difference of cut-offs that three digits do not show.
ALIKE = 5e-3


def bandwidth_rows(result: IdentifiedModel) -> list[BandwidthError]:
    """List the errors by bandwidth together with that at the cut-off of the fit."""
    found, validation = list(result.error_by_bandwidth), result.validation
    if not found or validation is None:
        return []
    cutoff = result.treatment.cutoff_hz
    alike = [each for each in found if math.isclose(each.cutoff_hz or 0.0, cutoff, rel_tol=ALIKE)]
    here = BandwidthError(
        cutoff, validation.relative_error_percent,
        alike[0].plain_error_percent if alike else None, None if result.unrepeated is None else
        unrepeated_percent(validation, result.unrepeated)[0])
    others = [each for each in found if each not in alike]
    return sorted([*others, here], key=lambda each: each.cutoff_hz or math.inf)


@page_style
def bandwidth_drawing(rows: Sequence[BandwidthError], cutoff_hz: float) -> Markup:
    """
    Draw held-out error against the cut-off of the low-pass, with plain friction and the floor.

    Parameters
    ----------
    rows : sequence of BandwidthError
        By their cut-off; the error of the torque as recorded comes last.
    cutoff_hz : float
        Cut-off of the fit, Hz.

    Returns
    -------
    Markup
        SVG element.

    """
    cutoffs = [each.cutoff_hz for each in rows if each.cutoff_hz is not None]
    recorded = _RECORDED * max(cutoffs)
    places = np.array([each.cutoff_hz or recorded for each in rows])
    table = np.array([
        (each.error_percent, each.plain_error_percent, each.unrepeated_percent)
        for each in rows], dtype=float)
    others = [each for each in cutoffs if each != cutoff_hz]
    axes = Figure(figsize=_SIZE).subplots()
    for errors, colour, style in zip(
            table.T, (PREDICTED, RESIDUAL, SOFT), ('-o', '--s', '-^'), strict=True):
        known = np.isfinite(errors)
        axes.semilogx(places[known], errors[known], style, color=colour, linewidth=1.4,
                      markersize=4)
    axes.axvline(cutoff_hz, color=SOFT, linewidth=1.0, linestyle=':')
    axes.set_xticks([*others, recorded], [*(f'{each:g}' for each in others), 'recorded'])
    axes.minorticks_off()
    axes.set(xlim=(0.8 * min([*others, recorded]), 1.3 * recorded), ylim=(0.0, None),
             ylabel='held-out error, %')
    axes.set_xlabel('cut-off of the low-pass, Hz', labelpad=1)
    return inline_svg(
        axes.figure, 'bandwidth', 'bandwidth_label.html', rows=rows, cutoff_hz=cutoff_hz)
