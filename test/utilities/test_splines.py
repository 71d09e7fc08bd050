# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cubic splines against those of SciPy."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from dynid_ros.utilities.splines import cubic_spline, hermite

RNG = np.random.default_rng(0)


@pytest.mark.parametrize('samples', [2, 3, 4, 5, 200])
@pytest.mark.parametrize('derivative', [0, 1])
def test_a_spline_is_that_of_scipy(samples, derivative):
    t = np.cumsum(RNG.uniform(0.1, 1.0, samples))
    x = RNG.normal(size=(samples, 3))
    times = np.linspace(t[0] - 0.5, t[-1] + 0.5, 301).reshape(7, 43)
    np.testing.assert_allclose(
        cubic_spline(t, x, times, derivative), CubicSpline(t, x)(times, derivative), atol=1e-9)
    one = x[:, 0]
    np.testing.assert_allclose(
        cubic_spline(t, one, t, derivative), CubicSpline(t, one)(t, derivative), atol=1e-11)


@pytest.mark.parametrize('derivative', [0, 1])
def test_cubics_of_stated_slopes_are_those_of_scipy(derivative):
    t = np.cumsum(RNG.uniform(0.1, 1.0, 20))
    x, slope = RNG.normal(size=(2, 20, 2))
    times = np.linspace(t[0], t[-1], 101)
    np.testing.assert_allclose(
        hermite(t, x, slope, times, derivative),
        CubicHermiteSpline(t, x, slope)(times, derivative), atol=1e-12)


def test_a_cubic_is_its_own_spline():
    t = np.array([0.0, 0.3, 1.0, 1.1, 2.5, 3.0])
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.25])
    times = np.linspace(0, 3, 50)
    np.testing.assert_allclose(cubic_spline(t, cubic(t), times), cubic(times), atol=1e-13)
    slopes = cubic_spline(t, cubic(t), times, 1)
    np.testing.assert_allclose(slopes, cubic.deriv()(times), atol=1e-12)
