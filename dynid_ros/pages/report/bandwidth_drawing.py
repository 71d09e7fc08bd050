"""Held-out error against bandwidth, as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, TYPE_CHECKING

import numpy as np

from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import BandwidthError, unrepeated_percent
from dynid_ros.pages.report.drawings import (
    drawing,
    inline_svg,
    new_axes,
    PREDICTED,
    RESIDUAL,
    SOFT,
)
from dynid_ros.pages.report.templating import percent

if TYPE_CHECKING:
    from markupsafe import Markup

# Inches of 72 units, and share of the figure: left, bottom, width, height.
_SIZE, _AXES = (5.2, 3.0), (0.11, 0.16, 0.86, 0.78)
#: The torque as recorded stands so far right of the last cut-off.
_RECORDED = 2.2
_HEADROOM = 1.15
#: Error, %, that an axis of errors without size shows.
_SMALLEST = 1e-6
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
        By their cut-off; that of the torque as recorded comes last.
    cutoff_hz : float
        Cut-off of the fit, Hz.

    Returns
    -------
    Markup
        SVG element.

    """
    cutoffs = [each.cutoff_hz for each in rows if each.cutoff_hz is not None]
    recorded = _RECORDED * max(cutoffs)
    places = [each.cutoff_hz or recorded for each in rows]
    own = np.array([each.error_percent for each in rows])
    plain = np.array([each.plain_error_percent for each in rows], dtype=float)
    floor = np.array([each.unrepeated_percent for each in rows], dtype=float)
    with drawing():
        axes = new_axes(_SIZE, _AXES)
        highest = _SMALLEST
        for errors, colour, style in ((own, PREDICTED, '-o'), (plain, RESIDUAL, '--s'),
                                      (floor, SOFT, '-^')):
            known = np.isfinite(errors)
            highest = float(max([highest, *errors[known]]))
            axes.plot(np.compress(known, places), errors[known], style, color=colour,
                      linewidth=1.4, markersize=4)
        axes.axvline(cutoff_hz, color=SOFT, linewidth=1.0, linestyle=':')
        axes.set_ylim(0.0, _HEADROOM * highest)
        axes.set_ylabel('held-out error, %')
        _name_cutoffs(axes, [each for each in cutoffs if each != cutoff_hz], recorded)
        return inline_svg(axes, 'bandwidth', _described(rows, cutoff_hz))


def _name_cutoffs(axes: Any, cutoffs: Sequence[float], recorded: float) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale('log')
    axes.set_xlim(0.8 * min([*cutoffs, recorded]), 1.3 * recorded)
    axes.set_xticks([*cutoffs, recorded], [*(f'{each:g}' for each in cutoffs), 'recorded'])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel('cut-off of the low-pass, Hz', labelpad=1)


def _described(rows: Sequence[BandwidthError], cutoff_hz: float) -> str:
    figures = '; '.join(
        (f'below {each.cutoff_hz:.3g} Hz ' if each.cutoff_hz else 'as recorded ')
        + percent(each.error_percent)
        + (f' ({percent(each.plain_error_percent)} with plain friction)'
           if each.plain_error_percent is not None else '')
        + (f' ({percent(each.unrepeated_percent)} not repeated by the arm)'
           if each.unrepeated_percent is not None else '') for each in rows)
    return (f'Held-out torque error against bandwidth: {figures}. The fit has a cut-off of '
            f'{cutoff_hz:.3g} Hz.')
