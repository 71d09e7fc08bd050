"""Drawings of the report: torque, residual spectra and friction, as SVG inside the page."""

from __future__ import annotations

from collections.abc import Sequence
import io
import math
import re
from typing import Any, TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure
import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.model.friction_curve import friction_curves, INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.report.curves import end_to_end, residual_spectrum, segment_length
from dynid_ros.pages.report.figures import (
    draw_band,
    draw_torque,
    MEASURED,
    PREDICTED,
    RESIDUAL,
)
from dynid_ros.pages.report.templating import FOLDER, part, power_of_ten
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from markupsafe import Markup

SOFT = '#030303'
# Colours become variables of the style sheet, so that one drawing serves light, dark and paper;
# colours of letters and lines are in the style file.
_VARIABLES = {
    '#010101': 'ink', '#020202': 'grid', SOFT: 'soft', MEASURED: 'measured',
    PREDICTED: 'predicted', RESIDUAL: 'residual'}
# Inches of 72 units; a drawing is stretched to its column, so a narrow one has larger letters.
_TORQUE_SIZE = (6.0, 3.0)
# Beyond the cut-off the spectrum shows the filter, not the arm.
_BEYOND_CUTOFF = 1.3
# Least density that is drawn, by the largest and in Nm/√Hz: residuals of rounding size must not
# stretch the axis.
_LEAST_SHARE, _LEAST = 1e-6, 1e-12

#: Applies the settings of the page to Matplotlib in a function.
page_style = rc_context(fname=FOLDER / 'drawings.mplstyle')


def inline_svg(figure: Any, name: str, template: str, **values: object) -> Markup:
    """
    Write a figure as an SVG element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Made and drawn in `page_style`.
    name : str
        Identifier of the drawing in the page, letters and digits.
    template : str
        Template of its text alternative.
    **values : object
        What the template asks for.

    """
    from markupsafe import Markup

    buffer = io.StringIO()
    # With the salt, names inside the drawing are its own, and the same in every run.
    with rc_context({'svg.hashsalt': name}):
        figure.savefig(buffer, format='svg', transparent=True, metadata=dict.fromkeys(
            ('Creator', 'Date', 'Format', 'Type')))
    head, _, body = buffer.getvalue().partition('<svg')[2].partition('>')
    body = re.sub(r'(?<=<g) id="[^"]*"|<!--.*?-->\s*', '', body, flags=re.DOTALL).replace(
        'xlink:href', 'href')
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f'var(--{variable})')
    shape = ''.join(re.findall('viewBox="[^"]*"', head))
    # Matplotlib escapes its own texts, and templates theirs.
    label = part(template, **values).strip()
    return Markup(f'<svg {shape} role="img" aria-label="{label}">{body}')


