# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The replay of real recordings against the batch on the same part of them."""

from dataclasses import replace
import warnings

from estimates import without_suspects
import numpy as np
import pytest
from scipy.signal import lfilter
from synthetic_recordings import followed

from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recording
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.live import sensors_for


@pytest.mark.slow
@pytest.mark.parametrize('name', ['ur10', 'panda'])
def test_the_last_estimate_predicts_a_held_out_third_as_well_as_the_batch(shared_data, name):
    arm = load_arm(name)
    log = read_recording(shared_data / name / f'{name}_exciting_trajectory.db3', arm)
    log, _ = checked_recording(log, arm)
    train, unseen = split(log, 1 / 3)
    treatment = choose_conditioning(arm, [train])
    held_out = KeptRows(arm, condition_recording(arm, unseen, treatment), treatment)

    def error(theta):
        parts = held_out.predict(arm, theta, name, True)
        return metrics(arm.joint_names, parts).relative_error_percent

    fitted = KeptRows(arm, condition_recording(arm, train, treatment), treatment)
    batch = error(fit(arm, fitted).theta)
    # A given cut-off lets the history begin with the first rows.
    result, history = replay(arm, train, cutoff_hz=treatment.cutoff_hz)
    # The issue allows 3 %; the rows of both differ in their filters.
    assert error(result.theta) < 1.03 * batch
    assert error(history.theta[-1]) < 1.03 * batch
    assert history.theta.shape == history.std.shape == (len(history.t), len(result.theta))
    # Estimates are unconstrained until the result, which is the possible one nearest to them.
    assert result.possible
    first, last = (history.source[[0, -1]] == 'data').mean(axis=1)
    assert first < 0.5 < last
    # What was predicted before it was used is no better than what is fitted.
    assert result.fit.relative_error_percent < result.validation.relative_error_percent
    assert not [note for note in result.treatment.notes if 'sensor' in note]
    # Below the cut-off of the motion, 1.4 and 1.6 Hz, both were accused of a fault.
    assert result.treatment.cutoff_hz == 5.0
    assert result.verdict.trustworthy, result.verdict.reasons


@pytest.mark.slow
@pytest.mark.parametrize('name', ['ur10', 'panda'])
@without_suspects()
def test_a_replay_that_starts_from_a_batch_predicts_as_well_with_its_friction(shared_data, name):
    arm = load_arm(name)
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=3.0))
    log = read_recording(shared_data / name / f'{name}_exciting_trajectory.db3', arm)
    log, _ = checked_recording(log, arm)
    train, unseen = split(log, 1 / 3)
    friction = ('viscous', 'coulomb_smooth', 'offset', 'load')
    batch = identify(arm, [train], friction=friction, holdout=0.0)
    held_out = KeptRows(
        batch.arm, condition_recording(batch.arm, unseen, batch.treatment), batch.treatment)

    def error(theta):
        parts = held_out.predict(batch.arm, theta, name, True)
        return metrics(arm.joint_names, parts).relative_error_percent

    result, _ = replay(batch.arm, train, start=batch)
    assert result.arm.friction == friction
    assert result.treatment.cutoff_hz == 3.0 and result.treatment.delay == batch.treatment.delay
    # The rows of both differ in their filters, as in the test above; 0.3 and 2.5 % are measured.
    assert error(result.theta) < 1.05 * error(batch.theta)
    if name == 'ur10':
        # Friction by load is large here, and without a start early rows have that of the prior.
        unknown, _ = replay(batch.arm, train, cutoff_hz=3.0, delay=batch.treatment.delay)
        assert error(unknown.theta) < 1.05 * error(batch.theta)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'rate_hz'), [('two_axis', 250.0), ('panda', 125.0)])
@without_suspects()
def test_standard_deviations_are_those_of_the_batch_with_coloured_noise(name, rate_hz):
    arm = load_arm(name)
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0))
    motion = random_motion(arm, 3, periods=3)
    sensors = sensors_for(arm, motion)
    log = followed(arm, motion, rate_hz, seed=1, sensors=sensors)
    white = np.random.default_rng(2).normal(size=log.u.shape) * np.sqrt(1 - 0.97**2)
    noise = 5 * np.asarray(sensors.effort_noise) * lfilter([1.0], [1.0, -0.97], white, axis=0)
    log = replace(log, u=log.u + noise)
    batch = identify(arm, [log], friction=arm.friction, holdout=0.0)
    # Noise that matters: of the batch, white ones were clearly smaller.
    assert np.sqrt(batch.colour) > 1.4
    session = OnlineIdentifier(batch.arm, start=batch)
    session.take(log.t, log.q, log.u)
    session.flush()
    # The issue allows 10 %.
    assert np.median(session.estimate().std / batch.std) == pytest.approx(1.0, abs=0.1)
    if name == 'two_axis':
        result, _ = replay(batch.arm, log, start=batch)
        assert result.possible == batch.possible
        np.testing.assert_allclose(result.std, session.estimate().std, rtol=1e-9)


@pytest.mark.slow
@without_suspects()
def test_a_replay_that_ends_at_rest_is_judged_by_its_motion_and_kept(tmp_path):
    arm, rate = load_arm('two_axis'), 125.0
    log = followed(arm, random_motion(arm, 3, tries=20, periods=2), rate, seed=3)
    rest = len(log.t)
    waiting = replace(
        log, t=np.append(log.t, log.t[-1] + np.arange(1, rest + 1) / rate), qd=None,
        q=np.pad(log.q, ((0, rest), (0, 0)), mode='edge'),
        u=np.pad(log.u, ((0, rest), (0, 0)), mode='edge'))
    result, history = replay(arm, waiting)
    assert history.names == base_parameters(arm).names
    alone, _ = replay(arm, log)
    # The same rows but for some at the end.
    assert result.validation.relative_error_percent == pytest.approx(
        alone.validation.relative_error_percent, rel=0.2)
    assert not any('not validated' in reason for reason in result.verdict.reasons)
    write_result(result, tmp_path)
    back = read_result(tmp_path)
    np.testing.assert_array_equal(back.theta, result.theta)
    assert back.treatment.filter == 'causal'


@pytest.mark.slow
def test_a_drive_signal_of_two_levels_gives_no_warnings_of_numpy(shared_data, monkeypatch):
    # Further faults are sought as the first one is.
    monkeypatch.setattr('dynid_ros.estimation.suspects.table.MOST_FAULTS', 1)
    arm = load_arm('panda')
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    log = log.part(0, len(log.t) // 2)
    # Nearly all of it is zero, and the rest is left out as outliers.
    dead = log.u.copy()
    dead[:, 0] = np.ptp(dead[:, 0]) * np.round(dead[:, 0] / np.ptp(dead[:, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        result, _ = replay(arm, replace(log, u=dead), cutoff_hz=3.0)
    assert not result.verdict.trustworthy


def test_a_recording_shorter_than_its_filters_is_named(shared_data):
    arm = load_arm('panda')
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    with pytest.raises(RecordingError, match=r'panda_exciting_trajectory\.db3: .* too short'):
        replay(arm, log.part(0, 100), cutoff_hz=0.5)
