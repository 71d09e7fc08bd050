"""Sections of the report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.recording import Defect
from dynid_ros.report.drawings import spectrum_drawings, torque_drawings, torque_range
from dynid_ros.report.tables import link_table, parameter_table, percent, significant, unclear

_SEVERITIES = ('error', 'warning', 'info')

_FILTERS = {
    'butterworth': 'zero-phase Butterworth low-pass',
    'fir': 'zero-phase FIR low-pass (order 30, Nuttall window)',
    'periodic': 'averaging over periods, with exact derivatives in the frequency domain',
}

_ABSENT = ('<p>The torque over time (prediction.npz) is not stored beside the result, so there '
           'is nothing to draw.</p>')


def headline(result: IdentifiedModel) -> str:
    """Verdict in words, with its reasons."""
    verdict = result.verdict
    name = escape(result.arm.name)
    if not verdict.trustworthy:
        title = f'{name}: do not rely on this model'
    elif result.validation is None:
        title = f'{name}: the model is not validated'
    else:
        title = f'{name}: the model can be trusted'
    reasons = ''.join(f'<li>{escape(reason)}</li>' for reason in verdict.reasons)
    reasons = f'<ul>{reasons}</ul>' if reasons else ''
    weak = ''.join(
        f'<p>{label}: {escape(", ".join(names))}.</p>' for label, names in (
            ('Joints with poor torque prediction', verdict.undetermined_joints),
            ('Parameters that the motion did not determine', verdict.undetermined_parameters),
        ) if names)
    return (
        f'<header class="verdict{"" if verdict.trustworthy else " bad"}"><h1>{title}</h1>'
        f'<p class="lead">{_lead(result)}</p>{reasons}{weak}</header>')


def _lead(result: IdentifiedModel) -> str:
    fitted = percent(result.fit.relative_error_percent)
    if result.validation is None:
        return (f'Its in-sample torque error is {fitted}. '
                'There is no held-out motion, so its prediction error is unknown.')
    held_out = percent(result.validation.relative_error_percent)
    return (f'Its torque error is {held_out} on held-out motion '
            f'and {fitted} on the motion used for fitting.')


def key_figures(result: IdentifiedModel) -> str:
    """Grid of the key figures."""
    validation = result.validation
    recordings = ', '.join(escape(source) for source in result.sources)
    cells = [
        ('Arm', f'{escape(result.arm.name)}, {result.arm.n} '
                f'joint{"s" if result.arm.n != 1 else ""}'),
        ('Recordings', f'<small>{recordings}</small>'),
        ('Length used for fitting', f'{significant(result.seconds)} s'),
        ('Relative error, held-out',
         percent(validation.relative_error_percent) if validation else 'not validated'),
        *((f'The same, parameters of arm.yaml or URDF {how}',
           percent(found.relative_error_percent)) for how, found in result.stated.items()),
        ('Relative error, in-sample', percent(result.fit.relative_error_percent)),
        ('Error from uncertain parameters alone', percent(result.verdict.expected_error_percent)),
        ('Base parameters', str(len(result.theta))),
        ('Condition number', significant(result.condition_number)),
    ]
    return '<dl class="figures-of">' + ''.join(
        f'<div><dt>{label}</dt><dd>{value}</dd></div>' for label, value in cells) + (
        '</dl><p class="soft">A relative error is the size of the torque error as a share of the '
        'torque. The error from uncertain parameters alone follows from their covariance for '
        'motion within the range of the recording. The condition number measures how evenly the '
        'motion excites the parameters; smaller is better.</p>')


def parameters(result: IdentifiedModel) -> str:
    """Parameter table with its explanation, and the groupings folded away."""
    pairs = list(zip(result.theta.tolist(), result.std.tolist(), strict=True))
    faint = sum(unclear(value, std) for value, std in pairs)
    groups = ''.join(
        f'<li><code>{escape(group)}</code></li>' for group in base_parameters(result.arm).groups)
    return (
        '<p>The bar is the 95 % interval, the dot the estimate, the vertical line zero; each row '
        'has its own scale, so compare the width of a bar with its distance from zero. '
        f'{faint} of {len(pairs)} intervals contain zero: these parameters do not differ '
        'significantly from zero.</p>'
        '<p>The intervals allow for coloured residuals: errors of neighbouring samples are '
        'correlated. The last column compares them with the usual assumption of '
        f'white noise{_median_ratio(result)}.</p>'
        f'{parameter_table(result)}'
        '<details><summary>Groupings: the standard parameters in each base parameter</summary>'
        '<p>Motion identifies only these sums of standard parameters. Each has the name of its '
        f'first term.</p><ul class="groupings">{groups}</ul></details>')


def links(result: IdentifiedModel) -> str:
    """Table of the links with their explanation; a sentence where nothing follows for them."""
    try:
        found = result.standard_parameters()
    except InputError as error:
        return f'<p>{escape(str(error))}.</p>'
    shaped = (f' No possible inertia was stated for {escape(", ".join(found.from_shape))}: a '
              'cylinder to the next joint stands for it.' if found.from_shape else '')
    cost = '' if result.consistent is None else (
        ' On the held-out data they give a torque error of '
        f'{percent(result.consistent.relative_error_percent)}.')
    stated = ' and '.join(f'{percent(found.relative_error_percent)} {how}'
                          for how, found in result.stated.items())
    stated = stated and (
        f' The parameters that arm.yaml or the URDF states give {stated} on the same data.')
    return (
        '<p>Motion determines only the base parameters above. These are all parameters of each '
        'link: bodies of positive mass that are nearest to the estimates, and near to what '
        'arm.yaml or the URDF states where the motion tells nothing; the share from the data is '
        f'low there.{shaped}{cost}{stated} result.yaml lists all of them with rotor inertia and '
        f'friction.</p>{link_table(result)}')


def _median_ratio(result: IdentifiedModel) -> str:
    known = (result.std_white > 0) & np.isfinite(result.std_white) & np.isfinite(result.std)
    if not known.any():
        return ''
    ratio = float(np.median(result.std[known] / result.std_white[known]))
    return f'; in the median they are {significant(ratio, 2)} times as wide'


def friction(result: IdentifiedModel) -> str:
    """Friction terms and their cross-validated errors."""
    chosen = ', '.join(result.arm.friction) or 'none'
    if not result.friction_trials:
        return f'<p>Friction terms: {escape(chosen)}. They were given, not chosen by the data.</p>'
    rows = ''.join(
        f'<tr{" class=chosen" if _same(terms, result.arm.friction) else ""}>'
        f'<td>{escape(terms) or "none"}</td><td class="number">{percent(error)}</td>'
        f'<td>{"<span class=tag>chosen</span>" if _same(terms, result.arm.friction) else ""}</td>'
        '</tr>'
        for terms, error in sorted(result.friction_trials.items(), key=lambda item: item[1]))
    return (
        '<p>Relative error of blocked cross-validation within the training part, so that the '
        'choice does not use the held-out part.</p>'
        '<div class="scroll"><table><thead><tr><th>Friction terms</th>'
        '<th class="number">Cross-validated error</th><th></th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div>')


def _same(terms: str, chosen: tuple[str, ...]) -> bool:
    return set(terms.replace(',', ' ').replace('+', ' ').split()) == set(chosen)


def treatment(result: IdentifiedModel) -> str:
    """List the steps of the signal conditioning."""
    done = result.treatment
    origin = 'chosen from the data' if done.cutoff_from_data else 'given'
    sentences = [
        f'Filter: {_FILTERS.get(done.filter, escape(done.filter))}, cut-off '
        f'{_setting(done.cutoff_hz)} Hz ({origin}).',
        f'Sample rate {_setting(done.rate_hz)} Hz; ' + (
            'every row was kept for the fit.' if done.decimation == 1 else
            f'one row in {done.decimation} was kept for the fit, since neighbours are '
            'redundant after the filter.'),
        f'The drive signal was advanced by {_setting(1e3 * done.delay)} ms.' if done.delay
        else 'The drive signal was not shifted in time.',
    ]
    if done.period is not None:
        sentences.append(f'The motion was averaged over periods of {_setting(done.period)} s.')
    sentences += [escape(note) for note in done.notes]
    return '<ul>' + ''.join(f'<li>{sentence}</li>' for sentence in sentences) + '</ul>'


def defects(found: tuple[Defect, ...]) -> str:
    """Tabulate the defects of the recordings, the worst first."""
    if not found:
        return '<p>None were found.</p>'
    ordered = sorted(found, key=lambda d: _SEVERITIES.index(d.severity)
                     if d.severity in _SEVERITIES else len(_SEVERITIES))
    rows = ''.join(
        f'<tr><td class="{escape(d.severity)}">{escape(d.severity)}</td>'
        f'<td>{escape(d.joint or "all")}</td><td class="message">{escape(d.message)}</td>'
        f'<td class="number">{d.count}</td><td class="number">{_stamp(d)}</td></tr>'
        for d in ordered)
    return (
        '<p>An error invalidates the result, a warning was worked around as described, and an '
        'info is a remark.</p><div class="scroll"><table><thead><tr><th>Severity</th>'
        '<th>Joint</th><th>Defect</th><th class="number">Samples</th>'
        f'<th class="number">First at</th></tr></thead><tbody>{rows}</tbody></table></div>')


def _stamp(defect: Defect) -> str:
    if defect.first_stamp is None:
        return ''
    return f'{_setting(defect.first_stamp)} s'


def _setting(value: float) -> str:
    return f'{value:.4g}'


def timing(seconds: dict[str, float]) -> str:
    """Seconds by stage, in one line."""
    stages = ' · '.join(f'{escape(stage)} {value:.2f} s' for stage, value in seconds.items())
    return f'<p>{stages or "Not measured."}</p>'


def torque_section(result: IdentifiedModel) -> str:
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
        '<p>Where the thin line covers the thick one, the model is right. Below is the residual, '
        'on its own scale: jumps where a joint reverses indicate wrong friction, slow '
        'waves wrong gravity or inertia. All drawings of a joint share '
        'their scales.</p>'
        '<p class="legend"><span><i class="measured"></i>measured</span>'
        '<span><i class="predicted"></i>predicted</span>'
        f'<span><i class="residual"></i>residual, measured − predicted</span></p>{joints}')


def spectrum_section(result: IdentifiedModel) -> str:
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
        '<p>Amplitude of the residual by frequency (Welch). Sensor noise alone would be '
        'flat up to the cut-off; a hump at low frequencies is motion that the model does not '
        'explain, and a held-out line far above the training line indicates overfitting.</p>'
        f'<p class="legend">{legend}</p><div class="figures small">{figures}</div>')


def _of(result: IdentifiedModel, held_out: bool) -> Sequence[Prediction]:
    return [p for p in result.predictions if p.held_out == held_out and len(p.t) > 1]
