# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The online pipeline against known parameters, and what it makes of bad streams."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.row_pipeline import RowPipeline

RATE = 500.0
CUTOFF = 10.0


def smooth_motion(n, seconds, seed, rate=RATE):
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    w = 2 * np.pi * rng.uniform(0.1, 0.9, size=(n, 4))
    amplitude = rng.uniform(0.1, 0.6, size=(n, 4))
    angle = w * t[:, None, None] + rng.uniform(0, 6, size=(n, 4))
    return (t, (amplitude * np.sin(angle)).sum(axis=2),
            (amplitude * w * np.cos(angle)).sum(axis=2),
            -(amplitude * w**2 * np.sin(angle)).sum(axis=2))


def recording(arm, seconds=12.0, seed=3, noise=0.0, rate=RATE):
    t, q, qd, qdd = smooth_motion(arm.n, seconds, seed, rate)
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    tau += noise * np.random.default_rng(seed).normal(size=tau.shape)
    return t, q, tau / arm.drive.gain


@pytest.fixture(scope='module')
def leg():
    # Smooth friction: a step in torque is no signal that any low-pass keeps as it is.
    return load_arm('hand_leg').with_friction(('viscous', 'offset'))


def truth_of(arm):
    return base_parameters(arm).grouping @ nominal_parameters(arm)


def off(online, arm):
    truth = truth_of(arm)
    return np.linalg.norm(online.recursion.theta - truth) / np.linalg.norm(truth)


def test_positions_and_torque_alone_give_the_base_parameters(leg):
    online = OnlineIdentifier(leg, cutoff_hz=CUTOFF)
    online.take(*recording(leg))
    assert off(online, leg) < 1e-3
    counts = online.pipeline.counters.as_dict()
    assert not any(count for rule, count in counts.items() if rule != 'standing')


@given(cuts=st.lists(st.integers(0, 2000), max_size=8))
@settings(max_examples=10)
def test_rows_do_not_depend_on_the_portions_in_which_samples_come(cuts):
    arm = load_arm('two_axis')
    t, q, u = recording(arm, 4.0)
    once, portions = (RowPipeline(arm, cutoff_hz=CUTOFF) for _ in range(2))
    whole = [*once.push(t, q, u), *once.flush()]
    edges = [0, *sorted(cuts), len(t)]
    parts = [block for a, b in pairwise(edges)
             for block in portions.push(t[a:b], q[a:b], u[a:b])]
    parts += portions.flush()
    for name in ('t', 'q', 'qd', 'W', 'tau', 'moving'):
        left, right = (np.concatenate([getattr(b, name) for b in x]) for x in (whole, parts))
        np.testing.assert_array_equal(left, right)


def test_one_sample_at_a_time(leg):
    t, q, u = recording(leg, 3.0)
    plain, single = (RowPipeline(leg, cutoff_hz=CUTOFF) for _ in range(2))
    expected = plain.push(t, q, u)
    rows = [block for k in range(len(t)) for block in single.push(t[k], q[k], u[k])]
    np.testing.assert_array_equal(
        np.concatenate([b.W for b in rows]), np.concatenate([b.W for b in expected]))


FAULTS = {
    'missing': lambda t, q, u: [np.delete(x, np.arange(60, 5000, 97), axis=0) for x in (t, q, u)],
    'repeated': lambda t, q, u: [np.repeat(x, 1 + (np.arange(len(t)) % 83 == 5), axis=0)
                                 for x in (t, q, u)],
    'reordered': lambda t, q, u: [x[_swapped(len(t))] for x in (t, q, u)],
    'not_finite': lambda t, q, u: (t, _poked(q, np.nan, 101), _poked(u, np.inf, 211)),
    'spikes': lambda t, q, u: (t, _poked(q, 3.0, 131), _poked(u, 400.0, 171)),
    'late': lambda t, q, u: [np.insert(x, np.arange(700, 5000, 400), x[np.arange(300, 4600, 400)],
                                       axis=0) for x in (t, q, u)],
    'gaps': lambda t, q, u: [np.delete(x, np.s_[2000:2200], axis=0) for x in (t, q, u)],
}


def _swapped(count):
    index = np.arange(count)
    for k in range(20, count - 3, 61):
        index[k], index[k + 2] = index[k + 2], index[k]
    return index


def _poked(x, value, every):
    x = x.copy()
    x[77::every, 2] = value
    return x


@pytest.mark.slow
@pytest.mark.parametrize('fault', FAULTS)
def test_each_fault_is_counted_and_leaves_the_estimate_right(leg, fault):
    online = OnlineIdentifier(leg, cutoff_hz=CUTOFF)
    online.take(*FAULTS[fault](*recording(leg)))
    counts = online.pipeline.counters.as_dict()
    assert counts[fault] > 0
    assert off(online, leg) < 5e-3


