"""Sections of the report that are drawings with their explanation."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dynid_ros.arm.units import torque_units
from dynid_ros.estimation.result import Identification, Prediction
from dynid_ros.report.figures import spectrum_drawings, torque_drawings, torque_range

_ABSENT = ('<p>The torque over time (prediction.npz) is not stored beside the result, so there '
           'is nothing to draw.</p>')


def torque_section(result: Identification) -> str:
    """Measured against predicted torque of each joint, training and held-out apart."""
    fitted, held_out = _of(result, False), _of(result, True)
    if not (fitted or held_out):
        return _ABSENT
    units = torque_units(result.arm)
    ranges = torque_range([*fitted, *held_out])
    columns = []
    for chosen, name, label in (
            (fitted, 'fitted', 'Training, in-sample'),
            (held_out, 'heldout', 'Held-out, not fitted')):
        if chosen:
            caption = f'{label}: {escape("; ".join(p.source for p in chosen))}'
            drawings = torque_drawings(chosen, units, *ranges, name)
            columns.append([f'<figure><figcaption>{caption}</figcaption>{drawing}</figure>'
                            for drawing in drawings])
    joints = ''.join(
        f'<h3>{escape(name)}</h3><div class="figures">{"".join(figures)}</div>'
        for name, *figures in zip(result.arm.joint_names, *columns, strict=True))
    return (
        '<p>Where the thin line covers the thick one, the model is right. Below it is what '
        'remains, on a scale of its own: jumps where a joint turns round point to friction, slow '
        'waves to gravity or inertia that the model gets wrong. All drawings of a joint share '
        'their scales.</p>'
        '<p class="legend"><span><i class="measured"></i>measured</span>'
        '<span><i class="predicted"></i>predicted</span>'
        f'<span><i class="residual"></i>residual, measured − predicted</span></p>{joints}')


def spectrum_section(result: Identification) -> str:
    """Residual spectrum of each joint, training against held-out."""
    fitted, held_out = _of(result, False), _of(result, True)
    if not (fitted or held_out):
        return _ABSENT
    drawings = spectrum_drawings(
        fitted, held_out, torque_units(result.arm), result.treatment.cutoff_hz)
    figures = ''.join(
        f'<figure><figcaption>{escape(name)}</figcaption>{drawing}</figure>'
        for name, drawing in zip(result.arm.joint_names, drawings, strict=True))
    legend = ''.join(
        f'<span><i class="{colour}"></i>{label}</span>' for colour, label, shown in (
            ('predicted', 'training', fitted), ('residual', 'held-out', held_out),
            ('cutoff', 'cut-off of the filter', True)) if shown)
    return (
        '<p>How strong the residual is at each frequency (Welch). Sensor noise alone would be '
        'flat up to the cut-off; a hump at low frequencies is motion that the model does not '
        'explain, and a held-out line far above the training line means that something was '
        'fitted which does not repeat.</p>'
        f'<p class="legend">{legend}</p><div class="figures small">{figures}</div>')


def _of(result: Identification, held_out: bool) -> Sequence[Prediction]:
    return [p for p in result.predictions if p.held_out == held_out and len(p.t) > 1]
