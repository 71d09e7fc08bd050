"""Drawings of the report: torque over time and residual spectra, as SVG inside the page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
import io
import re
from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.pages.report.curves import (
    end_to_end,
    residual_spectrum,
    segment_length,
    thinned,
)
from dynid_ros.pages.report.templating import FOLDER, part, power_of_ten
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from markupsafe import Markup


# Colours that Matplotlib can draw; in the page they become variables of the style sheet, so that
# one drawing serves light, dark and paper. The style file has the first two.
_VARIABLES = {f'#{k:02}{k:02}{k:02}': f'var(--{name})' for k, name in enumerate(
    ('ink', 'grid', 'measured', 'predicted', 'residual', 'soft'), 1)}
_INK, _GRID, MEASURED, PREDICTED, RESIDUAL, SOFT = _VARIABLES
# Inches of 72 units; a drawing is stretched to its column, so a narrow one has larger letters.
_TORQUE_SIZE = (6.0, 3.0)
SMALL = (4.3, 2.5)
HEADROOM = 1.06
# Share of the figure: left, bottom, width, height.
_TORQUE = (0.12, 0.43, 0.86, 0.55)
_RESIDUAL = (0.12, 0.15, 0.86, 0.22)
INSIDE = (0.16, 0.18, 0.82, 0.78)
Place: TypeAlias = tuple[float, float, float, float]
# Beyond the cut-off the spectrum shows the filter, not the arm.
_BEYOND_CUTOFF = 1.3


def drawing() -> AbstractContextManager[None]:
    """Apply the settings of the page to Matplotlib temporarily."""
    from matplotlib import rc_context

    return rc_context(fname=FOLDER / 'drawings.mplstyle')


def inline_svg(axes: Any, name: str, description: str) -> Markup:
    """
    Draw the figure of some axes as an SVG element.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `new_axes`.
    name : str
        Identifier of the drawing in the page, letters and digits.
    description : str
        Text alternative of the drawing, from a template.

    """
    from markupsafe import Markup
    from matplotlib import rc_context

    buffer = io.StringIO()
    # With the salt, names inside the drawing are its own, and the same in every run.
    with rc_context({'svg.hashsalt': name}):
        axes.figure.savefig(buffer, format='svg', transparent=True, metadata=dict.fromkeys(
            ('Creator', 'Date', 'Format', 'Type')))
    head, _, body = buffer.getvalue().partition('<svg')[2].partition('>')
    body = re.sub(r'<metadata>.*?</metadata>|(?<=<g) id="[^"]*"|<!--.*?-->\s*', '', body,
                  flags=re.DOTALL).replace('xlink:href', 'href')
    for stand_in, variable in _VARIABLES.items():
        body = body.replace(stand_in, variable)
    shape = ''.join(re.findall('viewBox="[^"]*"', head))
    # Matplotlib escapes its own texts, and templates theirs.
    return Markup(f'<svg {shape} role="img" aria-label="{description.strip()}">{body}')


def torque_drawings(
    predictions: Sequence[Prediction], arm: ArmModel, low: Array, high: Array, reach: Array,
    name: str,
) -> list[Markup]:
    """
    Draw measured and predicted torque with the residual below, one drawing a joint.

    Parameters
    ----------
    predictions : sequence of Prediction
        Recordings, laid end to end.
    arm : ArmModel
        The arm.
    low, high : (n,) ndarray
        Range of the torque axis of each joint.
    reach : (n,) ndarray
        Range of the residual axis of each joint, to either side of zero.
    name : str
        Of this set of drawings in the page.

    Returns
    -------
    list of Markup
        SVG elements.

    """
    t, tau, tau_hat = end_to_end(predictions)
    drawings, seconds = [], float(np.nanmax(t))
    with drawing():
        above, below = _torque_axes(seconds)
        measured, predicted = above.lines
        for j, (joint, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
            known = np.isfinite(tau[:, j])
            measured.set_data(*thinned(t, tau[:, j]))
            predicted.set_data(*thinned(t, tau_hat[:, j]))
            below.lines[0].set_data(*thinned(t, tau[:, j] - tau_hat[:, j]))
            above.set_ylim(low[j], high[j])
            below.set_ylim(-reach[j], reach[j])
            above.set_ylabel(f'{"torque" if unit == "Nm" else "force"}, {unit}')
            below.set_ylabel(f'residual, {unit}')
            drawings.append(inline_svg(above, f'{name}{j + 1}', part(
                'torque_label.html', joint=joint, unit=unit, seconds=seconds,
                tau=tau[known, j], residual=(tau - tau_hat)[known, j])))
    return drawings


def _torque_axes(seconds: float) -> tuple[Any, Any]:
    # Made once for all joints: new axes cost more than new curves.
    above = new_axes(_TORQUE_SIZE, _TORQUE)
    below = above.figure.add_axes(_RESIDUAL)
    above.plot([], [], color=MEASURED, linewidth=2.4)
    above.plot([], [], color=PREDICTED, linewidth=1.0)
    below.plot([], [], color=RESIDUAL, linewidth=1.0)
    for axes, ticks in ((above, 4), (below, 3)):
        axes.set_xlim(0.0, seconds)
        axes.locator_params('x', nbins=7)
        axes.locator_params('y', nbins=ticks)
        axes.yaxis.set_label_coords(-0.095, 0.5)
    above.tick_params(labelbottom=False)
    below.set_xlabel('time, s', labelpad=1)
    return above, below


def spectrum_drawings(
    fitted: Sequence[Prediction], held_out: Sequence[Prediction], arm: ArmModel, cutoff_hz: float,
) -> list[tuple[str, Markup]]:
    """
    Draw the residual spectrum of each joint, for the samples fitted and for those held out.

    Parameters
    ----------
    fitted, held_out : sequence of Prediction
        Recordings; either may be empty.
    arm : ArmModel
        The arm.
    cutoff_hz : float
        Cut-off of the low-pass filters, drawn as a line where it lies in the range.

    Returns
    -------
    list of (str, Markup)
        Name of each joint and SVG element.

    """
    segment = segment_length([*fitted, *held_out])
    sets = [(*residual_spectrum(p, segment), colour, label) for p, colour, label in (
        (fitted, PREDICTED, 'training'), (held_out, RESIDUAL, 'held-out')) if p]
    shown = min(max(float(f[-1]) for f, *_ in sets), _BEYOND_CUTOFF * cutoff_hz)
    drawings = []
    with drawing():
        axes = new_axes()
        lines = [axes.plot([], [], color=colour, linewidth=1.3)[0] for _, _, colour, _ in sets]
        axes.axvline(cutoff_hz, color=SOFT, linewidth=1.0, linestyle='--')
        axes.set_xlim(0.0, shown)
        axes.set_xlabel('frequency, Hz', labelpad=1)
        for j, (joint, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
            for line, (f, density, *_) in zip(lines, sets, strict=True):
                line.set_data(f, density[:, j])
            _logarithmic(axes, np.concatenate([d[f <= shown, j] for f, d, *_ in sets]))
            axes.set_ylabel(f'residual, {unit}/√Hz')
            drawings.append((joint, inline_svg(axes, f'spectrum{j + 1}', part(
                'spectrum_label.html', joint=joint, unit=unit,
                sets=[(f, d[:, j], label) for f, d, _, label in sets]))))
    return drawings


def torque_range(predictions: Sequence[Prediction]) -> tuple[Array, Array, Array]:
    """
    Ranges of the axes that hold all recordings, so that drawings can be compared.

    Returns
    -------
    low, high, reach : (n,) ndarray
        Ends of the torque axes, and of the residual axes to either side of zero.

    """
    # There are no values where a joint is at rest.
    both = np.nan_to_num(np.concatenate([x for p in predictions for x in (p.tau, p.tau_hat)]))
    residual = np.nan_to_num(np.concatenate([p.tau - p.tau_hat for p in predictions]))
    centre, half = (both.max(axis=0) + both.min(axis=0)) / 2, np.ptp(both, axis=0) / 2
    half, reach = (HEADROOM * np.where(size > 0, size, 1.0)
                   for size in (half, np.abs(residual).max(axis=0)))
    return centre - half, centre + half, reach


def new_axes(size: tuple[float, float] = SMALL, place: Place = INSIDE) -> Any:
    """Make axes at a place of a new figure of a size, inches of 72 units, on an SVG canvas."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=72)
    FigureCanvasSVG(figure)
    return figure.add_axes(place)


def _logarithmic(axes: Any, values: Array) -> None:
    """Set complete decades that hold all values, with plain text as labels, which is fast."""
    from matplotlib.ticker import NullLocator

    positive = values[values > 0]
    top = int(np.ceil(np.log10(positive.max()))) if positive.size else 0
    # Residuals of rounding size must not stretch the axis.
    bottom = max(int(np.floor(np.log10(positive.min()))), top - 6) if positive.size else -3
    bottom = min(bottom, top - 1)
    decades = range(bottom, top + 1)
    axes.set_yscale('log')
    axes.set_ylim(10.0**bottom, 10.0**top)
    axes.set_yticks([10.0**k for k in decades], list(map(power_of_ten, decades)))
    axes.yaxis.set_minor_locator(NullLocator())
