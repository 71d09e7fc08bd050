# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive gains against arms of which they are known, and against a general optimiser."""

from dataclasses import replace
from functools import cache

import numpy as np
from oracles import random_arm
import pytest
from scipy.optimize import minimize
from synthetic_recordings import coloured, recording, true_torque, Waves

from dynid_ros.arm import load_arm
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recording
from dynid_ros.estimation.calibration.drive_gains import estimate_gains
from dynid_ros.estimation.calibration.gain_verdict import (
    AGREES,
    NOT_DETERMINED,
    REFERENCE_CODE,
    REFUTED,
    REFUTING_STD,
    ROUGH,
    with_reference,
)
from dynid_ros.estimation.calibration.log_gains import LogGains
from dynid_ros.estimation.identification.gain_recordings import recorded_gains, without_reversals
from dynid_ros.estimation.suspects.fitted_rows import suspect_of_fit
from dynid_ros.estimation.suspects.signal_suspects import GAIN_STD
from dynid_ros.simulation.sensors import drive_signal

MASS, SAMPLES = 2.5, 3000
LOAD = np.array([MASS, 0.05, 0.02, 0.2, 0.03, 0, 0, 0.03, 0, 0.01])
FRICTION = ('viscous', 'coulomb', 'offset')
CHANGE = np.array([1.0, 0.7, 1.5, 1.2, 0.6, 1.9, 0.5])


@cache
def panda():
    arm = load_arm('panda')
    return replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))


def recorded(arm, *, loaded=False, seed=0, noise=1e-3, theta=None):
    """Record the arm with right gains; noise is coloured, by the torque of each joint."""
    if theta is None:
        theta = base_parameters(arm).grouping @ nominal_parameters(arm)
        theta = theta + load_columns(arm) @ LOAD if loaded else theta
    waves, rng = Waves.random(arm, seed=seed, lowest_hz=0.1), np.random.default_rng(seed)
    spread = true_torque(arm, waves, np.arange(500) / 20, theta).std(axis=0)
    return recording(arm, waves, theta, coloured(rng, SAMPLES, noise * spread, 0.9))


def with_gains(arm, factors):
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * factors))


def test_ratios_are_found_from_gains_that_are_stated_wrong():
    arm, log = panda(), recorded(panda())
    found = recorded_gains(with_gains(arm, CHANGE), [log], friction=FRICTION).logarithms
    error = found.value + np.log(CHANGE / CHANGE[found.reference])
    assert (found.std[:6] < 0.01).all()
    assert (np.abs(error) <= 4 * found.std).all()


def test_ratios_do_not_depend_on_the_gains_that_are_stated():
    arm, log = panda(), recorded(panda(), noise=0.02)
    right, wrong = (recorded_gains(with_gains(arm, factors), [log], friction=FRICTION).logarithms
                    for factors in (np.ones(7), CHANGE))
    wrong = wrong.relative_to(right.reference)
    difference = wrong.value + np.log(CHANGE / CHANGE[right.reference]) - right.value
    assert (np.abs(difference) < 0.05 * right.std + 1e-9).all()


def test_one_wrong_gain_is_refuted_and_the_others_agree():
    arm, factors = panda(), np.where(np.arange(7) == 2, 1 / 1.3, 1.0)
    found = recorded_gains(with_gains(arm, factors), [recorded(arm)], friction=FRICTION)
    assert found.verdicts[2] == REFUTED
    assert found.ratio[2] == pytest.approx(1.3, abs=4 * found.ratio_std[2])
    assert set(np.delete(found.verdicts, 2)) <= {REFERENCE_CODE, AGREES, ROUGH, NOT_DETERMINED}
    assert found.verdicts.count(REFERENCE_CODE) == 1
    np.testing.assert_array_equal(found.gain[~found.refuted], found.stated[~found.refuted])
    assert found.error_percent < found.stated_error_percent