def test_a_stream_that_changes_its_rate_goes_on(leg):
    t, q, u = recording(leg)
    half = len(t) // 2
    online = OnlineIdentifier(leg, cutoff_hz=CUTOFF)
    online.take(t[:half], q[:half], u[:half])
    online.take(t[half::4], q[half::4], u[half::4])
    assert online.pipeline.settings.rate_hz == pytest.approx(RATE / 4)
    assert online.pipeline.counters.as_dict()['rate_changed'] == 1
    assert off(online, leg) < 5e-3


def test_a_clock_that_is_set_back_starts_a_new_stretch(leg):
    t, q, u = recording(leg)
    half = len(t) // 2
    online = OnlineIdentifier(leg, cutoff_hz=CUTOFF)
    online.take(t[:half] + 1e9, q[:half], u[:half])
    online.take(t[half:], q[half:], u[half:])
    assert online.pipeline.counters.as_dict()['clock_reset'] == 1
    assert online.pipeline.segment == 1
    assert off(online, leg) < 5e-3


def test_a_wrapped_position_starts_a_new_stretch():
    arm = load_arm('two_axis').with_friction(('viscous',))
    t, q, u = recording(arm)
    wrapped = q.copy()
    wrapped[3000:, 1] -= 2 * np.pi
    online = OnlineIdentifier(arm, cutoff_hz=CUTOFF)
    online.take(t, wrapped, u)
    assert online.pipeline.counters.as_dict()['jumps'] == 1
    assert off(online, arm) < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize('memory', [np.inf, 5.0])
def test_standing_still_for_a_minute_neither_drifts_nor_winds_up(leg, memory):
    rate = 125.0
    t, q, tau = recording(leg, 10.0, noise=0.5, rate=rate)
    rng = np.random.default_rng(8)
    online = OnlineIdentifier(leg, memory=memory)
    online.take(t, q, tau)
    # A real arm stops within its limits; the stretch after it is what stands still.
    before = None
    counts = 2 * np.pi / 2**16
    for second in range(61):
        now = t[-1] + 0.2 + second + np.arange(rate) / rate
        still = np.repeat(q[-1:], len(now), axis=0)
        # The encoder flickers, and stiction holds a torque that no model predicts.
        flicker = counts * rng.integers(0, 2, size=still.shape)
        held = tau[-1] + 3.0 + 0.5 * rng.normal(size=still.shape)
        online.take(now, still + flicker, held)
        if second == 0:
            before = online.estimate()
    after = online.estimate()
    assert (np.abs(after.theta - before.theta) <= 0.01 * before.std).all()
    np.testing.assert_allclose(after.std_white, before.std_white, rtol=1e-9)


def test_replaying_half_saving_and_restoring_is_one_replay(leg, tmp_path):
    t, q, u = FAULTS['gaps'](*recording(leg, noise=0.2))
    whole = OnlineIdentifier(leg, memory=20.0)
    whole.take(t, q, u)
    first, second = (OnlineIdentifier(leg, memory=20.0) for _ in range(2))
    cut = len(t) // 2 + 13
    first.take(t[:cut], q[:cut], u[:cut])
    np.savez(tmp_path / 'state.npz', **first.state())
    with np.load(tmp_path / 'state.npz') as state:
        second.restore(dict(state))
    second.take(t[cut:], q[cut:], u[cut:])
    np.testing.assert_array_equal(second.recursion.theta, whole.recursion.theta)
    np.testing.assert_array_equal(second.estimate().std, whole.estimate().std)
    assert second.pipeline.counters.as_dict() == whole.pipeline.counters.as_dict()


@given(seed=st.integers(0, 10**6), memory=st.sampled_from([0.5, 10.0, np.inf]))
@settings(max_examples=15)
def test_random_trees_with_faulty_streams_stay_finite(seed, memory):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, int(rng.integers(1, 5)))
    t, q, u = recording(arm, 3.0, seed)
    t = t + 10.0 ** rng.uniform(-6, -2) * rng.normal(size=len(t))
    for x in (q, u):
        x[rng.random(x.shape) < 0.01] = rng.choice([np.nan, np.inf, 1e300, -50.0])
    if rng.random() < 0.3:
        q[len(t) // 2:] = q[len(t) // 2]
    order = np.argsort(np.arange(len(t)) + 5 * rng.random(len(t)))
    online = OnlineIdentifier(arm, memory=memory)
    for k in range(0, len(t), 400):
        part = order[k:k + 400]
        online.take(t[part], q[part], u[part])
    estimate = online.estimate()
    C = estimate.covariance
    assert np.isfinite(estimate.theta).all() and np.isfinite(C).all()
    np.testing.assert_array_equal(C, C.T)
    assert np.linalg.eigvalsh(C)[0] >= -1e-9 * max(np.abs(C).max(), 1e-300)
