# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The floor beside an error: what an arm does not repeat, and nothing that it repeats."""

from dataclasses import replace
import re

import numpy as np
import pytest
from synthetic_recordings import true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.filters import butterworth
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recording,
)
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.repeatability import unrepeated_torque
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.model.verdict_words import headline, notes
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.pages.report.page import write_report

RATE = 125.0
#: Between two samples at the rate above, and two rows of a fit.
LOWEST_HZ = 1 / 7.3131
#: White, Nm.
NOISE = np.array([0.02, 0.005])
CUTOFFS = (1.0, 5.0, None)


@pytest.fixture(scope='module')
def arm():
    known = load_arm('two_axis')
    return replace(known, drive=Drive.joint_torque(2), friction=('viscous', 'coulomb'),
                   conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def log_of(arm, seconds=30.0, lacking=0.0, lowest_hz=LOWEST_HZ, seed=3):
    """Record an arm with noise, and with torque that repeats and no model of it has."""
    waves = Waves.random(arm, 1, lowest_hz)
    t = np.arange(round(seconds * RATE)) / RATE
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    q = waves.at(t)[0]
    tau = true_torque(arm, waves, t, theta) + lacking * np.sin(7 * q)
    tau += NOISE * np.random.default_rng(seed).normal(size=q.shape)
    return Recording(t, q, tau, arm.joint_names, source='log.npz')


@pytest.fixture(scope='module')
def repeated(arm):
    return identify(arm, [log_of(arm)], friction=arm.friction)


def floor_of(arm, log, theta=None):
    theta = base_parameters(arm).grouping @ nominal_parameters(arm) if theta is None else theta
    clean, _ = checked_recording(log, arm)
    settings = choose_conditioning(arm, [clean])
    return unrepeated_torque(arm, theta, condition_recording(arm, clean, settings), CUTOFFS)


@pytest.mark.parametrize('lacking', [0.0, 0.1])
@pytest.mark.parametrize('known', [1.0, 0.8])
def test_it_is_the_noise_whatever_the_model_lacks(arm, lacking, known):
    theta = known * base_parameters(arm).grouping @ nominal_parameters(arm)
    found = floor_of(arm, log_of(arm, lacking=lacking), theta)
    long = NOISE * np.random.default_rng(0).normal(size=(100_000, 2))
    for cutoff in CUTOFFS:
        true = long.std(axis=0) if cutoff is None else butterworth(long, RATE, cutoff).std(axis=0)
        # Some fifty independent values below 1 Hz, more above.
        np.testing.assert_allclose(found[cutoff], true, rtol=0.25 if cutoff == 1.0 else 0.1)


def test_a_joint_at_rest_has_none_and_spoils_none(arm):
    log = log_of(arm)
    still = log.q.copy()
    still[:, 0] = 0.3
    found = floor_of(arm, replace(log, q=still))
    assert np.isnan(found[5.0][0]) and np.isfinite(found[5.0][1])


def test_a_motion_that_is_run_once_has_none(arm):
    assert floor_of(arm, log_of(arm, lowest_hz=1 / 33)) == {}


def test_the_summary_states_it_beside_an_error_that_no_other_motion_tells(repeated):
    result = repeated
    assert result.repeats and result.verdict.trustworthy
    assert headline(result).startswith('Not validated by another motion: the model predicts the')
    assert any(note.startswith('The arm itself does not repeat') for note in notes(result))
    # All that is wrong with this model is noise, which is the floor.
    percent = 100 * np.array(result.unrepeated) / [
        100 * joint.rmse / joint.relative_error_percent for joint in result.validation.joints]
    errors = [joint.relative_error_percent for joint in result.validation.joints]
    np.testing.assert_allclose(percent, errors, rtol=0.25)
    by_cutoff = {each.cutoff_hz: each for each in result.error_by_bandwidth}
    for cutoff in (5.0, 10.0, None):
        assert by_cutoff[cutoff].unrepeated_percent == pytest.approx(
            by_cutoff[cutoff].error_percent, rel=0.25)


def test_the_report_and_the_file_say_so_too(repeated, tmp_path):
    write_report(repeated, tmp_path / 'report.html')
    page = (tmp_path / 'report.html').read_text()
    for words in ('Not validated by another motion: the model predicts the fitted motion again',
                  'The arm itself does not repeat', 'not repeated by the arm',
                  'Relative error, held-out (repeats the fitted motion)'):
        assert words in page
    write_result(repeated, tmp_path)
    read = read_result(tmp_path)
    assert read.unrepeated == repeated.unrepeated
    assert read.repeats and read.error_by_bandwidth == repeated.error_by_bandwidth
    file = tmp_path / 'result.yaml'
    older = re.sub(r'(?m)^(repeats|unrepeated):.*\n', '', file.read_text())
    older = re.sub(r', unrepeated_percent: [^,}]*', '', older)
    assert 'repeated:' not in older and 'unrepeated' not in older
    file.write_text(older)
    read = read_result(tmp_path)
    assert (read.repeats, read.unrepeated) == (False, None)
    assert {each.unrepeated_percent for each in read.error_by_bandwidth} == {None}


@pytest.mark.parametrize(('lowest_hz', 'same'), [(LOWEST_HZ, True), (1 / 9, False)])
def test_a_later_recording_of_the_same_motion_is_told(arm, repeated, lowest_hz, same):
    later = replace(log_of(arm, 20.0, lowest_hz=lowest_hz, seed=4), source='later.npz')
    found, _ = validate(repeated, later)
    assert found.held_out
    assert found.source == 'later.npz' + same * ' (repeats the fitted motion)'


def test_another_motion_of_its_own_needs_no_remark(arm):
    other = replace(log_of(arm, lowest_hz=1 / 9), source='other.npz')
    result = identify(arm, [log_of(arm)], validation=[other], friction=arm.friction)
    assert not result.repeats and headline(result).startswith(
        'Trustworthy: predicts torque on another motion')
    assert any('does not repeat' in note for note in notes(result))
    once = identify(arm, [log_of(arm, lowest_hz=1 / 33)], friction=arm.friction)
    assert once.unrepeated is None and not any('not repeat' in note for note in notes(once))
