"""Rows of long recordings are made block by block, which changes no result."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings import in_blocks
from dynid_ros.data.signals.standstill import time_in_motion
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import motions
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels, clipped_samples
from dynid_ros.estimation.identification.identify import identify

RATE, SAMPLES = 100.0, 3000


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
        (motion,) = motions(arm, log, settings)
        levels = clip_levels([log])
        return (settings.cutoff_hz, motion.t, motion.q, motion.tau, motion.moving,
                *clipped_samples(arm, [motion], levels), levels.highest, levels.largest,
                time_in_motion(log.t, log.q))

    whole = taken()
    monkeypatch.setattr(in_blocks, 'BLOCK', 61)
    for one, other in zip(taken(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_an_identified_model(walk, monkeypatch):
    arm, log = walk
    whole = identify(arm, [log], friction=('viscous', 'coulomb'))
    monkeypatch.setattr(in_blocks, 'BLOCK', 61)
    again = identify(arm, [log], friction=('viscous', 'coulomb'))
    assert again.data_hash == whole.data_hash
    for name in ('theta', 'covariance', 'sigma'):
        one, other = getattr(again, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())
    assert again.verdict == whole.verdict
