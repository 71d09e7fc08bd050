# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Axes of drawings: round ticks within the axis, curves at their places, gaps, escaped labels."""

import re
from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.pages.report.axes import (
    around,
    Curve,
    decades,
    drawing,
    LEFT_MARGIN,
    linear,
    Panel,
    RIGHT,
    Scale,
)

finite = st.floats(-1e9, 1e9, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9)


@given(low=finite, high=finite, most=st.integers(3, 8))
@example(low=-45.0, high=65.0, most=4)
@example(low=0.0, high=0.0, most=5)
def test_ticks_are_few_round_evenly_spaced_and_within_the_axis(low, high, most):
    scale = linear(min(low, high), max(low, high), most)
    places = np.array([place for place, _ in scale.ticks])
    assert scale.low < scale.high
    assert 1 <= len(places) <= most
    within = scale.share(places)
    assert within.min() > -1e-6 and within.max() < 1 + 1e-6
    for step in np.diff(places)[:1]:
        assert np.diff(places) == pytest.approx(step)
        digits = f'{step:.0e}', f'{step:.1e}'
        assert float(digits[0][0]) in (1, 2, 5) or digits[1].startswith('2.5')
    for place, text in scale.ticks:
        if '·' not in text:
            assert float(text.replace('−', '-')) == pytest.approx(place, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize(('low', 'high', 'texts'), [
    (-45.0, 65.0, ['−40', '−20', '0', '20', '40', '60']), (0.0, 0.35, ['0', '0.1', '0.2', '0.3']),
    (0.0, 4e9, ['0', '1·10⁹', '2·10⁹', '3·10⁹', '4·10⁹'])])
def test_labels_are_short(low, high, texts):
    assert [text for _, text in linear(low, high, 6).ticks] == texts


def test_decades_are_complete_and_at_least_one():
    scale = decades(3e-3, 20.0)
    assert (scale.low, scale.high) == (pytest.approx(1e-3), pytest.approx(100.0))
    assert [text for _, text in scale.ticks] == ['10⁻³', '10⁻²', '10⁻¹', '10⁰', '10¹', '10²']
    assert scale.share(np.array([1e-3, 100.0])) == pytest.approx([0.0, 1.0])
    assert decades(1.0, 1.0).high == pytest.approx(10.0)


@pytest.mark.parametrize('values', [[], [np.nan], [2.0, 2.0], [0.0]])
def test_a_scale_around_nothing_or_one_value_has_a_length(values):
    scale = around([np.array(values)])
    assert scale.low < scale.high


def path_of(svg, style):
    """Points of the runs of a path, from its class."""
    path = next(each for each in ET.fromstring(svg).iter('path') if each.get('class') == style)
    return [np.array([point.split(',') for point in run.split()], dtype=float)
            for run in path.get('d').split('M')[1:]]


def test_curves_lie_where_the_axes_say_with_gaps_where_values_are_missing():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    y = np.array([0.0, 10.0, np.nan, 5.0, 0.0])
    panels = [Panel(linear(0.0, 10.0), 'above', [Curve(x, y, 'predicted')], 3),
              Panel(linear(0.0, 10.0), 'below', [Curve(x, x, 'residual')], 1)]
    svg = drawing((300.0, 200.0), linear(0.0, 4.0), 'time, s', panels, 'told')
    first, second = path_of(svg, 'predicted')
    wide = 300.0 - LEFT_MARGIN - RIGHT
    assert first[:, 0] == pytest.approx([0.0, wide / 4], abs=0.06)
    assert second[:, 0] == pytest.approx([3 * wide / 4, wide], abs=0.06)
    high = first[0, 1]
    assert first[1, 1] == 0.0
    assert second[:, 1] == pytest.approx([high / 2, high], abs=0.06)
    # The lower panel is a third as high.
    assert path_of(svg, 'residual')[0][0, 1] == pytest.approx(high / 3, abs=0.06)


def test_ticks_stand_beside_the_values_that_they_name():
    x, y = np.array([0.0, 2.0, 4.0]), np.array([0.0, 5.0, 10.0])
    svg = ET.fromstring(drawing((300.0, 200.0), linear(0.0, 4.0, 3), 'time, s', [
        Panel(linear(0.0, 10.0, 3), 'torque, Nm', [Curve(x, y, 'predicted')])], 'told'))
    (curve,) = path_of(ET.tostring(svg), 'predicted')
    rows = {each.text: float(each.get('y')) for each in svg.iter('text')
            if each.get('class') == 'row'}
    columns = {each.text: float(each.get('x')) for each in svg.iter('text')
               if each.get('x') and each.get('class') != 'row'}
    for value, (place, height) in zip(('0', '5', '10'), curve, strict=True):
        assert rows[value] == pytest.approx(height, abs=0.06)
        assert columns[f'{float(value) / 2.5:g}'] == pytest.approx(place, abs=0.06)


def test_a_line_across_is_drawn_only_where_the_axis_holds_it():
    x = Scale(1.0, 100.0, (), logarithmic=True)
    panel = Panel(linear(0.0, 1.0), '', ())
    there, beyond = (drawing((300.0, 200.0), x, '', [panel], '', (place, 'cutoff'))
                     for place in (10.0, 200.0))
    assert float(re.search(r'class="cutoff" d="M([\d.]+)', there)[1]) == pytest.approx(
        (300.0 - LEFT_MARGIN - RIGHT) / 2)
    assert 'cutoff' not in beyond


def test_labels_are_escaped():
    svg = drawing((300.0, 200.0), linear(0.0, 1.0), '<b>x', [
        Panel(linear(0.0, 1.0), '<script>', ())], 'told &amp; safe')
    assert '<script>' not in svg and '<b>' not in svg
    assert ET.fromstring(svg).get('aria-label') == 'told & safe'


@pytest.mark.parametrize(('style', 'drawn'), [
    ('area predicted', 'M0.0,5.0 5.0,0.0Z'), ('predicted dots', 'M0.0,5.0h0M5.0,0.0h0')])
def test_points_and_areas(style, drawn):
    curve = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), style)
    svg = drawing((LEFT_MARGIN + RIGHT + 5.0, 45.0), linear(0.0, 1.0), '', [
        Panel(linear(0.0, 1.0), '', [curve])], '')
    assert next(each.get('d') for each in ET.fromstring(svg).iter('path')
                if each.get('class') == style) == drawn
