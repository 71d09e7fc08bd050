# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What predicts samples that were not fitted, against what was planted and against real arms."""

from dataclasses import replace
from types import SimpleNamespace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recordings
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.chosen_estimate import excess
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split

RATE = 200.0
NOISE = 0.05


def log_of(seconds=60.0):
    """Make torque with white noise."""
    arm = replace(load_arm('two_axis'), drive=Drive.joint_torque(2),
                  conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))
    t = np.arange(round(seconds * RATE)) / RATE
    q, qd, qdd = Waves.random(arm, 1).at(t)
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    noise = NOISE * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    tau += noise
    return arm, Recording(t, q, tau, arm.joint_names, source='drift.npz')


def test_bodies_that_no_arm_has_are_refuted_by_groups_that_were_not_fitted():
    arm, log = log_of()
    # The torque of a first link that is lighter than nothing.
    q, qd, qdd = Waves.random(arm, 1).at(log.t)
    theta = nominal_parameters(arm)
    theta[arm.layout.all_inertial().reshape(arm.n, -1)[:, 4:]] *= -1.0
    wrong = replace(log, u=regressor(arm, q, qd, qdd) @ theta)
    good, bad = (identify(arm, [each], friction=arm.friction, holdout=0.0)
                 for each in (log, wrong))
    assert good.possible and not bad.possible
    assert 'impossible' not in {each.code for each in good.verdict.findings}
    # A suspect may explain some of it, and then comes first.
    assert not bad.verdict.trustworthy


@without_suspects()
def test_bands_hold_the_torque_of_a_motion_that_was_not_fitted():
    arm, log = log_of()
    model = identify(arm, [log], friction=arm.friction, holdout=0.0)
    t = np.arange(2000) / RATE
    q, qd, qdd = Waves.random(arm, 2).at(t)
    true = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    std = model.torque_std(q, qd, qdd)
    # The noise that the low-pass leaves is most of it; the parameters are far surer.
    assert (np.abs(model.predict_torque(q, qd, qdd) - true) < 0.5 * std).mean() > 0.99
    np.testing.assert_allclose(model.torque_std(q[3], qd[3], qdd[3]), std[3])
    assert (std >= model.sigma).all() and (std < 1.1 * model.sigma).all()
    with pytest.raises(InputError, match='same number of rows'):
        model.torque_std(q, qd[:5], qdd)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'file', 'share', 'cutoff'), [
    ('ur10', 'ur10/ur10_exciting_trajectory.db3', 1 / 3, 5.0),
    ('panda', 'panda/panda_exciting_trajectory.db3', 1 / 3, 5.0),
    ('tx40', 'tx40/pos_read_data.csv', 1 / 2, 10.0)])
@without_suspects()
def test_bands_of_real_arms_hold_nine_held_out_samples_of_ten(
        shared_data, name, file, share, cutoff):
    arm = load_arm(name)
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=cutoff))
    log, _ = checked_recording(read_recording(shared_data / file, arm), arm)
    model = identify(arm, [log], holdout=share)
    _, rest = split(log, share)
    (motion,) = condition_recordings(model.arm, [rest], model.treatment)
    part = next(part for part in model.predictions if part.held_out)
    at = np.searchsorted(motion.t, part.t)
    std = model.torque_std(motion.q[at], motion.qd[at], motion.qdd[at],
                           history=motion.history(slice(None)).part(at))
    moving = np.isfinite(part.tau)
    inside = np.abs(part.tau - part.tau_hat)[moving] < 1.96 * std[moving]
    # Measured 98, 97 and 94 %.
    assert 0.90 <= inside.mean() <= 0.985


def excess_of(errors):
    """Judge possible parameters that make an error, by that of the noise, in each group."""
    arm, rng = load_arm('two_axis'), np.random.default_rng(0)
    prior, noise = arm_prior(arm), 0.05
    W = random_regressor(arm)[:, base_parameters(arm).columns].reshape(-1, arm.n, len(prior.theta))
    tau = W @ prior.theta
    sigma = noise * tau.std(axis=0)
    rows = np.concatenate(
        [W, (tau + sigma * rng.normal(size=tau.shape))[:, :, None]], axis=2).transpose(1, 0, 2)
    parts = [QRFactors(part, np.full(arm.n, part.shape[1]))
             for part in np.array_split(rows, len(errors), axis=1)]
    factors = iter(errors)

    def constrained_fit(_wide, _information, _score):
        # All torque too large, by so many times the noise.
        return (1 + next(factors) * noise) * prior.values

    return excess(parts, prior, SimpleNamespace(constrained_fit=constrained_fit))


def test_possible_parameters_that_predict_worse_in_all_groups_are_refuted_by_their_ratio():
    assert excess_of([0.0] * 10) == 1
    # Their error beside that of the noise makes 5 and 36 % more than unconstrained ones leave.
    assert 1.02 < excess_of([0.45] * 10) < 1.1
    assert 1.2 < excess_of([1.0] * 10) < 1.5


def test_one_group_that_is_predicted_badly_is_chance():
    assert excess_of([20.0] + 9 * [0.0]) == 1
    assert excess_of(5 * [20.0] + 5 * [0.0]) > 3
