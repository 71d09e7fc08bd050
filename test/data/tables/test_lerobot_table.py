# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Data sets of LeRobot are read as they lie on a disk."""

from dataclasses import replace
import json
from pathlib import Path
import re
import sys

import numpy as np
from oracles import random_arm
import pyarrow
from pyarrow import parquet
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.model import Table
from dynid_ros.data.files.conversion import convert
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean
from dynid_ros.errors import ArmError, RecordingError
from dynid_ros.interface.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
FPS = 30
NAMES = ('shoulder_pan', 'elbow_flex', 'wrist_roll')
#: Samples of three episodes.
LENGTHS = (70, 90, 80)
#: Names of features as versions wrote them.
FORMS = {
    'list': [f'{name}.pos' for name in (*NAMES, 'gripper')],
    'motors': {'motors': [f'main_{name}' for name in (*NAMES, 'gripper')]},
    'unnamed': None,
}


def arm_of(unit='deg', **table):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False).with_tree(joint_names=NAMES)
    limits = replace(
        arm.limits, lower=np.array([-1.0, -2.0, 0.0]), upper=np.array([3.0, 1.0, 1.0]))
    drive = replace(Drive.joint_torque(3), signal='command')
    return replace(arm, drive=drive, limits=limits, table=Table(unit=unit, **table))


def episodes():
    """Positions and commands of three joints and a gripper."""
    rng = np.random.default_rng(1)
    return [rng.uniform(-90, 90, (2, count, 4)).astype(np.float32) for count in LENGTHS]


def info(names, version, **changes):
    feature = {'dtype': 'float32', 'shape': [4], 'names': names}
    return {'codebase_version': version, 'fps': FPS, 'features': {
        'observation.state': feature, 'action': feature,
        'observation.images.top': {'dtype': 'video', 'shape': [480, 640, 3]}}, **changes}


def table_of(numbers, data):
    """Rows of some episodes in the columns of a data set, among others."""
    frames = [np.arange(len(data[k][0])) for k in numbers]
    episode = np.concatenate([np.full(len(data[k][0]), k) for k in numbers])
    frame = np.concatenate(frames)
    states, actions = (np.concatenate([data[k][which] for k in numbers]) for which in (0, 1))
    lists = pyarrow.list_(pyarrow.float32(), 4)
    return pyarrow.table({
        'observation.state': pyarrow.array(list(states), lists),
        'action': pyarrow.array(list(actions), pyarrow.list_(pyarrow.float32())),
        'timestamp': (frame / FPS).astype(np.float32), 'frame_index': frame,
        'episode_index': episode, 'index': np.arange(len(frame)),
        'task_index': np.zeros(len(frame), dtype=np.int64)})


def write(folder, version, names='list', **changes):
    data = episodes()
    chunk = folder / 'data' / 'chunk-000'
    chunk.mkdir(parents=True)
    (folder / 'meta').mkdir()
    (folder / 'meta' / 'info.json').write_text(json.dumps(info(FORMS[names], version, **changes)))
    if version == 'v3.0':
        parquet.write_table(table_of([0, 1], data), chunk / 'file-000.parquet')
        parquet.write_table(table_of([2], data), chunk / 'file-001.parquet')
    else:
        for k in range(len(data)):
            parquet.write_table(table_of([k], data), chunk / f'episode_{k:06d}.parquet')
    return folder, data


@pytest.mark.parametrize('version', ['v2.0', 'v2.1', 'v3.0'])
@pytest.mark.parametrize('names', ['list', 'motors'])
def test_all_episodes_are_read_with_a_gap_between_them(tmp_path, version, names):
    folder, data = write(tmp_path / 'set', version, names)
    log = read_recording(folder, arm_of())
    assert log.signal == 'command' and log.joint_names == NAMES
    for which, values in ((0, log.q), (1, log.u)):
        expected = np.concatenate([each[which] for each in data])[:, :3]
        np.testing.assert_allclose(values, np.deg2rad(expected), rtol=1e-6)
    steps = np.diff(log.t)
    pauses = np.cumsum(LENGTHS)[:-1] - 1
    np.testing.assert_allclose(np.delete(steps, pauses), 1 / FPS)
    assert (steps[pauses] > 0.5).all()
    assert [(d.code, d.count) for d in log.defects if d.code == 'episodes'] == [('episodes', 3)]


@pytest.mark.parametrize('version', ['v2.1', 'v3.0'])
def test_one_episode_is_read_alone(tmp_path, version):
    folder, data = write(tmp_path / 'set', version)
    for path in (folder / 'episode_000001', folder / 'episode_000001.parquet'):
        log = read_recording(path, arm_of())
        np.testing.assert_allclose(log.q, np.deg2rad(data[1][0][:, :3]), rtol=1e-6)
        np.testing.assert_allclose(log.t, np.arange(90) / FPS)
    with pytest.raises(RecordingError, match='episode_000007 holds no such episode'):
        read_recording(folder / 'episode_000007', arm_of())


