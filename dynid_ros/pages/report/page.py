# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The report of an identification: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TYPE_CHECKING

from dynid_ros import __version__
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.conditioning_words import clock_line, FEWEST_CUTOFFS
from dynid_ros.estimation.model.friction_curve import friction_lines
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import unrepeated_percent
from dynid_ros.estimation.model.verdict_words import headline, notes
from dynid_ros.pages.report.bandwidth_drawing import bandwidth_drawing, bandwidth_rows
from dynid_ros.pages.report.conditioning_drawings import clock_drawing, ladder_drawing
from dynid_ros.pages.report.drawings import (
    friction_drawings,
    spectrum_drawings,
    torque_drawings,
)
from dynid_ros.pages.report.rollout_drawing import rollout_drawing
from dynid_ros.pages.report.tables import links, median_ratio, parameters
from dynid_ros.pages.report.templating import render
from dynid_ros.utilities.atomic_write import write_whole

if TYPE_CHECKING:
    from dynid_ros.applications.rollout.rollout import Rollouts


def write_report(
    result: IdentifiedModel, path: Path, rollouts: Rollouts | None = None,
) -> None:
    """
    Write the report as one self-contained HTML file.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.
    path : Path
        File; its folder counts as the folder of the result.
    rollouts : Rollouts, optional
        Simulations of the model, from `kept_rollouts`.

    Raises
    ------
    ResultError
        The file cannot be written.

    """
    write_whole(path, report_page(result, path, rollouts))


def report_page(
    result: IdentifiedModel, path: Path, rollouts: Rollouts | None = None,
) -> bytes:
    """Make the content of the file that `write_report` writes."""
    cutoff = result.treatment.cutoff_hz
    drawn = [p for p in result.predictions if len(p.t) > 1]
    fitted, held_out = ([p for p in drawn if bool(p.held_out) is held] for held in (False, True))
    bandwidths = bandwidth_rows(result)
    floors = None if result.unrepeated is None else unrepeated_percent(
        result.validation or result.fit, result.unrepeated)
    return render(
        'report.html', result=result, headline=headline(result), notes=notes(result),
        folder=path.absolute().parent.name, version=__version__,
        units=torque_units(result.arm), bandwidths=bandwidths, floors=floors,
        bandwidth_drawing=bandwidth_drawing(bandwidths, cutoff) if bandwidths else '',
        torque=torque_drawings([
            (f'{label}: {"; ".join(p.source for p in parts)}', parts) for label, parts in (
                ('Training, in-sample', fitted), ('Held-out, not fitted', held_out)) if parts],
            result.arm) if drawn else [],
        spectra=spectrum_drawings(fitted, held_out, result.arm, cutoff) if drawn else [],
        fitted=fitted, held_out=held_out,
        parameters=parameters(result), groups=base_parameters(result.arm).groups,
        median_ratio=median_ratio(result), friction=friction_drawings(result),
        friction_lines=list(friction_lines(result)),
        defects=sorted(result.defects, key=lambda each: (
            each.severity != 'error', each.severity != 'warning')),
        rollouts=rollouts, rollout_drawing='' if rollouts is None else rollout_drawing(rollouts),
        **_conditioning(result), **_links(result))


def _conditioning(result: IdentifiedModel) -> dict[str, Any]:
    """Draw the cut-offs that were compared, and the clocks that have times for a drawing."""
    settings, clocks = result.treatment, result.clocks
    return {
        'ladder': ladder_drawing(settings) if len(settings.ladder) >= FEWEST_CUTOFFS else '',
        'clocks': [
            (clock_line(clock), clock_drawing(clock) if clock.t else '') for clock in clocks]}


def _links(result: IdentifiedModel) -> dict[str, Any]:
    """Return the physically possible links, or the reason why there are none."""
    try:
        return {'links': links(result), 'no_links': ''}
    except InputError as error:
        return {'links': [], 'no_links': str(error)}
