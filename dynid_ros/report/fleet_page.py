"""The page of a fleet: findings, the arms, drift, and skipped bags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
import re

import numpy as np

from dynid_ros.fleet.arms import ArmReport, day
from dynid_ros.fleet.drift import DAY, Series
from dynid_ros.fleet.run import FleetResult
from dynid_ros.report.drawings import drawing, inline_svg, MEASURED, PREDICTED, RESIDUAL
from dynid_ros.report.page import html_page
from dynid_ros.report.tables import percent, significant

#: Series that are drawn although they do not drift, the clearest slopes first.
DRAWN_STEADY = 4
MOST_DRAWN = 24
#: Bags that a table lists.
LISTED = 500
#: Inches of 72 units.
SIZE = (6.0, 2.8)


def fleet_page(found: FleetResult) -> bytes:
    """Make the page, one self-contained HTML file."""
    parts = [
        ('arms', 'Arms', _arms(found)),
        ('odd', 'Bags that do not belong', _odd(found)),
        ('drift', 'Friction and drive gains over date', _drift(found.series)),
        ('skipped', 'Skipped bags', _skipped(found)),
        ('settings', 'Settings of all bags', _settings(found)),
    ]
    name = escape(found.settings.arm.name)
    page = html_page(f'{name}: fleet', _top(found, name), parts)
    # A path need not be text in UTF-8.
    return page.encode(errors='replace')


def _top(found: FleetResult, name: str) -> str:
    todo = [text for report in found.arms.values() for text in report.sentences]
    todo += [each.sentence for each in found.series if each.drifts]
    doubtful = [arm for arm, report in found.arms.items()
                if report.model is None or not report.model.verdict.trustworthy]
    lead = ('No arm has changed.' if not todo else
            f'{len(todo)} thing{"s" if len(todo) != 1 else ""} to look at:')
    entries = ''.join(f'<li>{escape(text)}</li>' for text in todo)
    if doubtful:
        entries += f'<li>no trustworthy model of {escape(", ".join(doubtful))}</li>'
    bad = ' bad' if entries else ''
    hours = sum(bag.seconds for bag in found.bags) / 3600
    cells = [
        ('Arms', str(len(found.arms))), ('Bags', str(len(found.bags))),
        ('Bags used', str(sum(report.used for report in found.arms.values()))),
        ('Bags that do not belong', str(len(found.odd))),
        ('Bags skipped', str(len(found.skipped))), ('Hours of motion', significant(hours)),
        ('Held-out error, one model for all', _error(found.whole)),
        ('Read in this run', str(found.read)),
    ]
    grid = ''.join(f'<div><dt>{label}</dt><dd>{value}</dd></div>' for label, value in cells)
    return (f'<div class="verdict{bad}"><h1>Fleet of {name}</h1><p class="lead">{lead}</p>'
            f'<ul>{entries}</ul></div><dl class="figures-of">{grid}</dl>')


def _error(model: object) -> str:
    validation = getattr(model, 'validation', None)
    return percent(validation.relative_error_percent) if validation else 'not validated'


def _arms(found: FleetResult) -> str:
    rows = ''.join(
        _arm_row(name, report, [each.sentence for each in found.series
                                if each.drifts and each.arm == name])
        for name, report in found.arms.items())
    return (
        '<p>The held-out error leaves out one bag and predicts it with the model of all others, '
        'for each bag in turn. Error bars of the models come from the scatter between bags.</p>'
        '<div class="scroll"><table><thead><tr><th>Arm</th><th class="number">Bags</th>'
        '<th class="number">used</th><th class="number">Held-out error</th>'
        '<th class="number">In-sample error</th><th>Model</th><th>Remarks</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div>')


def _arm_row(name: str, report: ArmReport, drift: Sequence[str]) -> str:
    model = report.model
    error = percent(model.fit.relative_error_percent) if model else ''
    if model is None:
        verdict = '<span class="warning">too few rows</span>'
    elif model.verdict.trustworthy:
        folder = re.sub(r'[^\w.-]', '_', name)
        verdict = f'<a href="arms/{escape(folder)}/result.yaml">trustworthy</a>'
    else:
        verdict = f'<span class="error">{escape("; ".join(model.verdict.reasons))}</span>'
    return (f'<tr><th scope="row">{escape(name)}</th><td class="number">{report.bags}</td>'
            f'<td class="number">{report.used}</td><td class="number">{_error(model)}</td>'
            f'<td class="number">{error}</td><td>{verdict}</td>'
            f'<td class="message">{escape("; ".join([*report.sentences, *drift]))}</td></tr>')


def _odd(found: FleetResult) -> str:
    if not found.odd:
        return '<p>None were found.</p>'
    rows = ''.join(
        f'<tr><td>{escape(each.name)}</td><td>{escape(each.arm)}</td>'
        f'<td class="message">{escape(each.difference)}</td><td class="message">'
        f'{escape(each.findings[0].sentence) if each.findings else "not explained"}</td></tr>'
        for each in found.odd[:LISTED])
    return (
        '<p>These bags differ from the others of their arm, and dynid fits no model to them.</p>'
        '<div class="scroll"><table><thead><tr><th>Bag</th><th>Arm</th><th>Difference</th>'
        f'<th>Cause</th></tr></thead><tbody>{rows}</tbody></table></div>{_more(len(found.odd))}')


def _skipped(found: FleetResult) -> str:
    if not found.skipped:
        return '<p>None.</p>'
    kinds = ', '.join(f'{count} {escape(kind)}' for kind, count in
                      Counter(bag.fault for bag in found.skipped).most_common())
    rows = ''.join(
        f'<tr><td>{escape(bag.name)}</td><td>{escape(bag.fault)}</td>'
        f'<td class="message">{escape(bag.reason)}</td></tr>' for bag in found.skipped[:LISTED])
    return (
        f'<p>{len(found.skipped)} of {len(found.bags)} bags: {kinds}.</p>'
        '<details><summary>All of them, with the reason</summary><div class="scroll"><table>'
        '<thead><tr><th>Bag</th><th>Kind</th><th>Reason</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div>{_more(len(found.skipped))}</details>')


def _more(count: int) -> str:
    return f'<p>{count - LISTED} more; --json lists all.</p>' if count > LISTED else ''


def _settings(found: FleetResult) -> str:
    done = found.settings.conditioning
    return (
        f'<p>Cut-off {done.cutoff_hz:.4g} Hz, drive signal advanced by {1e3 * done.delay:.3g} ms, '
        f'friction terms {escape(", ".join(found.settings.arm.friction) or "none")}. Sidecars '
        f'have the settings {escape(found.settings.sha256[:12])}.</p>')


def _drift(series: Sequence[Series]) -> str:
    drifting = [each for each in series if each.drifts]
    steady = sorted((each for each in series if not each.drifts and each.slope is not None),
                    key=lambda each: -each.slope.standard_errors if each.slope else 0.0)
    chosen = [*drifting, *steady[:DRAWN_STEADY]][:MOST_DRAWN]
    if not chosen:
        return '<p>Too few bags, or all of one date.</p>'
    figures = ''.join(
        f'<figure><figcaption>{escape(each.sentence if each.drifts else _steady(each))}'
        f'</figcaption>{draw_series(each, f"series{number}")}</figure>'
        for number, each in enumerate(chosen))
    return (
        '<p>Friction and offsets are those of each bag, beside inertial parameters that all bags '
        'of an arm share. The gain is the torque of a joint by that of the reference model. Bars '
        'are 95 % intervals, widened to the scatter of neighbours. Series that drift come first, '
        f'then the {len(chosen) - len(drifting[:MOST_DRAWN])} steepest of those that do not.</p>'
        f'<div class="figures">{figures}</div>')


def _steady(each: Series) -> str:
    return f'{each.name} of {each.arm}: no drift'


def draw_series(series: Series, name: str) -> str:
    """Draw values over date with their intervals and the line through them, as SVG."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=SIZE, dpi=72, layout='constrained')
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        days = (series.date - series.date[0]) / DAY
        axes.errorbar(days, series.values, 1.96 * series.std, fmt='.', color=MEASURED,
                      markersize=4, linewidth=0.7)
        if series.slope is not None:
            axes.plot(days[[0, -1]], [series.slope.start, series.slope.end], linewidth=1.8,
                      color=RESIDUAL if series.drifts else PREDICTED)
        spread = np.ptp(series.values) or 1.0
        axes.set_ylim(series.values.min() - 0.3 * spread, series.values.max() + 0.3 * spread)
        axes.set_xlabel(f'days since {day(float(series.date[0]))}')
        axes.set_ylabel(series.name)
        return inline_svg(figure, name, f'{escape(series.name)} of {escape(series.arm)} over date')
