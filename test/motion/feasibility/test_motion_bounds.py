# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bounds hold at all times and are tight."""

import numpy as np
import pytest

from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.trajectory.fourier import FourierMotion


@pytest.mark.parametrize('seed', range(5))
@pytest.mark.parametrize('ramp', [0.0, 0.7])
def test_bounds_hold_on_a_hundred_times_finer_grid_and_are_tight(seed, ramp):
    rng = np.random.default_rng(seed)
    motion = FourierMotion.at_rest(5.0, rng.normal(size=2), rng.normal(size=(2, 8)), ramp=ramp)
    bounds = motion_bounds(motion)
    q, qd, qdd = motion.evaluate(np.linspace(0, motion.duration, 200_001))
    size = q.max(axis=0) - q.min(axis=0)
    seen = {'velocity': np.abs(qd).max(axis=0), 'acceleration': np.abs(qdd).max(axis=0)}
    assert (bounds.lower <= q.min(axis=0)).all()
    assert (bounds.upper >= q.max(axis=0)).all()
    # The share that the bound of the grid's error may cost: the worst case of all harmonics in
    # phase, and in a ramp the sum of all terms of Leibniz' rule.
    allowed = 0.005 if ramp == 0 else 0.1
    assert (bounds.upper - bounds.lower <= (1 + allowed) * size).all()
    for name, largest in seen.items():
        assert (getattr(bounds, name) >= largest).all(), name
        assert (getattr(bounds, name) <= (1 + allowed) * largest).all(), name


def test_a_peak_between_two_points_of_the_grid_is_counted():
    # Velocity cos(w t - phase) - cos(2 w t - phase) peaks at no point of any regular grid.
    phase = 0.123456789
    sine = np.array([[np.cos(phase), -np.cos(phase)]])
    cosine = np.array([[2 * np.sin(phase), -np.sin(phase)]])
    motion = FourierMotion(2 * np.pi, np.zeros(1), sine, cosine)
    fine = np.abs(motion.evaluate(np.linspace(0, 2 * np.pi, 1_000_001))[1]).max()
    assert fine <= motion_bounds(motion).velocity[0] <= 1.001 * fine
