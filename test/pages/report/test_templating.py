# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Numbers keep what matters and drop what says nothing."""

from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
import pytest

from dynid_ros.pages.report import templating
from dynid_ros.pages.report.templating import percent, significant, with_interval


@pytest.mark.parametrize(('value', 'text'), [
    (0.0, '0.00'), (12.345, '12.3'), (-0.012345, '−0.0123'), (9.999, '10.0'), (1234.5, '1230'),
    (3.21e-7, '3.21·10⁻⁷'), (-4.5e9, '−4.50·10⁹'), (float('nan'), '−'), (float('inf'), '−'),
])
def test_significant_digits(value, text):
    assert significant(value) == text


def test_percent_of_nothing_has_no_sign():
    assert percent(5.0) == '5.00 %'
    assert percent(float('nan')) == '−'


@pytest.mark.parametrize(('value', 'half', 'text'), [
    (12.3456, 0.123, '12.35 ± 0.12'),
    (-8.1708, 0.0996, '−8.171 ± 0.100'),
    (-0.0004, 0.21, '0.00 ± 0.21'),
    (1234.5, 67.8, '1234 ± 68'),
    (12345.0, 5200.0, '12345 ± 5200'),
    (1.2345e-5, 2.1e-6, '0.0000123 ± 0.0000021'),
    (0.0, 2.1e-6, '0.0000000 ± 0.0000021'),
    (3.2e9, 1.1e8, '3200000000 ± 110000000'),
    (1.5, 0.0, '1.500 ± 0.000'),
    (1.5, float('nan'), '1.50 ± −'),
    (float('nan'), 1.0, '− ± 1.00'),
])
def test_an_interval_has_two_digits_and_its_centre_ends_where_it_does(value, half, text):
    assert with_interval(value, half) == text


def read(text):
    """Read ``a ± b`` back."""
    centre, _, half = text.replace('−', '-').partition(' ± ')
    return float(centre), float(half)


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_what_is_written_is_within_a_twentieth_of_the_interval(value, half):
    centre, width = read(with_interval(value, half))
    # Two digits round by at most half of the second: 0.05 of a half width of 1.0.
    assert abs(centre - value) <= 0.0501 * half + 1e-12 * abs(value)
    assert abs(width - half) <= 0.0501 * half


def test_templates_are_compiled_once_where_their_code_may_be_kept(tmp_path, monkeypatch):
    compiled, compile_template = [], Environment.compile

    def count(self, source, name, filename):
        compiled.append(name)
        return compile_template(self, source, name, filename)

    monkeypatch.setattr(Environment, 'compile', count)
    for folder, times in ((tmp_path, 1), (tmp_path, 1), (tmp_path / 'none', 2)):
        monkeypatch.setattr(templating, 'COMPILED', folder)
        # A further process begins with an empty cache.
        templating.environment.__wrapped__().get_template('report.html')
        assert compiled == times * ['report.html']
