# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of long recordings are made block by block, which changes no result."""

from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.load import load_arm
from dynid_ros.data.signals.standstill import time_in_motion
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks import preparation
from dynid_ros.estimation.blocks.preparation import condition_recording
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels, clipped_samples
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.utilities import in_blocks

RATE, SAMPLES = 100.0, 3000


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def walk():
    """Return an arm whose motors mix two joints, and its recording with velocities."""
    arm = load_arm('two_axis')
    transmission = np.array([[1.0, 0.0], [0.3, 1.0]])
    arm = replace(arm, drive=replace(
        Drive.joint_torque(2), gain=np.array([2.0, 0.5]), transmission=transmission))
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    waves = Waves.random(arm, seed=1)
    noise = 0.05 * np.random.default_rng(0).normal(size=(SAMPLES, 2))
    log = recording(arm, waves, theta, noise, rate=RATE)
    u = np.linalg.solve(transmission.T, log.u.T).T / arm.drive.gain
    return arm, replace(log, u=u, qd=waves.at(log.t)[1])


def trembling(log):
    return replace(log, t=log.t + 0.4 / RATE * np.sin(np.arange(SAMPLES)**2))


def test_conditioned_motion_and_clipped_signals(walk, monkeypatch):
    arm, log = walk
    log = trembling(replace(log, u=np.clip(log.u, -np.inf, np.percentile(log.u, 90, axis=0))))

    def taken():
        settings = choose_conditioning(arm, [log])
        (motion,) = condition_recording(arm, log, settings)
        levels = clip_levels([log])
        return (settings.cutoff_hz, motion.t, motion.q, motion.tau, motion.moving,
                *clipped_samples(arm, [motion], levels), levels.highest, levels.usual,
                time_in_motion(log.t, log.q))

    whole = taken()
    monkeypatch.setattr(in_blocks, 'SAMPLES_PER_BLOCK', 61)
    for one, other in zip(taken(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_an_identified_model(walk, monkeypatch):
    arm, log = walk
    whole = identify(arm, [log], friction=('viscous', 'coulomb'))
    monkeypatch.setattr(in_blocks, 'SAMPLES_PER_BLOCK', 61)
    again = identify(arm, [log], friction=('viscous', 'coulomb'))
    assert again.data_hash == whole.data_hash
    for name in ('theta', 'covariance', 'sigma'):
        one, other = getattr(again, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())
    assert again.verdict == whole.verdict


def fast_turns(seconds, rate):
    """Return an arm with friction, and a recording of it that turns round often."""
    arm = load_arm('two_axis').with_friction(PLAIN_TERMS)
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    theta[[base_parameters(arm).names.index(name) for name in ('Fc1', 'Fc2')]] = 2.0, 1.0
    noise = 0.05 * np.random.default_rng(0).normal(size=(int(seconds * rate), 2))
    return arm, recording(arm, Waves.random(arm, seed=1), theta, noise, rate=rate)


def twice(monkeypatch, method):
    """Identify the same arm from a recording that is not long, and as if it were long."""
    arm, log = fast_turns(20.0, 1000.0)
    arm = replace(arm, conditioning=replace(arm.conditioning, delay=0.0, cutoff_hz=5.0))
    found = []
    for long in (len(log.t), 1000):
        monkeypatch.setattr(preparation, 'DECIMATED_SAMPLES', long)
        found.append(identify(arm, [log], friction=PLAIN_TERMS, method=method))
    return log, *found


def test_a_long_recording_is_thinned_within_its_error_bars(monkeypatch):
    log, one, other = twice(monkeypatch, 'differentiated')
    moved = np.abs(other.theta - one.theta) / np.sqrt(np.diag(one.covariance))
    assert 0 < moved.max() < 0.3
    assert one.treatment.rate_hz == pytest.approx(6 * other.treatment.rate_hz)
    assert other.row_rate_hz == pytest.approx(one.row_rate_hz)
    errors = [model.validation.relative_error_percent for model in (one, other)]
    assert errors[1] == pytest.approx(errors[0], rel=0.01)
    _, parts = validate(other, log)
    assert not any(part.held_out for part in parts)


def test_rows_without_accelerations_have_all_samples(monkeypatch):
    _, one, other = twice(monkeypatch, 'filtered')
    np.testing.assert_array_equal(other.theta, one.theta)
