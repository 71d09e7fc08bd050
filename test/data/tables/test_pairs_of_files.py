# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Positions in one file and drive signals in another one beside it."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.model import Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

JOINTS = ('pan', 'lift', 'elbow')
T = np.arange(40) / 100
Q, QD, TAU = np.random.default_rng(0).normal(size=(3, 40, 3))


@pytest.fixture(scope='module')
def arm():
    found = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return found.with_tree(joint_names=JOINTS)


def write(path, pattern, values, run=0):
    """Write a file of a run, of which the values differ from those of other runs."""
    names = ['t', *(pattern.format(k=k, j=JOINTS[k - 1]) for k in (1, 2, 3))]
    rows = [names, *np.column_stack([T, values + run]).tolist()]
    path.write_text('\n'.join(','.join(map(str, row)) for row in rows) + '\n')


def assert_run(log, run):
    np.testing.assert_array_equal(log.q, Q + run)
    np.testing.assert_array_equal(log.u, TAU + run)


@pytest.mark.parametrize('files', [
    ('q_run{}.csv', 'qd_run{}.csv', 'tau_run{}.csv'), ('q{}.csv', 'dq{}.csv', 'tau{}.csv'),
    ('PosRun{}.csv', 'VelRun{}.csv', 'TorqueRun{}.csv'),
    ('run{}_ang.csv', 'run{}_speed.csv', 'run{}_eff.csv')])
@pytest.mark.parametrize('names', [('{j}', '{j}', '{j}'), ('j{k}', 'j{k}', 'j{k}'),
                                   ('q{k}', 'qd{k}', 'tau{k}')])
def test_files_pair_by_what_their_names_share(tmp_path, arm, files, names):
    for run in (1, 2, 11):
        for file, pattern, values in zip(files, names, (Q, QD, TAU), strict=True):
            write(tmp_path / file.format(run), pattern, values, run)
    for run in (1, 11):
        assert_run(read_recording(tmp_path / files[0].format(run), arm), run)


@pytest.mark.parametrize('names', [('q{k}', 'tau{k}'), ('{j}', '{j}')])
def test_names_that_say_nothing_need_the_line_that_the_error_gives(tmp_path, arm, names):
    for run in (1, 11):
        write(tmp_path / f'encoder_{run}.csv', names[0], Q, run)
        write(tmp_path / f'sensor_{run}.csv', names[1], TAU, run)
    with pytest.raises(RecordingError, match=r"table: \{signal_file: 'sensor_\*\.csv'\}$"):
        read_recording(tmp_path / 'encoder_1.csv', arm)
    stated = replace(arm, table=Table(signal_file='sensor_*.csv'))
    for run in (1, 11):
        assert_run(read_recording(tmp_path / f'encoder_{run}.csv', stated), run)
    # The signals of another run would fit in number and time.
    (tmp_path / 'sensor_11.csv').unlink()
    with pytest.raises(RecordingError, match=r'lies no sensor_\*\.csv, .* part of "encoder_11"'):
        read_recording(tmp_path / 'encoder_11.csv', stated)


def test_signals_or_times_alone_say_what_is_missing(tmp_path, arm):
    write(tmp_path / 'tau_1.csv', 'tau{k}', TAU)
    with pytest.raises(RecordingError, match='holds drive signals alone; give the file of the po'):
        read_recording(tmp_path / 'tau_1.csv', arm)
    (tmp_path / 'times.csv').write_text('t\n0.0\n0.1\n0.2\n')
    with pytest.raises(RecordingError, match=r'no columns of position for .*; it has t; name'):
        read_recording(tmp_path / 'times.csv', arm)


ROWS = np.array([*Q[:-1], [1.0]], dtype=object)


@pytest.mark.parametrize(('name', 'save'), [
    ('log.npy', lambda path: np.save(path, np.array({'q': Q}, dtype=object), allow_pickle=True)),
    ('q.npy', lambda path: np.save(path, ROWS, allow_pickle=True)),
    ('a.npz', lambda path: np.savez(path, t=T, q=ROWS, tau=TAU))])
def test_pickled_arrays_are_named_as_such(tmp_path, arm, name, save):
    save(tmp_path / name)
    with pytest.raises(RecordingError, match=r'the array (log|q) holds Python objects \(pickled'):
        read_recording(tmp_path / name, arm)


def test_a_file_of_the_same_columns_is_another_recording(tmp_path, arm):
    names = ['t', *(f'{letter}{k}' for letter in 'qvz' for k in (1, 2, 3))]
    for run in (1, 2):
        rows = [names, *np.column_stack([T, Q, QD, TAU]).tolist()]
        (tmp_path / f'run{run}.csv').write_text(
            '\n'.join(','.join(map(str, row)) for row in rows) + '\n')
    with pytest.raises(RecordingError, match=r'run1\.csv has no columns of signal .* z1'):
        read_recording(tmp_path / 'run1.csv', arm)
