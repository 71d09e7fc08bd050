"""Tables of the report, and the numbers in them."""

from __future__ import annotations

from html import escape
import math

import numpy as np

from dynid_ros.arm.parameters import inertial_to_com, parameter_units, torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import Metrics

Z95 = 1.96
_SUPERSCRIPT = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')
NONE = '–'
# Half width of the drawing of an interval, in its own units.
_HALF = 100.0


def joint_table(result: IdentifiedModel) -> str:
    """HTML table of the prediction error of each joint."""
    sets = [('In-sample (fitted)', result.fit)]
    if result.validation is not None:
        sets.insert(0, ('Held-out (not fitted)', result.validation))
    top = ''.join(f'<th class="apart" colspan="3" scope="colgroup">{title}</th>'
                  for title, _ in sets)
    heads = len(sets) * ('<th class="number apart">RMSE</th><th class="number">Relative error</th>'
                         '<th class="number">R²</th>')
    units = torque_units(result.arm)
    rows = ''.join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + ''.join(_joint_cells(metrics, j, units[j]) for _, metrics in sets) + '</tr>'
        for j, name in enumerate(result.arm.joint_names))
    total = ''.join(
        '<td class="number apart"></td>'
        f'<td class="number">{percent(metrics.relative_error_percent)}</td>'
        '<td class="number"></td>' for _, metrics in sets)
    return (
        '<div class="scroll"><table><thead>'
        f'<tr><th rowspan="2" scope="col">Joint</th>{top}</tr><tr>{heads}</tr></thead>'
        f'<tbody>{rows}<tr class="total"><th scope="row">All joints</th>{total}</tr>'
        '</tbody></table></div>')


def _joint_cells(metrics: Metrics, j: int, unit: str) -> str:
    joint = metrics.joints[j]
    return (
        f'<td class="number apart">{significant(joint.rmse)} {unit}</td>'
        f'<td class="number">{percent(joint.relative_error_percent)}</td>'
        f'<td class="number">{_share(joint.r2)}</td>')


def _share(r2: float) -> str:
    # 0.9996 and 0.996 are an order of magnitude apart and must not both read as 1.00.
    return f'{r2:.4f}'.replace('-', '−')


def parameter_table(result: IdentifiedModel) -> str:
    """HTML table of the base parameters with their 95 % intervals, joint by joint."""
    base = base_parameters(result.arm)
    layout = result.arm.layout
    all_units = parameter_units(result.arm)
    heads = (
        '<thead><tr><th>Parameter</th><th class="number">Value ± 95 % interval</th><th>Unit</th>'
        '<th>Interval against zero</th><th class="number">Relative std</th>'
        '<th class="number">Coloured ÷ white std</th><th></th></tr></thead>')
    rows = []
    owner = None
    for i, (name, column) in enumerate(zip(base.names, base.columns.tolist(), strict=True)):
        joint = column // layout.block if column < layout.joints * layout.block else layout.joints
        if joint != owner:
            owner = joint
            rows.append(_heading(result, joint))
        rows.append(_parameter_row(
            name, all_units[column], float(result.theta[i]), float(result.std[i]),
            float(result.std_white[i])))
    return f'<div class="scroll"><table class="parameters">{heads}{"".join(rows)}</table></div>'


def link_table(result: IdentifiedModel) -> str:
    """HTML table of mass, centre of mass and inertia of each physically possible link."""
    found, layout = result.standard_parameters(), result.arm.layout
    heads = ''.join(f'<th class="number">{head}</th>' for head in (
        'Mass ± std, kg', 'from the data', 'Centre of mass x, y, z, m',
        'Inertia about it Ixx, Iyy, Izz, kg m²'))
    rows = []
    for joint, name in enumerate(result.arm.joint_names):
        columns = layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        spread, share = found.std[columns][0], found.data_share[columns][0]
        cells = (with_interval(mass, float(spread)), percent(100 * float(share), 2),
                 ', '.join(f'{value:.3f}' for value in center).replace('-', '−'),
                 ', '.join(significant(float(value), 2) for value in np.diag(inertia)))
        tag = '<span class="tag">impossible before</span>' if name in found.impossible else ''
        rows.append(f'<tr><th scope="row">{joint + 1} · {escape(name)}</th>' + ''.join(
            f'<td class="number">{cell}</td>' for cell in cells) + f'<td>{tag}</td></tr>')
    return ('<div class="scroll"><table><thead><tr><th>Link moved by joint</th>'
            f'{heads}<th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>')