@page_style
def torque_drawings(
    sets: Sequence[tuple[str, Sequence[Prediction]]], arm: ArmModel,
) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """
    Draw measured and predicted torque with the residual below.

    Parameters
    ----------
    sets : sequence of (str, sequence of Prediction)
        Captions, and recordings that are laid end to end.
    arm : ArmModel
        The arm.

    Returns
    -------
    list of (str, list of (str, Markup))
        Name of each joint, and of each set the caption and the SVG element; all sets share the
        scales of a joint.

    """
    curves, drawn = [end_to_end(parts) for _, parts in sets], []
    for j, (joint, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        figures = [_torque_figure(unit, t, tau[:, j], tau_hat[:, j]) for t, tau, tau_hat in curves]
        for further in figures[1:]:
            for axes, first in zip(further.axes, figures[0].axes, strict=True):
                axes.sharey(first)
                axes.autoscale(axis='y')
        own = []
        for k, ((caption, _), (t, tau, tau_hat)) in enumerate(zip(sets, curves, strict=True)):
            known = np.isfinite(tau[:, j])
            own.append((caption, inline_svg(
                figures[k], f'torque{k}joint{j + 1}', 'torque_label.html', joint=joint, unit=unit,
                seconds=float(np.nanmax(t)), tau=tau[known, j],
                residual=(tau - tau_hat)[known, j])))
        drawn.append((joint, own))
    return drawn


def _torque_figure(unit: str, t: Array, measured: Array, predicted: Array) -> Figure:
    figure = Figure(figsize=_TORQUE_SIZE)
    above, below = figure.subplots(2, sharex=True, height_ratios=(5, 2), gridspec_kw={
        'left': 0.12, 'bottom': 0.15})
    draw_torque(above, below, t, measured, predicted)
    above.set_ylabel(f'{"torque" if unit == "Nm" else "force"}, {unit}')
    below.set_ylabel(f'residual, {unit}')
    below.set_xlabel('time, s', labelpad=1)
    for axes, ticks in ((above, 4), (below, 3)):
        axes.locator_params('y', nbins=ticks)
        axes.yaxis.set_label_coords(-0.095, 0.5)
    return figure


@page_style
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
    sets = [(*residual_spectrum(parts, segment), colour, label) for parts, colour, label in (
        (fitted, PREDICTED, 'training'), (held_out, RESIDUAL, 'held-out')) if parts]
    shown = min(max(float(f[-1]) for f, *_ in sets), _BEYOND_CUTOFF * cutoff_hz)
    drawn = []
    for j, (joint, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        axes = Figure().subplots()
        every = np.concatenate([density[f <= shown, j] for f, density, *_ in sets])
        top = every.max(initial=_LEAST)
        least = max(every.min(initial=top), _LEAST_SHARE * top)
        # Complete decades, with plain text as labels, which is fast; before there are curves,
        # whose own range may be none.
        first = math.floor(math.log10(least))
        decades = range(first, max(math.ceil(math.log10(top)), first + 1) + 1)
        axes.set(yscale='log', xlim=(0.0, shown), ylim=(10.0**decades[0], 10.0**decades[-1]),
                 ylabel=f'residual, {unit}/√Hz')
        axes.set_yticks([10.0**k for k in decades], list(map(power_of_ten, decades)))
        axes.minorticks_off()
        for f, density, colour, _ in sets:
            axes.plot(f, np.maximum(density[:, j], least), color=colour, linewidth=1.3)
        axes.axvline(cutoff_hz, color=SOFT, linewidth=1.0, linestyle='--')
        axes.set_xlabel('frequency, Hz', labelpad=1)
        drawn.append((joint, inline_svg(
            axes.figure, f'spectrum{j + 1}', 'spectrum_label.html', joint=joint, unit=unit,
            sets=[(f, d[:, j], label) for f, d, _, label in sets])))
    return drawn


@page_style
def friction_drawings(result: IdentifiedModel) -> list[tuple[str, Markup]]:
    """
    Draw the friction torque of each joint over its speed, with its 95 % band.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.

    Returns
    -------
    list of (str, Markup)
        Name of the joint and SVG element; none for an arm without friction.

    """
    arm = result.arm
    drawn: list[tuple[str, Markup]] = []
    if not set(arm.friction) - {'offset'}:
        return []
    for joint, unit, speed, curve in zip(
            arm.joint_names, torque_units(arm), joint_units('rad/s', arm.prismatic),
            friction_curves(result), strict=True):
        half = INTERVAL * curve.std
        if not np.isfinite(curve.torque + half).all():
            continue
        axes = Figure().subplots()
        draw_band(axes, curve.speed, curve.torque, half, PREDICTED)
        axes.set(xlim=(0.0, curve.speed[-1]), ylabel=f'friction, {unit}',
                 ylim=(min(0.0, axes.get_ylim()[0]), None))
        axes.set_xlabel(f'speed, {speed}', labelpad=1)
        drawn.append((joint, inline_svg(
            axes.figure, f'friction{len(drawn) + 1}', 'friction_label.html', joint=joint,
            curve=curve, half=half, unit=unit, speed=speed)))
    return drawn
