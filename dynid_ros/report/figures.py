"""Figures of the report, with their captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from dynid_ros.arm.parameters import torque_units
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.report.drawings import spectrum_drawings, torque_drawings, torque_range

if TYPE_CHECKING:
    from markupsafe import Markup

#: Caption and drawing.
Figure: TypeAlias = 'tuple[str, Markup]'


def torque_figures(result: IdentifiedModel) -> list[tuple[str, list[Figure]]]:
    """Draw measured against predicted torque of each joint, training and held-out apart."""
    fitted, held_out = drawn_predictions(result)
    if not (fitted or held_out):
        return []
    arm, columns = result.arm, []
    ranges = torque_range([*fitted, *held_out])
    for chosen, name, label in (
            (fitted, 'fitted', 'Training, in-sample'),
            (held_out, 'heldout', 'Held-out, not fitted')):
        if chosen:
            caption = f'{label}: {"; ".join(p.source for p in chosen)}'
            columns.append([(caption, drawing) for drawing in torque_drawings(
                chosen, arm.joint_names, torque_units(arm), *ranges, name)])
    return [(joint, list(figures))
            for joint, *figures in zip(arm.joint_names, *columns, strict=True)]


def spectrum_figures(result: IdentifiedModel) -> list[Figure]:
    """Draw the residual spectrum of each joint, training against held-out."""
    fitted, held_out = drawn_predictions(result)
    if not (fitted or held_out):
        return []
    names = result.arm.joint_names
    drawings = spectrum_drawings(
        fitted, held_out, names, torque_units(result.arm), result.treatment.cutoff_hz)
    return list(zip(names, drawings, strict=True))


def drawn_predictions(
    result: IdentifiedModel,
) -> tuple[Sequence[Prediction], Sequence[Prediction]]:
    """Divide what can be drawn into the training set and the held-out set."""
    shown = [p for p in result.predictions if len(p.t) > 1]
    return [p for p in shown if not p.held_out], [p for p in shown if p.held_out]
