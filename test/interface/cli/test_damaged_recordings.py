# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings with few wrong stamps or rows give the result of their good samples."""

from __future__ import annotations

import json
from pathlib import Path
import shutil

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

import dynid_ros as dyn
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.interface.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('figures_alone')]

ARM = 'two_axis'
GAIN = np.array([0.0897 * 1.5, 0.0551])
TERMS = 'viscous,coulomb'
#: What `dynid identify` and `dynid replay` call, without their files and pictures.
LEARNED = {'identify': lambda path: dyn.identify(ARM, path, friction=TERMS),
           'replay': lambda path: dyn.replay(ARM, path).model}


@pytest.fixture(scope='module')
def log():
    arm = load_arm(ARM)
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 1e-3 * np.random.default_rng(0).normal(size=(3000, arm.n))
    return recording(arm, Waves.random(arm, seed=1), theta, noise)


def saved(path: Path, log, t, keep=slice(None)) -> Path:
    # The signal of this arm is a voltage.
    np.savez(path, t=t[keep], q=log.q[keep], u=log.u[keep] / GAIN)
    return path


def run(capsys, *arguments) -> tuple[int, dict, str]:
    status = main([*map(str, arguments), '--json'])
    told = capsys.readouterr()
    return status, json.loads(told.out or '{}'), told.err


@pytest.mark.parametrize('wrong', [
    {-1: 1e9}, {-1: 1e18}, {1234: 3600.0}, {700: np.inf, 800: np.nan}, {1000: -1e12, 1001: 1e12}])
def test_wrong_stamps_leave_the_good_samples(wrong, log, tmp_path, capsys):
    bad, good = with_wrong_stamps(wrong, log, tmp_path)
    status, told, _ = run(capsys, 'check', bad, '--arm', ARM)
    assert status == 0
    assert told['seconds'] == pytest.approx(30.0, abs=0.1)
    assert {d['code']: d['count'] for d in told['defects']}['stamps_far_off'] == len(wrong)
    arm = load_arm(ARM)
    left, right = (checked_recording(read_recording(path, arm), arm)[0] for path in (bad, good))
    for name in ('t', 'q', 'u'):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def with_wrong_stamps(wrong, log, folder) -> tuple[Path, Path]:
    """Save a recording with wrong stamps, and one without those samples under the same name."""
    t = log.t.copy()
    t[list(wrong)] = list(wrong.values())
    (folder / 'good').mkdir(parents=True)
    return saved(folder / 'log.npz', log, t), saved(
        folder / 'good' / 'log.npz', log, log.t, np.delete(np.arange(len(t)), list(wrong)))


@pytest.mark.parametrize('learn', LEARNED.values(), ids=LEARNED)
def test_wrong_stamps_give_the_result_of_the_good_samples(learn, log, tmp_path):
    first, second = (learn(path) for path in with_wrong_stamps(
        {700: np.inf, 1000: -1e12, -1: 1e18}, log, tmp_path))
    np.testing.assert_array_equal(first.theta, second.theta)
    assert first.validation == second.validation
    assert first.seconds == second.seconds


@pytest.mark.parametrize('step', [7200.0, -7200.0, 1e9])
@pytest.mark.parametrize('learn', LEARNED.values(), ids=LEARNED)
def test_a_clock_that_is_set_changes_the_result_at_one_place_only(learn, step, log, tmp_path):
    t = log.t + np.where(log.t >= 14, step, 0.0)
    model = learn(saved(tmp_path / 'log.npz', log, t))
    # Noise of 1e-3 Nm, of 0.1 Nm or so.
    assert model.validation.relative_error_percent < 5
    assert model.seconds < 40
    assert 'clock_set' in [defect.code for defect in model.defects]


def test_corrupt_lines_of_a_table_do_not_cost_the_others(log, tmp_path, capsys):
    header = 't,q_0,q_1,u_0,u_1'
    rows = np.column_stack([log.t, log.q, log.u / GAIN])
    lines = [','.join(map(repr, row)) for row in rows.tolist()]
    places = np.random.default_rng(3).choice(len(lines), 9, replace=False)
    for k, damage in zip(places, ['x', '1e7', '-5e8', '', '\x00', '1,2', '9' * 30, 'nan', 'q'],
                         strict=True):
        lines[k] = damage + lines[k][lines[k].index(','):]
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join([header, *lines]) + '\n')
    status, told, _ = run(capsys, 'check', path, '--arm', ARM)
    found = {d['code']: d for d in told['defects']}
    assert status == 0
    assert found['rows_unreadable']['count'] == 5
    assert found['stamps_far_off']['count'] == 4
    assert 'stamps_backwards' not in found


def test_lost_values_and_rows_hardly_cost_accuracy(log, tmp_path, capsys):
    rng = np.random.default_rng(5)
    q, u = log.q.copy(), log.u / GAIN
    np.savez(tmp_path / 'good.npz', t=log.t, q=q, u=u)
    lost = rng.random((2, len(q))) < 0.03
    q[lost[0], 0] = u[lost[1], 1] = np.nan
    for first in rng.integers(0, len(q) - 30, 3):
        u[first:first + 30, 0] = np.nan
    there = rng.random(len(q)) < 0.96
    np.savez(tmp_path / 'lossy.npz', t=log.t[there], q=q[there], u=u[there])
    status, told, _ = run(capsys, 'check', tmp_path / 'lossy.npz', '--arm', ARM)
    assert status == 0
    assert [d['severity'] for d in told['defects'] if d['code'].endswith('nan')] == 3 * ['warning']
    models = {(command, name): learn(tmp_path / f'{name}.npz')
              for command, learn in LEARNED.items() for name in ('good', 'lossy')}
    assert all(model.verdict.trustworthy for model in models.values())
    errors = {key: model.validation.relative_error_percent for key, model in models.items()}
    for name in ('good', 'lossy'):
        errors['validate', name] = dyn.validate(
            models['identify', 'good'], tmp_path / f'{name}.npz').relative_error_percent
    # White noise is all that these errors hold. A spline makes it up to three times as large
    # within a loss, and a tenth of the samples is lost: (0.9 + 0.1 * 9)**0.5 is 1.34.
    for command in ('identify', 'replay', 'validate'):
        assert errors[command, 'lossy'] < 1.4 * errors[command, 'good']


def test_the_same_samples_do_not_validate_under_another_name(log, tmp_path, capsys):
    bag = tmp_path / 'one'
    write_joint_states(bag, log.joint_names, log.t, log.q, None, log.u / GAIN)
    (inside,) = [f for f in bag.iterdir() if f.suffix in ('.mcap', '.db3')]
    copy = Path(shutil.copytree(bag, tmp_path / 'copy'))
    result = tmp_path / 'result'
    capsys.readouterr()
    for other in (inside, copy):
        status, _, error = run(capsys, 'identify', bag, '--arm', ARM, '-o', result,
                               '--validate', other, '--friction', TERMS)
        assert status == 2 and not result.exists()
        assert str(bag) in error and str(other) in error and error.count('\n') == 1
        assert 'use samples once' in error
    assert main(['identify', str(bag), '--arm', ARM, '-o', str(result),
                 '--friction', TERMS]) == 0
    capsys.readouterr()
    for other in (bag, inside, copy):
        status, told, _ = run(capsys, 'validate', result, other)
        assert status == 1
        assert 'was fitted to' in told['reasons'][0] and str(other) in told['reasons'][0]
