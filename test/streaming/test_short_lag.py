"""Positions and velocities with little lag."""

import numpy as np
import pytest

from dynid_ros.streaming.short_lag import HALF_WINDOW, ShortLag


@pytest.mark.parametrize('rate', [30.0, 125.0, 500.0, 1000.0])
@pytest.mark.parametrize('delay', [0.0, 0.004, 0.05, -0.004])
def test_motion_and_torque_keep_the_same_time(rate, delay):
    t = np.arange(400) / rate
    w = 2 * np.pi * np.array([0.5, 1.0])
    # The torque says when it was; it lags by the delay.
    half = int(HALF_WINDOW * rate) / rate
    late = max(delay, -half)
    tau = np.column_stack([t - late, np.cos(w[0] * (t - late))])
    samples = np.column_stack([t, np.sin(w * t[:, None]), tau])
    filtered = ShortLag(rate, 2, delay)
    parts = [filtered.apply(samples[k:k + 13]) for k in range(0, 400, 13)]
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    time, q, qd, torque = found
    assert len(time) > 300
    # The window takes h² w² / 16 or so off.
    np.testing.assert_allclose(q, np.sin(w * time[:, None]), atol=1e-3)
    np.testing.assert_allclose(qd, w * np.cos(w * time[:, None]), rtol=1e-3, atol=5e-3 * w[1])
    np.testing.assert_allclose(torque[:, 0], time, atol=1e-9)
    assert t[-1] - time[-1] == pytest.approx(filtered.lag / rate)
    assert filtered.lag / rate <= HALF_WINDOW + 2 / rate + max(0.0, late + 1 / rate) + 1e-9
