"""Numbers keep what matters and drop what says nothing."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from dynid_ros.pages.report.templating import percent, significant, with_interval


@pytest.mark.parametrize(('value', 'text'), [
    (0.0, '0'), (12.345, '12.3'), (-0.012345, '−0.0123'), (9.999, '10.0'), (1234.5, '1234'),
    (3.21e-7, '3.21·10⁻⁷'), (-4.5e9, '−4.50·10⁹'), (float('nan'), '–'), (float('inf'), '–'),
])
def test_significant_digits(value, text):
    assert significant(value) == text


def test_percent_of_nothing_has_no_sign():
    assert percent(5.0) == '5.00 %'
    assert percent(float('nan')) == '–'


@pytest.mark.parametrize(('value', 'half', 'text'), [
    (12.3456, 0.123, '12.35 ± 0.12'),
    (-8.1708, 0.0996, '−8.17 ± 0.10'),
    (-0.0004, 0.21, '0.00 ± 0.21'),
    (1234.5, 67.8, '1234 ± 68'),
    (12345.0, 5200.0, '12345 ± 5200'),
    (1.2345e-8, 2.1e-9, '(1.23 ± 0.21)·10⁻⁸'),
    (0.0, 2.1e-9, '(0.0 ± 2.1)·10⁻⁹'),
    (3.2e9, 1.1e8, '(3.20 ± 0.11)·10⁹'),
    (1.5, 0.0, '1.5000 ± 0'),
    (1.5, float('nan'), '1.5000 ± –'),
    (float('nan'), 1.0, '–'),
])
def test_an_interval_has_two_digits_and_its_centre_ends_where_it_does(value, half, text):
    assert with_interval(value, half) == text


def read(text):
    """Read ``a ± b`` or ``(a ± b)·10ⁿ`` back."""
    inner, _, power = text.partition('·10')
    digits = str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')
    scale = 10.0 ** int(power.translate(digits) or 0)
    centre, _, half = inner.strip('()').replace('−', '-').partition(' ± ')
    return scale * float(centre), scale * float(half)


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_what_is_written_is_within_a_twentieth_of_the_interval(value, half):
    centre, width = read(with_interval(value, half))
    # Two digits round by at most half of the second: 0.05 of a half width of 1.0.
    assert abs(centre - value) <= 0.0501 * half + 1e-12 * abs(value)
    assert abs(width - half) <= 0.0501 * half