def unclear(value: float, std: float) -> bool:
    """Whether the 95 % interval of a parameter contains zero, or is unknown."""
    return not abs(value) > Z95 * std


def _heading(result: IdentifiedModel, joint: int) -> str:
    if joint < result.arm.n:
        title = f'{joint + 1} · {escape(result.arm.joint_names[joint])}'
    else:
        title = 'Coupling between joints'
    return f'<tr class="joint"><th colspan="7" scope="rowgroup">{title}</th></tr>'


def _parameter_row(name: str, unit: str, value: float, std: float, white: float) -> str:
    faint = unclear(value, std)
    relative = percent(100 * std / abs(value), 2) if value else NONE
    ratio = significant(std / white, 2) if white > 0 else NONE
    tag = '<span class="tag">may be zero</span>' if faint else ''
    return (
        f'<tr{" class=faint" if faint else ""}><td class="name">{escape(name)}</td>'
        f'<td class="number">{with_interval(value, Z95 * std)}</td><td>{unit}</td>'
        f'<td>{_bar(value, Z95 * std)}</td><td class="number">{relative}</td>'
        f'<td class="number">{ratio}</td><td>{tag}</td></tr>')


def _bar(value: float, half: float) -> str:
    reach = abs(value) + half
    if not 0 < reach < float('inf'):
        return ''
    scale = 0.94 * _HALF / reach
    left, centre = scale * (value - half), scale * value
    return (
        f'<svg viewBox="{-_HALF:g} -8 {2 * _HALF:g} 16" aria-hidden="true">'
        '<line class="zero" x1="0" x2="0" y1="-8" y2="8"/>'
        f'<rect class="bar" x="{left:.1f}" y="-3.5" width="{max(2 * scale * half, 1):.1f}" '
        f'height="7"/><circle class="dot" cx="{centre:.1f}" cy="0" r="2.6"/></svg>')


def significant(value: float, digits: int = 3) -> str:
    """Round to some significant digits; use powers of ten for very large or small values."""
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return '0'
    exponent = _exponent(value, digits)
    if -4 < exponent < 6:
        return _fixed(value, digits - 1 - exponent)
    return f'{_fixed(value / 10.0**exponent, digits - 1)}·{power_of_ten(exponent)}'


def percent(value: float, digits: int = 3) -> str:
    """Round to some significant digits and add a percent sign."""
    text = significant(value, digits)
    return text if text == NONE else f'{text} %'


def with_interval(value: float, half: float) -> str:
    """
    Write ``value ± half`` with both rounded to where the second digit of ``half`` stands.

    Parameters
    ----------
    value : float
        Estimate.
    half : float
        Half width of its interval.

    """
    if not math.isfinite(value):
        return NONE
    if half == 0 or not math.isfinite(half):
        return f'{significant(value, 5)} ± {significant(half)}'
    last = 1 - _exponent(half, 2)
    if -4 < last < 6:
        return f'{_fixed(value, last)} ± {_fixed(half, last)}'
    exponent = max(_exponent(value, 2) if value else -400, _exponent(half, 2))
    scale = 10.0**exponent
    inner = f'{_fixed(value / scale, last + exponent)} ± {_fixed(half / scale, last + exponent)}'
    return f'({inner})·{power_of_ten(exponent)}'


def power_of_ten(exponent: int) -> str:
    """Write ``10⁻³`` for -3."""
    return f'10{str(exponent).translate(_SUPERSCRIPT)}'


def _exponent(value: float, digits: int) -> int:
    # Of the rounded number: 9.99 with two digits is 10.
    return int(f'{abs(value):.{digits - 1}e}'.partition('e')[2])


def _fixed(value: float, places: int) -> str:
    text = f'{value:.{max(0, places)}f}'
    # A minus before zeros only is meaningless.
    return text.replace('-', '−' if text.strip('-0.') else '')