def test_a_weighed_load_gives_the_gains_themselves():
    arm, logs = panda(), (recorded(panda(), seed=1), recorded(panda(), loaded=True, seed=2))
    found = recorded_gains(
        with_gains(arm, CHANGE), logs[:1], loaded=logs[1:], mass=MASS, friction=FRICTION)
    assert found.logarithms.reference is None
    assert (np.abs(found.logarithms.value + np.log(CHANGE)) < 4 * found.logarithms.std).all()
    assert (found.logarithms.std[:6] < 0.01).all()
    assert found.objection == ''


def test_motors_behind_a_transmission_that_couples_joints():
    arm = load_arm('tx40')
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))
    log = recorded(arm)
    log = replace(log, u=drive_signal(log.u, 0 * log.u, arm.drive))
    factors = np.array([1.0, 0.8, 1.3, 1.1, 0.7, 1.6])
    found = recorded_gains(with_gains(arm, factors), [log], friction=FRICTION).logarithms
    error = found.value + np.log(factors / factors[found.reference])
    # Relative to the third motor, whichever was the reference. The motion repeats, so that groups
    # are phases: without one of them, a fit knows less than without as much time.
    assert (found.relative_to(2).std[:3] < 0.05).all()
    assert (np.abs(error) <= 4 * found.std).all()


def test_a_joint_whose_torque_is_friction_alone_is_not_determined():
    arm = panda()
    links = arm.inertial.copy()
    links[-1] = 0.0
    light = replace(arm, inertial=links)
    theta = base_parameters(light).grouping @ nominal_parameters(light)
    found = recorded_gains(arm, [recorded(arm, theta=theta)], friction=FRICTION)
    assert found.verdicts[-1] == NOT_DETERMINED
    assert found.verdicts.count(NOT_DETERMINED) == 1
    assert REFUTING_STD < found.logarithms.std[-1] < 1.1 * GAIN_STD


def test_joints_that_share_no_inertia_determine_nothing():
    rng = np.random.default_rng(4)
    tree = random_arm(rng, 2, prismatic=False).with_tree(parent=np.array([-1, -1]))
    arm = replace(tree, conditioning=replace(tree.conditioning, cutoff_hz=5.0, delay=0.0))
    found = recorded_gains(arm, [recorded(arm)], friction=arm.friction)
    assert found.verdicts.count(NOT_DETERMINED) == 1
    # Stated inertias of the joint give its gain, and the recording nothing.
    assert not found.logarithms.from_data.any()
    assert 'determine no gain' in found.objection


def test_gains_are_the_most_probable_ones():
    rng = np.random.default_rng(7)
    arm = random_arm(rng, 3, prismatic=False, branched=False)
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=4.0, delay=0.0))
    log = recorded(arm, noise=0.05)
    settings = choose_conditioning(arm, [log])
    rows = KeptRows(arm, condition_recording(arm, log, settings), settings)
    base = suspect_of_fit(arm, rows)
    found = estimate_gains(base).logarithms
    known, size = arm_prior(arm).rows()[:, :-1], base_parameters(arm).count
    W, tau = (np.concatenate([getattr(block, name) for block in rows.blocks(arm)])
              for name in ('W', 'tau'))
    # Samples beside a reversal, in which noise decides the direction of friction, do not count.
    joints = [np.column_stack([W[own, joint], tau[own, joint]])
              for joint, own in enumerate(base.samples.moving.T)]
    counts = np.array([len(each) for each in joints])
    products = np.array([each.T @ each for each in joints])

    def cost(x):
        """Minus twice the log-posterior, the best parameters found in turn with the variances."""
        scale = np.concatenate([np.exp(-x)[:, None] * np.ones(size), np.ones((3, 1))], axis=1)
        scaled, variance = products * scale[:, :, None] * scale[:, None], np.ones(3)
        for _ in range(30):
            H = np.einsum('j,jab->ab', 1 / variance, scaled)
            theta = np.linalg.solve(H[:-1, :-1] + known.T @ known, H[:-1, -1])
            ends = np.append(theta, -1.0)
            variance = scaled @ ends @ ends / counts
        return counts @ np.log(variance) + ((known @ theta)**2).sum() + ((x / GAIN_STD)**2).sum()

    best = minimize(
        cost, np.zeros(3), method='Nelder-Mead', options={'xatol': 1e-6, 'fatol': 1e-6})
    expected = best.x - best.x[found.reference]
    assert (np.abs(found.value - expected) <= 0.03 * found.std).all()


