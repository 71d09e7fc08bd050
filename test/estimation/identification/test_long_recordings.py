"""Long recordings are taken block by block and in files; neither changes a result."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings import in_blocks
from dynid_ros.data.recordings.quality import clean, defects_of
from dynid_ros.data.signals import cutoff_choice, segments
from dynid_ros.data.signals.standstill import time_in_motion
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels, clipped_samples
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.regression.preparation import choose_conditioning, motions
from dynid_ros.utilities import memmap as large_arrays

RATE, SAMPLES = 100.0, 3000


@pytest.fixture
def as_if_long(monkeypatch, tmp_path):
    """Let a short recording be cut and stored as ten hours are."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    for module, name, value in (
            (large_arrays, 'LARGE', 1), (in_blocks, 'BLOCK', 61), (segments, 'KNOTS', 137)):
        monkeypatch.setattr(module, name, value)


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


def late(log):
    t = log.t.copy()
    t[[500, 1500]] = t[[499, 1400]]
    return replace(log, t=t)


def set_twice(log):
    t = log.t.copy()
    t[1003:] += 7200.0
    t[2104:] -= 1e6
    t[[62, 1801]] = 1e12, np.nan
    return replace(log, t=t, qd=None)


def lost(log):
    keep = np.ones(len(log.t), dtype=bool)
    keep[1000:1003] = keep[2000:2060] = False
    return replace(log, t=log.t[keep], q=log.q[keep], u=log.u[keep], qd=log.qd[keep])


def missing(log):
    q = log.q.copy()
    q[[61, 1200], [0, 1]] = np.nan
    return replace(log, q=q)


def wrapped(log):
    return replace(log, q=np.column_stack([
        (4 * log.q[:, 0] + np.pi) % (2 * np.pi) - np.pi, log.q[:, 1]]), qd=None)


def jumping(log):
    q = log.q.copy()
    q[1830:, 1] += 1.0
    return replace(log, q=q)


def repeated(log):
    q, u = log.q.copy(), log.u.copy()
    for x in (q, u):
        x[61:63], x[701:705] = x[60], x[700]
    return replace(log, q=q, u=u)


def strange(log):
    u, qd = log.u.copy(), log.qd.copy()
    u[100], u[2900, 1], qd[:, 0] = 1e7, np.inf, 0.0
    return replace(log, u=u, qd=qd)


def scaled(log):
    return replace(log, qd=0.5 * log.qd)


def trembling(log):
    return replace(log, t=log.t + 0.4 / RATE * np.sin(np.arange(SAMPLES)**2))


SPOILT = (late, set_twice, lost, missing, wrapped, jumping, repeated, strange, scaled, trembling)


def checked(arm, log):
    """Clean a recording with limits that it exceeds, and find its defects."""
    limits = replace(
        arm.limits, velocity=np.array([0.8, 3.0]), lower=np.array([-9.0, -0.3]),
        effort=np.array([0.9, 1.0]) * np.abs(log.u[np.isfinite(log.u).all(axis=1)]).max(axis=0))
    arm = replace(arm, limits=limits)
    log = clean(log, arm)
    return log, defects_of(log, arm)


@pytest.mark.parametrize('spoil', SPOILT)
def test_cleaning_and_checks(walk, request, spoil):
    arm, log = walk
    whole, found = checked(arm, spoil(log))
    assert found
    request.getfixturevalue('as_if_long')
    again, same = checked(arm, spoil(log))
    for name in ('t', 'q', 'u'):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    for one, other in zip(same, found, strict=True):
        assert (one.code, one.message, one.count, one.first_stamp) == (
            other.code, other.message, other.count, other.first_stamp)
        assert one.value == pytest.approx(other.value, rel=1e-12)


def test_conditioned_motion_and_clipped_signals(walk, request):
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
    request.getfixturevalue('as_if_long')
    for one, other in zip(taken(), whole, strict=True):
        # Splines that are cut agree but for rounding.
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_the_cutoff_of_several_parts_is_that_of_one(walk, monkeypatch):
    arm, log = walk
    whole = choose_conditioning(arm, [log]).cutoff_hz
    monkeypatch.setattr(cutoff_choice, 'LONGEST', 1000)
    # A spectrum of a third of the samples has a third of the resolution, of which the cut-off is
    # five times.
    resolution = 3 * RATE / SAMPLES
    assert choose_conditioning(arm, [log]).cutoff_hz == pytest.approx(whole, abs=5 * resolution)


@pytest.mark.slow
def test_an_identified_model(walk, request):
    arm, log = walk
    whole = identify(arm, [log], friction=('viscous', 'coulomb'))
    request.getfixturevalue('as_if_long')
    again = identify(arm, [log], friction=('viscous', 'coulomb'))
    assert again.data_hash == whole.data_hash
    for name in ('theta', 'covariance', 'sigma'):
        one, other = getattr(again, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())
    assert again.verdict == whole.verdict
