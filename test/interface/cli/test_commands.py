# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The command from end to end on a simulated arm: what it writes, prints and returns."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import subprocess
import sys

from estimates import without_suspects
import numpy as np
import pytest

from dynid_ros.arm.description.yaml_source import parse_yaml
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import build_parser, main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion

pytestmark = pytest.mark.slow

ARM = 'two_axis'
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys) -> Run:
    def run_command(*arguments: object) -> tuple[int, str]:
        status = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        assert told.err == '', told.err
        return status, told.out
    return run_command


@pytest.fixture(scope='module')
def bags(tmp_path_factory) -> tuple[Path, Path]:
    """Two recordings of the same arm on different motions."""
    folder = tmp_path_factory.mktemp('bags')
    made = folder / 'one', folder / 'two'
    for seed, bag in enumerate(made):
        assert main(simulating(bag, seed)) == 0
    return made


def simulating(bag: Path, seed: int) -> list[str]:
    """Words of a command that simulates a random motion of a third of the usual length."""
    motion, arm = bag.with_suffix('.yaml'), load_arm(ARM)
    write_motion(motion, random_motion(arm, seed, period=5.0, periods=2, tries=30), arm)
    return ['simulate', ARM, str(motion), '-o', str(bag), '--seed', str(seed)]


