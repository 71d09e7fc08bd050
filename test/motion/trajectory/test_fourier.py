# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions are what their coefficients say, and stand still at both ends."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.errors import InputError
from dynid_ros.motion.trajectory.fourier import FourierMotion, quintic_step, rest_projection


def _motion(seed, joints=3, harmonics=5, periods=2, ramp=0.0, period=7.0):
    rng = np.random.default_rng(seed)
    return FourierMotion.at_rest(
        period, rng.normal(size=joints), rng.normal(size=(joints, 2 * harmonics - 2)), periods,
        ramp)


def test_one_harmonic_of_each_kind_gives_the_formula_of_the_article():
    motion = FourierMotion(4.0, [0.3], [[0.0, 2.0]], [[0.5, 0.0]], ramp=1.0)
    t, w = np.array([1.0, 1.7, 3.2]), np.pi / 2
    s = t - 1.0
    q, qd, qdd = motion.evaluate(t)
    # Rounding only: the same sums in another order.
    np.testing.assert_allclose(
        q[:, 0], 0.3 + 2 / (2 * w) * np.sin(2 * w * s) - 0.5 / w * np.cos(w * s), atol=1e-14)
    np.testing.assert_allclose(
        qd[:, 0], 2 * np.cos(2 * w * s) + 0.5 * np.sin(w * s), atol=1e-14)
    np.testing.assert_allclose(
        qdd[:, 0], -4 * w * np.sin(2 * w * s) + 0.5 * w * np.cos(w * s), atol=1e-13)


@pytest.mark.parametrize('ramp', [0.0, 1.5])
def test_velocity_and_acceleration_are_the_derivatives(ramp):
    motion = _motion(1, ramp=ramp)
    t = np.linspace(0.01, motion.duration - 0.01, 997)
    h = 1e-4
    ahead, behind = motion.evaluate(t + h), motion.evaluate(t - h)
    _, qd, qdd = motion.evaluate(t)
    # h²/6 times a third derivative of up to some 100, and rounding of 1e-16/h.
    np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * h), qd, atol=1e-6)
    np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * h), qdd, atol=1e-5)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1), harmonics=st.integers(2, 12), ramp=st.sampled_from([0.0, 2.0]),
    period=st.floats(1.0, 40.0))
def test_position_velocity_and_acceleration_join_standstill_at_both_ends(
    seed, harmonics, ramp, period,
):
    motion = _motion(seed, harmonics=harmonics, ramp=ramp, period=period)
    inside = 1e-15
    for t in (inside, motion.duration - inside):
        q, qd, qdd = motion.evaluate(t)
        # Rounding of the sums, which grows with the frequency of the acceleration's terms.
        frequency = max(1.0, motion.orders[-1])
        np.testing.assert_allclose(q, motion.start, rtol=0, atol=1e-12)
        np.testing.assert_allclose(qd, 0, atol=1e-12 * frequency)
        np.testing.assert_allclose(qdd, 0, atol=1e-12 * frequency**2)


def test_before_the_start_and_after_the_end_the_arm_stands_exactly_still():
    motion = _motion(2, ramp=1.0)
    q, qd, qdd = motion.evaluate([-5.0, 0.0, motion.duration, motion.duration + 5.0])
    np.testing.assert_array_equal(q, np.tile(motion.start, (4, 1)))
    assert not qd.any()
    assert not qdd.any()


def test_periods_repeat():
    motion = _motion(3, periods=3, ramp=1.0)
    t = 1.0 + np.linspace(0.001, 6.999, 50)
    for now, later in zip(motion.evaluate(t), motion.evaluate(t + 7.0), strict=True):
        # Times of some 20 s are exact to 4e-15 s, and nothing changes faster than 100 a second.
        np.testing.assert_allclose(now, later, atol=1e-11)


def test_rest_projection_spans_all_coefficients_at_rest_and_nothing_else():
    H = 6
    basis = rest_projection(H)
    conditions = np.zeros((2, 2 * H))
    conditions[0, :H], conditions[1, H:] = 1.0, np.arange(1, H + 1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2 * H - 2), atol=1e-14)
    np.testing.assert_allclose(conditions @ basis, 0, atol=1e-14)


def test_any_shape_of_times_is_evaluated():
    motion = _motion(4)
    q, _, _ = motion.evaluate(np.zeros((4, 5)))
    assert q.shape == (4, 5, 3)
    assert motion.evaluate(1.0)[0].shape == (3,)


def test_a_motion_cannot_be_changed():
    motion = _motion(5)
    with pytest.raises(ValueError, match='read-only'):
        motion.sine[0, 0] = 1.0


def test_quintic_step_has_no_slope_and_no_bend_at_its_ends():
    for x, value in ((-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)):
        assert [float(d) for d in quintic_step(np.array(x))] == [value, 0.0, 0.0]


@pytest.mark.parametrize(('change', 'message'), [
    ({'sine': [[1.0, 0.0]]}, 'joint 1 would start with a jump of velocity'),
    ({'cosine': [[1.0, 0.0]]}, 'joint 1 would start with a jump of acceleration'),
    ({'periods': 0}, 'one period at least'),
    ({'ramp': -1.0}, 'ramp must not be a negative time'),
    ({'ramp': 1e-308}, 'ramp must be 0, or 0.001 s at least, but is 1e-308 s'),
])
def test_what_is_no_motion_is_refused(change, message):
    values = {'period': 1.0, 'offset': [0.0], 'sine': [[0.0, 0.0]], 'cosine': [[0.0, 0.0]]}
    with pytest.raises(InputError, match=message):
        FourierMotion(**{**values, **change})
