# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drawings of the report: torque, residual spectra and friction, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.friction_curve import friction_curves
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.report.axes import around, Curve, decades, drawing, linear, Panel, Scale
from dynid_ros.pages.report.curves import end_to_end, residual_spectrum, segment_length, thinned
from dynid_ros.pages.report.templating import part
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from markupsafe import Markup

#: Size of a drawing of torque over time, and of a narrower one.
_WIDE, _NARROW = (432.0, 216.0), (310.0, 180.0)
# Beyond the cut-off the spectrum shows the filter, not the arm.
_BEYOND_CUTOFF = 1.3
# Least density that is drawn, relative to the largest and in Nm/√Hz: rounding must not stretch the
# axis.
_LEAST_SHARE, _LEAST = 1e-6, 1e-12


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
        own = [(t, tau[:, j], tau_hat[:, j]) for t, tau, tau_hat in curves]
        torque = around([each for _, tau, tau_hat in own for each in (tau, tau_hat)])
        residual = around([tau - tau_hat for _, tau, tau_hat in own], 4)
        drawn.append((joint, [
            (caption, _torque_drawing(joint, unit, *each, (torque, residual)))
            for (caption, _), each in zip(sets, own, strict=True)]))
    return drawn


def _torque_drawing(
    joint: str, unit: str, t: Array, measured: Array, predicted: Array,
    scales: tuple[Scale, Scale],
) -> Markup:
    known, residual = np.isfinite(measured), measured - predicted
    summary = part('torque_label.html', joint=joint, unit=unit, seconds=float(np.nanmax(t)),
                   tau=measured[known], residual=residual[known])
    panels = (
        Panel(scales[0], f'{"torque" if unit == "Nm" else "force"}, {unit}', (
            Curve(*thinned(t, measured), 'measured'),
            Curve(*thinned(t, predicted), 'predicted')), 5),
        Panel(scales[1], f'residual, {unit}', (Curve(*thinned(t, residual), 'residual'),), 2))
    return drawing(_WIDE, around([t], room=0.0), 'time, s', panels, summary)


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
    sets = [(*residual_spectrum(parts, segment), style, label) for parts, style, label in (
        (fitted, 'predicted', 'training'), (held_out, 'residual', 'held-out')) if parts]
    x = linear(0.0, min(max(float(f[-1]) for f, *_ in sets), _BEYOND_CUTOFF * cutoff_hz))
    drawn = []
    for j, (joint, unit) in enumerate(zip(arm.joint_names, torque_units(arm), strict=True)):
        every = np.concatenate([density[f <= x.high, j] for f, density, *_ in sets])
        top = every.max(initial=_LEAST)
        least = max(every.min(initial=top), _LEAST_SHARE * top)
        summary = part('spectrum_label.html', joint=joint, unit=unit,
                       sets=[(f, density[:, j], label) for f, density, _, label in sets])
        panel = Panel(decades(least, top), f'residual, {unit}/√Hz', [
            Curve(f[f <= x.high], np.maximum(density[f <= x.high, j], least), style)
            for f, density, style, _ in sets])
        drawn.append((joint, drawing(
            _NARROW, x, 'frequency, Hz', (panel,), summary, (cutoff_hz, 'cutoff'))))
    return drawn


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
        band = curve.torque - half, curve.torque + half
        area = Curve(np.append(curve.speed, curve.speed[::-1]), np.append(band[0], band[1][::-1]),
                     'area predicted')
        summary = part('friction_label.html', joint=joint, curve=curve, half=half, unit=unit,
                       speed=speed)
        panel = Panel(around([*band, np.zeros(1)]), f'friction, {unit}', (
            area, Curve(curve.speed, curve.torque, 'predicted')))
        drawn.append((joint, drawing(
            _NARROW, linear(0.0, float(curve.speed[-1])), f'speed, {speed}', (panel,), summary)))
    return drawn
