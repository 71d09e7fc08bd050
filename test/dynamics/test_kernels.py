"""Functions of angles in the kernels are those of NumPy."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.dynamics.kernels import sine_and_rise


@settings(deadline=None)
@given(st.floats(-1e6, 1e6))
def test_sine_and_rise_are_within_rounding_at_any_angle(angle):
    sine, rise = sine_and_rise(angle)
    # Two roundings of one; the rise reaches two.
    assert abs(sine - np.sin(angle)) <= 4.5e-16
    assert abs(rise - (1 - np.cos(angle))) <= 9e-16


@settings(deadline=None)
@given(st.floats(1e-300, 1e-3))
def test_small_angles_keep_their_digits(angle):
    sine, rise = sine_and_rise(angle)
    assert abs(sine / np.sin(angle) - 1) <= 4.5e-16
    # 1 - cos x loses them, 2 sin² (x / 2) does not.
    assert abs(rise - 2 * np.sin(angle / 2)**2) <= 4.5e-16 * rise + 1e-320


def test_no_angle_gives_no_sine():
    assert np.isnan(sine_and_rise(float('nan'))).all()
    assert np.isnan(sine_and_rise(float('inf'))).all()
