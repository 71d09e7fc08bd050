# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid payload`` as a user runs it."""

from dataclasses import replace
import json
from pathlib import Path
import re

from loaded_arms import arm_named, free_model, LOAD, recorded
import numpy as np
import pytest
import yaml

from dynid_ros.applications.export.payload_messages import payload_as_dict
from dynid_ros.applications.payload.estimate import estimate_payload
from dynid_ros.data.files.sidecar import arm_entry, write_sidecar
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.estimation.result_files.result_file import write_result
from dynid_ros.interface.answers.payload import payload_answer, payload_notes
from dynid_ros.interface.cli.main import main

ARM = arm_named()


def write(path, recording):
    np.savez(path, t=recording.t, q=recording.q, tau=recording.u)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Hold a model, and recordings with and without the load."""
    place = tmp_path_factory.mktemp('payload')
    write_result(free_model(), place / 'model')
    write(place / 'loaded.npz', recorded(ARM, LOAD, seed=1))
    write(place / 'free.npz', recorded(ARM, seed=3))
    write(place / 'slips.npz', recorded(
        ARM, LOAD, seed=2, after=LOAD + np.array([0, 0.08, *np.zeros(8)])))
    return place


def test_a_load_is_printed_with_messages_that_are_ready_to_send(folder, capsys):
    assert main(['payload', str(folder / 'loaded.npz'), '--model', str(folder / 'model'),
                 '--verbose']) == 0
    text = capsys.readouterr().out
    for word in ('mass ', 'centre x', 'Ixx about centre', 'torque error', 'wrist_3_joint',
                 'set_target_payload(', 'franka_msgs/srv/SetLoad', '<inertial>'):
        assert word in text
    line = next(line for line in text.splitlines() if line.startswith('franka_msgs/srv/SetLoad'))
    sent = yaml.safe_load(line.split(': ', 1)[1])
    assert abs(sent['mass'] - 2.0) < 0.02


def test_json_has_the_same_facts(folder, capsys):
    assert main(['payload', str(folder / 'loaded.npz'), '--model', str(folder / 'model'),
                 '--flange', '0', '0', '0', '0', '0', '1.5707963', '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['present'] and facts['trustworthy'] and facts['method'] == 'motion'
    assert abs(facts['mass'] - 2.0) < 0.02
    # Seen from a frame that is turned by a quarter about z.
    np.testing.assert_allclose(facts['center_of_mass'], [-0.03, -0.02, 0.08], atol=5e-3)
    assert facts['messages']['ur_set_payload']['mass'] == pytest.approx(facts['mass'], rel=1e-5)


def test_a_free_arm_gets_no_messages(folder, capsys):
    assert main(['payload', str(folder / 'free.npz'), '--model', str(folder / 'model')]) == 0
    text = capsys.readouterr().out
    value, half = re.match(r'No load: (.*) ± (.*) kg', text).groups()
    # Both to the second digit of the interval, in which zero lies.
    assert abs(float(value)) < 2 * float(half)
    assert len(value.partition('.')[2]) == len(half.partition('.')[2])
    assert 'set_target_payload' not in text


def test_a_load_that_slips_is_not_trustworthy(folder, capsys):
    assert main(['payload', str(folder / 'slips.npz'), '--model', str(folder / 'model')]) == 1
    text = capsys.readouterr().out
    assert 'changes or slips around' in text
    assert 'set_target_payload' not in text


def test_a_load_that_no_body_explains_is_an_error_without_a_number(folder, capsys, tmp_path):
    write(tmp_path / 'balanced.npz', recorded(ARM, LOAD, seed=1, balanced=(1,)))
    words = ['payload', str(tmp_path / 'balanced.npz'), '--model', str(folder / 'model')]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert 'No single body explains the torque of' in text
    assert 'mass' not in text and 'set_target_payload' not in text
    assert main([*words, '--json']) == 1
    assert json.loads(capsys.readouterr().out)['messages'] is None


def test_the_first_line_and_the_table_state_one_mass():
    found = estimate_payload(free_model(), [recorded(ARM, 0.3 * LOAD, seed=1, seconds=6.0)])
    # A body cannot have what the rows alone ask for.
    assert f'{found.masses["motion"][0]:.3f}' != f'{found.body.mass:.3f}'
    answer = payload_answer(found)
    first = re.match(r'A load of (.*) ± .* kg,', answer.line).group(1)
    ((_, value, *_),) = [row for row in answer.table if row[0] == 'mass']
    digits = min(len(each.partition('.')[2]) for each in (first, value.removesuffix(' kg')))
    assert digits >= 2
    assert f'{float(first):.{digits}f}' == f'{float(value.removesuffix(" kg")):.{digits}f}'
    assert payload_as_dict(found)['masses']['motion']['value'] == found.body.mass


def test_an_interval_that_is_wider_than_the_mass_is_no_comparison():
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=1)])
    for rests, told in (((15.5, 49.3), False), ((2.1, 0.1), True)):
        masses = {**found.masses, 'rests': rests}
        text = '\n'.join(payload_notes(replace(found, masses=masses), 'the tool'))
        assert ('from rests' in text) == told


@pytest.mark.parametrize('signal', ['effort', 'current'])
def test_a_load_by_gains_comes_with_what_its_intervals_leave_out(signal):
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=1)])
    arm = found.model.arm
    by_gains = replace(found, model=replace(found.model, arm=replace(
        arm, drive=replace(arm.drive, signal=signal))))
    text = '\n'.join(payload_notes(by_gains, 'the tool'))
    assert ('gains of the current' in text) == (signal == 'current')


def test_a_model_with_the_load_and_a_free_recording_are_refused(folder, capsys, tmp_path):
    model = free_model()
    write_result(replace(model, theta=model.theta + load_columns(model.arm) @ LOAD), tmp_path)
    assert main(['payload', str(folder / 'free.npz'), '--model', str(tmp_path)]) == 1
    assert 'less than in the recording of the model' in capsys.readouterr().out


def test_a_known_mass_and_a_session_are_stated_with_what_they_are_worth(folder, capsys, tmp_path):
    write(tmp_path / 'free.npz', recorded(ARM, seed=4))
    words = ['payload', str(folder / 'loaded.npz'), '--model', str(folder / 'model'),
             '--mass', '2', '--unloaded', str(tmp_path / 'free.npz')]
    assert main([*words, '--verbose']) == 0
    text = capsys.readouterr().out
    assert text.startswith('A load of 2.00 kg, as stated, its centre at ')
    factor = float(re.search(
        r'The known mass shrinks the 95 % interval of the centre by a factor of ([\d.]+), from ± '
        r'[\d.]+ to ± [\d.]+ mm', text).group(1))
    assert re.search(r'free\.npz without the load -?0\.0\d* ± ', text)
    for word in ('LOAD_DATA[1]={M 2.0,CM {X ', 'robot.setLoad(2.0, {{', 'transition_time=1.0',
                 'ur_msgs 3 and later', 'Desk'):
        assert word in text
    assert main([*words, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['known']['mass'] == 2.0 and facts['mass_std'] < 1e-9
    assert facts['known']['gain']['factor'] == pytest.approx(factor, rel=0.05) and factor > 1
    assert [each['loaded'] for each in facts['repeats']] == [False, True]
    assert main(['payload', str(folder / 'loaded.npz'), '--model', str(folder / 'model'),
                 '--link', 'hand']) == 2
    assert "no body 'hand'" in capsys.readouterr().err


def test_a_model_of_joints_at_rest_is_read_and_used(folder, capsys, tmp_path):
    write_result(free_model(still=(0, 3, 4, 5)), tmp_path)
    assert main(['payload', str(folder / 'loaded.npz'), '--model', str(tmp_path), '--json']) == 0
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert told.err == ''
    assert abs(facts['mass'] - 2.0) < 4.5 * facts['mass_std'] < 0.5


def test_wrong_use_gets_one_line(folder, capsys):
    loaded, model = str(folder / 'loaded.npz'), str(folder / 'model')
    cases = [
        ([loaded], 'give --model DIR, or --unloaded BAG with --arm ARM'),
        ([loaded, '--model', model, '--unloaded', loaded], 'with the load and without it'),
        ([loaded, '--unloaded', loaded], '--unloaded needs the arm'),
        ([loaded, '--model', model, '--arm', 'ur10'], '--arm is for --unloaded without --model'),
    ]
    for words, reason in cases:
        assert main(['payload', *words]) == 2
        told = capsys.readouterr().err
        assert reason in told and told.count('\n') == 1


def test_another_arm_or_drive_in_the_sidecar_is_refused(folder, capsys, tmp_path):
    write(tmp_path / 'log.npz', recorded(ARM, LOAD, seed=1))
    words = ['payload', str(tmp_path / 'log.npz'), '--model', str(folder / 'model')]
    entry = arm_entry(ARM)
    write_sidecar(Path(tmp_path), entry)
    assert main(words) == 0
    entry['arm']['drive']['gain'] = [2.0] * ARM.n
    write_sidecar(Path(tmp_path), entry)
    capsys.readouterr()
    assert main(words) == 2
    assert 'another drive.gain' in capsys.readouterr().err
    write_sidecar(Path(tmp_path), arm_entry(arm_named('two_axis')))
    assert main(words) == 2
    assert 'another joint_names' in capsys.readouterr().err


@pytest.mark.slow
def test_an_unloaded_recording_serves_instead_of_a_model(folder, capsys):
    assert main(['payload', str(folder / 'loaded.npz'), '--unloaded', str(folder / 'free.npz'),
                 '--arm', 'ur10', '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert abs(facts['mass'] - 2.0) < 0.04


def test_the_recording_of_the_model_is_no_recording_with_the_load(folder, capsys, tmp_path):
    write_result(replace(free_model(), sources=(str(folder / 'loaded.npz'),)), tmp_path)
    assert main(['payload', str(folder / 'loaded.npz'), '--model', str(tmp_path)]) == 2
    assert 'the model was fitted to' in capsys.readouterr().err


def test_a_replay_writes_the_live_load_and_its_course(folder, capsys, tmp_path):
    words = ['replay', str(folder / 'loaded.npz'), '--payload', str(folder / 'model')]
    assert main([*words, '-o', str(tmp_path / 'live')]) == 0
    assert 'set_target_payload(' in capsys.readouterr().out
    facts = json.loads((tmp_path / 'live' / 'payload.json').read_text())
    with np.load(tmp_path / 'live' / 'history.npz') as history:
        assert list(history['names'][:2]) == ['m', 'com.x']
        assert history['theta'][-1, 0] == facts['mass']
    assert abs(facts['mass'] - 2.0) < 0.02
    assert (tmp_path / 'live' / 'history.svg').exists()
    for more, reason in ((['--arm', 'ur10'], 'or --payload DIR alone'),
                         (['--memory', '5'], '--memory is not for --payload')):
        assert main([*words, '-o', str(tmp_path / 'no'), *more]) == 2
        assert reason in capsys.readouterr().err