@pytest.mark.parametrize('samples', [2000, 20_000])
def test_rows_are_left_out_where_a_joint_or_its_motor_turns_round(samples):
    arm, t = load_arm('tx40'), np.arange(samples) / 1000
    settings = ConditioningSettings(5.0, True, 'butterworth', 1000.0, 50)
    # Joint 5 stands still, so that motor 6 turns round with joint 6.
    q = np.column_stack([np.sin((2 + joint) * t) for joint in range(6)]) * [1, 1, 1, 1, 0, 1]
    qd = np.gradient(q, t, axis=0)
    every = np.ones(q.shape, dtype=bool)
    motion = ConditionedMotion(t, q, qd, qd, q, every, warmth_of(t, q))
    (found,) = without_reversals(arm, [motion], settings)
    for joint, acting in enumerate([0, 1, 2, 3, 5, 5]):
        turns = (np.arange(50) + 0.5) * np.pi / (2 + acting)
        near = np.abs(t[:, None] - turns[turns < t[-1]]).min(axis=1)
        assert not found.moving[near < 0.098, joint].any()
        assert found.moving[near > 0.102, joint].all()


def test_the_reference_is_a_joint_with_which_most_others_agree():
    value = np.array([0.4, 0.0, 0.01, -0.01])
    ratios = LogGains(value, np.diag([1e-4, 4e-4, 1e-4, 4e-4]), np.zeros((4, 4)), 3, np.ones(4))
    chosen = with_reference(ratios)
    assert chosen.reference == 2
    np.testing.assert_allclose(chosen.value, value - value[2], atol=1e-12)
    assert chosen.std[2] == 0


def test_a_loaded_recording_that_shows_no_load_is_an_error():
    arm, logs = panda(), (recorded(panda(), seed=1), recorded(panda(), seed=2))
    logs = [replace(log, source=f'walk_{k}.npz') for k, log in enumerate(logs)]
    with pytest.raises(RecordingError, match=(
            r'^walk_0\.npz, walk_1\.npz: the loaded recording does not show the mass of 2\.5 kg')):
        recorded_gains(arm, logs[:1], loaded=logs[1:], mass=MASS, friction=FRICTION)


def test_a_loaded_recording_of_an_arm_with_other_links_is_doubted():
    arm = panda()
    links = arm.inertial.copy()
    links[1:4] *= 2.0
    other = replace(arm, inertial=links)
    loaded = replace(recorded(other, loaded=True, seed=2), joint_names=arm.joint_names)
    found = recorded_gains(
        arm, [recorded(arm, seed=1)], loaded=[loaded], mass=MASS, friction=FRICTION)
    assert 'not of the same arm' in found.objection


@pytest.mark.parametrize('mass', [0.0, -2.0, np.nan, np.inf])
def test_a_mass_that_no_load_has_is_an_error(mass):
    with pytest.raises(InputError, match='mass must be a number above zero'):
        recorded_gains(panda(), [], mass=mass)


def test_a_mass_without_a_loaded_recording_is_an_error():
    with pytest.raises(InputError, match='belong together'):
        recorded_gains(panda(), [recorded(panda())], mass=2.0)


def test_an_arm_of_one_joint_is_an_error():
    arm = random_arm(np.random.default_rng(0), 1, prismatic=False)
    with pytest.raises(InputError, match='has one joint'):
        recorded_gains(arm, [recorded(arm)])
