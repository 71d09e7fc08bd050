# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Held-out error against bandwidth, as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import BandwidthError, unrepeated_percent
from dynid_ros.pages.report.axes import around, Curve, drawing, Panel, Scale
from dynid_ros.pages.report.templating import part

if TYPE_CHECKING:
    from markupsafe import Markup

_SIZE = (374.0, 216.0)
# Lines and points of the model, of plain friction, and of the floor.
_STYLES = (('predicted', 'predicted dots'), ('plain', 'residual squares'), ('floor',))
#: Distance of the torque as recorded to the right of the last cut-off.
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
    curves = []
    for errors, styles in zip(table.T, _STYLES, strict=True):
        known = np.isfinite(errors)
        curves += [Curve(places[known], errors[known], style) for style in styles]
    x = Scale(0.8 * min([*others, recorded]), 1.3 * recorded, (
        *((each, f'{each:g}') for each in others), (recorded, 'recorded')), logarithmic=True)
    summary = part('bandwidth_label.html', rows=rows, cutoff_hz=cutoff_hz)
    panel = Panel(around([table, np.zeros(1)]), 'held-out error, %', curves)
    return drawing(
        _SIZE, x, 'cut-off of the low-pass, Hz', (panel,), summary, (cutoff_hz, 'fitcutoff'))