@pytest.fixture(scope='module')
def result(bags, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp('identified') / 'result'
    assert main(['identify', str(bags[0]), '--arm', ARM, '-o', str(folder)]) == 0
    return folder


def test_simulate_writes_a_bag_that_can_be_read_and_over_its_own_alone(bags, capsys):
    log = read_recording(bags[0], load_arm(ARM))
    assert log.seconds > 10 and log.q.shape[1] == 2
    assert not np.array_equal(log.u, read_recording(bags[1], load_arm(ARM)).u)
    (bags[0] / 'notes.txt').write_text('mine')
    assert main(simulating(bags[0], 0)) == 2
    assert 'exists already' in capsys.readouterr().err
    (bags[0] / 'notes.txt').unlink()
    assert main(simulating(bags[0], 0)) == 0
    np.testing.assert_array_equal(read_recording(bags[0], load_arm(ARM)).u, log.u)


def test_simulate_plants_the_links_and_the_friction_of_a_result(result, bags, tmp_path, run):
    run('simulate', result, bags[0].with_suffix('.yaml'), '-o', tmp_path / 'bag')
    stated = parse_yaml((tmp_path / 'bag' / 'recording.yaml').read_bytes())['arm']
    found = read_result(result).possible_arm
    np.testing.assert_array_equal(stated['inertial'], found.inertial)
    assert set(stated['friction_nominal']) == set(found.friction) >= {'viscous', 'coulomb'}
    for name, values in found.friction_nominal.items():
        np.testing.assert_array_equal(stated['friction_nominal'][name], values)
    with without_suspects():
        again = run('identify', tmp_path / 'bag', '--arm', ARM, '-o', tmp_path / 'again', '--json')
    assert json.loads(again[1])['validation']['relative_error_percent'] < 3


def test_check_finds_nothing_wrong_with_it(bags, run):
    status, told = run('check', bags[0], '--arm', ARM)
    assert status == 0
    assert told.startswith('Usable: ') and 'rror' not in told


def test_check_returns_1_for_a_recording_that_nothing_can_be_fitted_to(tmp_path, run):
    t = np.arange(2000) / 100
    q = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    np.savez(tmp_path / 'dead.npz', t=t, q=q, u=np.zeros_like(q))
    status, told = run('check', tmp_path / 'dead.npz', '--arm', ARM)
    assert status == 1
    assert 'Error effort_zero [arm_joint and pendulum_joint]: Each moves but' in told
    status, told = run('check', tmp_path / 'dead.npz', '--arm', ARM, '--json')
    defect = json.loads(told)['defects'][0]
    assert set(defect) >= {
        'code', 'severity', 'joint', 'count', 'first_stamp', 'value', 'threshold'}
    assert (status, defect['severity'], defect['joint']) == (1, 'error', 'arm_joint')


def test_identify_writes_result_and_report_and_the_truth_lies_in_its_error_bars(result):
    written = read_result(result)
    assert sorted(p.name for p in result.iterdir()) == [
        'prediction.npz', 'report.html', 'result.yaml']
    assert written.verdict.trustworthy
    assert written.validation.relative_error_percent < 15
    page = (result / 'report.html').read_text()
    assert ARM in page and 'pendulum_joint' in page
    assert len(written.theta) == base_parameters(written.arm).count


def test_json_has_the_promised_keys_and_nothing_else_is_printed(bags, tmp_path, run):
    status, told = run('identify', bags[0], '--arm', ARM, '-o', tmp_path / 'r', '--json',
                       '--friction', 'viscous,coulomb')
    seen = json.loads(told)
    assert status == 0
    assert seen['arm'] == ARM
    assert isinstance(seen['samples'], int) and seen['seconds'] > 5
    assert seen['parameters'] == {'base': 12, 'total': 24, 'from_prior': []}
    assert seen['condition_number'] > 1
    assert seen['fit']['relative_error_percent'] > 0
    assert seen['validation']['relative_error_percent'] > 0
    assert [set(joint) >= {'name', 'rmse', 'relative_error_percent', 'r2'}
            for joint in seen['validation']['joints']] == [True, True]
    assert isinstance(seen['defects'], list)
    assert set(seen['timing']) >= {'read', 'condition', 'regress', 'estimate', 'total'}
    parts = sum(seen['timing'][k] for k in ('read', 'condition', 'regress', 'estimate'))
    assert 0 < parts <= seen['timing']['total']


def test_json_without_validation_and_with_infinite_numbers_is_still_json(tmp_path, run):
    t = np.arange(3000) / 100
    q = np.stack([np.sin(2 * t), 1.0 + 0 * t], axis=1)
    u = np.stack([np.cos(3 * t), np.sin(t)], axis=1)
    np.savez(tmp_path / 'still.npz', t=t, q=q, u=u)
    status, told = run('identify', tmp_path / 'still.npz', '--arm', ARM, '-o', tmp_path / 'r',
                       '--json', '--holdout', '0', '--friction', 'viscous,coulomb')

    def refuse(constant):
        raise AssertionError(f'{constant} is not JSON')
    seen = json.loads(told, parse_constant=refuse)
    assert status == 1
    assert seen['validation'] is None
    assert seen['condition_number'] is None
    assert seen['fit']['joints'][1]['rmse'] is None
    assert seen['verdict']['trustworthy'] is False


def test_validate_carries_the_model_over_to_another_motion(result, bags, run):
    status, told = run('validate', result, bags[1])
    assert status == 0
    assert 'Confirmed: the model predicts this motion' in told
    status, told = run('validate', result, bags[1], '--json')
    seen = json.loads(told)
    assert status == 0 and seen['reasons'] == []
    assert [joint['name'] for joint in seen['validation']['joints']] == [
        'arm_joint', 'pendulum_joint']


def test_validate_states_the_error_at_other_bandwidths(result, bags, run):
    _, told = run('validate', result, bags[1], '--cutoff', '4', '8', '--json')
    seen = json.loads(told)
    assert [each['cutoff_hz'] for each in seen['bandwidths']] == [4, 8]
    assert all(0 < each['relative_error_percent'] < 25 for each in seen['bandwidths'])
    _, told = run('validate', result, bags[1], '--cutoff', '4', '8')
    assert told.count('the torque error is ') == 2
    error = seen['bandwidths'][0]['relative_error_percent']
    assert f'Below 4 Hz the torque error is {error:.2f} %.' in told


def test_validate_returns_1_where_the_model_does_not_carry_over(result, bags, tmp_path, run):
    log = read_recording(bags[1], load_arm(ARM))
    np.savez(tmp_path / 'other.npz', t=log.t, q=log.q, u=log.u[:, ::-1])
    status, told = run('validate', result, tmp_path / 'other.npz')
    assert status == 1
    assert '% on held-out data' in told


def test_report_is_written_again_as_it_was(result, run):
    page = result / 'report.html'
    before = page.read_text()
    page.unlink()
    status, told = run('report', result)
    assert status == 0 and str(page) in told
    assert page.read_text() == before


def test_other_recordings_may_be_fitted_together_and_validated_on(bags, tmp_path, run):
    status, told = run('identify', bags[0], '--arm', ARM, '-o', tmp_path / 'r', '--validate',
                       bags[1], '--cutoff', '6', '--friction', 'viscous,coulomb', '--json')
    seen = json.loads(told)
    assert status == 0
    assert seen['validation']['source'] == 'two'
    assert seen['conditioning']['cutoff_hz'] == 6
    assert seen['friction'] == ['viscous', 'coulomb']
    assert seen['samples'] == len(read_recording(bags[0], load_arm(ARM)).t)


@pytest.mark.parametrize(('command', 'option'), [
    ('identify', '--validate'), ('gains', '--loaded'), ('payload', '--unloaded')])
def test_second_recordings_are_taken_in_each_form_of_the_help(capsys, command, option):
    more = ['--arm', ARM, *(['-o', 'result'] if command == 'identify' else [])]
    for words in (['a', 'b', option, 'v', 'w', *more], [*more, 'a', 'b', option, 'v', 'w'],
                  ['a', 'b', option, 'v', *more, option, 'w'],
                  [option, 'v', 'w', *more, 'a', 'b']):
        found = vars(build_parser([command]).parse_args([command, *words]))
        assert [*map(str, found['recordings'])] == ['a', 'b']
        assert [*map(str, found[option.strip('-')])] == ['v', 'w']
    with pytest.raises(SystemExit):
        main([command, '--help'])
    told = ' '.join(capsys.readouterr().out.split())
    assert f'BAG ...] [{option} BAG [BAG ...]] [options]' in told


def test_help_names_every_command_and_the_exit_status(capsys):
    with pytest.raises(SystemExit) as caught:
        main(['--help'])
    told = capsys.readouterr().out
    assert caught.value.code == 0
    for command in ('identify', 'validate', 'check', 'report', 'simulate', 'Exit status'):
        assert command in told


def test_a_reader_that_leaves_early_causes_no_complaint(bags):
    with subprocess.Popen(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'check', str(bags[0]), '--arm',
         ARM],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ''
    assert process.returncode == 141


def test_the_core_is_imported_without_what_identify_does_not_need():
    code = ('import sys; from dynid_ros.interface.cli.main import main; '
            'from dynid_ros.arm import load_arm; load_arm("panda"); '
            'late = ("mujoco", "matplotlib", "rclpy", "scipy.optimize"); '
            'print([module for module in late if module in sys.modules])')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout == '[]\n'