def test_a_pyarrow_that_does_not_fit_numpy_ends_in_one_sentence(tmp_path, monkeypatch, capsys):
    joints = {'dtype': 'float32', 'shape': [2], 'names': ['arm_joint', 'pendulum_joint']}
    folder, _ = write(tmp_path / 'set', 'v3.0',
                      features={'observation.state': joints, 'action': joints})
    text = (ROOT / 'config/arms/two_axis/arm.yaml').read_text()
    arm = tmp_path / 'arm.yaml'
    arm.write_text(re.sub(r'signal: voltage\n.*\n.*\n', 'signal: command\n', text)
                   + 'table: {unit: rad}\n')
    # As pyarrow 26 does beside the NumPy of Ubuntu 24.04.
    (tmp_path / 'pyarrow.py').write_text("raise ImportError('pyarrow requires NumPy 2.0')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition('.')[0] == 'pyarrow']:
        monkeypatch.delitem(sys.modules, name)
    status = main(['check', str(folder), '--arm', str(arm)])
    told = capsys.readouterr().err
    assert status == 2 and 'pyarrow requires NumPy 2.0; install versions that fit' in told


def test_a_parquet_file_is_read_alone(tmp_path):
    folder, data = write(tmp_path / 'set', 'v3.0')
    log = read_recording(folder / 'data' / 'chunk-000' / 'file-001.parquet', arm_of())
    np.testing.assert_allclose(log.u, np.deg2rad(data[2][1][:, :3]), rtol=1e-6)


def test_per_cent_are_of_the_range_of_a_joint(tmp_path):
    folder, data = write(tmp_path / 'set', 'v3.0')
    arm = arm_of('percent')
    log = read_recording(folder, arm)
    # From -100 at the lower limit to 100 at the upper one.
    lower, upper = arm.limits.lower, arm.limits.upper
    share = (np.concatenate([each[0] for each in data])[:, :3] + 100) / 200
    np.testing.assert_allclose(log.q, lower + share * (upper - lower), rtol=1e-5, atol=1e-6)
    endless = replace(arm, limits=replace(arm.limits, upper=np.array([3.0, np.inf, 1.0])))
    with pytest.raises(ArmError, match="'elbow_flex' has no position limits"):
        read_recording(folder, endless)


def test_joints_without_names_count(tmp_path):
    folder, data = write(tmp_path / 'set', 'v2.1', 'unnamed')
    table = {'position': tuple(f'joint_{k}.position' for k in (2, 1, 0)),
             'signal': tuple(f'joint_{k}.command' for k in (2, 1, 0))}
    log = read_recording(folder, arm_of(**table))
    np.testing.assert_allclose(
        log.q, np.deg2rad(np.concatenate([each[0] for each in data])[:, 2::-1]), rtol=1e-6)


def test_commands_do_not_become_efforts_of_a_bag(tmp_path):
    folder, _ = write(tmp_path / 'set', 'v2.1')
    with pytest.raises(RecordingError, match='commands, and joint states of a bag hold none'):
        convert(folder, tmp_path / 'bag', arm_of())
    assert not (tmp_path / 'bag').exists()


def test_deviations_are_commands_less_positions(tmp_path):
    folder, data = write(tmp_path / 'set', 'v2.1')
    arm = arm_of()
    cleaned = clean(read_recording(folder / 'episode_000002', arm), arm)
    state, action = (np.deg2rad(each[:, :3]) for each in data[2])
    assert cleaned.signal == 'deviation'
    np.testing.assert_allclose(cleaned.u, action - state, atol=1e-6)


@pytest.mark.parametrize(('changes', 'words'), [
    ({'features': {'action': {'shape': [4], 'names': None}}}, 'has no feature observation.state'),
    ({'fps': 0}, 'states a rate of 0 Hz'),
    ({'fps': None}, 'describes no data set of LeRobot 2 or 3'),
    ({'features': None}, 'describes no data set of LeRobot 2 or 3'),
])
def test_wrong_descriptions_are_named(tmp_path, changes, words):
    folder, _ = write(tmp_path / 'set', 'v2.1', **changes)
    with pytest.raises(RecordingError, match=words):
        read_recording(folder, arm_of())


def test_damaged_files_missing_units_and_missing_torque_are_named(tmp_path):
    folder, _ = write(tmp_path / 'set', 'v3.0')
    with pytest.raises(RecordingError, match=r'table: \{unit: ...\}, as one of rad, deg, percent'):
        read_recording(folder, arm_of(None))
    arm = arm_of()
    sensed = replace(arm, drive=replace(arm.drive, signal='effort'))
    with pytest.raises(RecordingError, match=r'no columns of signal.*drive: \{signal: command\}'):
        read_recording(folder, sensed)
    broken = folder / 'data' / 'chunk-000' / 'file-000.parquet'
    broken.write_bytes(broken.read_bytes()[:-100])
    with pytest.raises(RecordingError, match=r'file-000\.parquet is no readable part'):
        read_recording(folder, arm)
