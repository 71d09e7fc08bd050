# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bad input: exit status 2, one clear line, nothing written, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest
from rosbags.rosbag2 import Writer
from rosbags.typesys import get_typestore, Stores
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.joint_state_cdr import encode
from dynid_ros.interface.cli.main import main

RATE, SAMPLES = 100.0, 1500
NAMES = load_arm('ur10').joint_names
# Stamps in a bag are those of a clock that was set.
T = 1e9 + np.arange(SAMPLES) / RATE
Q = np.stack([np.sin((1 + 0.3 * j) * (T - T[0]) + j) for j in range(6)], axis=1)
TAU = 20 * np.cos(Q) + Q


def bag(folder: Path, t=T, q=Q, tau=TAU, names=NAMES, topic='/joint_states') -> Path:
    """Write a bag with any header stamps; the recorder's own clock goes well."""
    path, kind = folder / 'bag', 'sensor_msgs/msg/JointState'
    received = np.arange(len(q)) * 10**7 + 10**9
    stamps = np.rint(t * 1e9).astype(np.int64)
    with Writer(path, version=9) as writer:
        connection = writer.add_connection(
            topic, kind, typestore=get_typestore(Stores.ROS2_HUMBLE))
        for row, time in zip(encode(names, stamps, (q, None, tau)), received, strict=True):
            writer.write(connection, int(time), row.tobytes())
    return path


def npz(folder: Path, **arrays) -> Path:
    path = folder / 'log.npz'
    np.savez(path, **{'t': T, 'q': Q, 'tau': TAU, **arrays})
    return path


def text(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


def changed(x: np.ndarray, place, value) -> np.ndarray:
    x = x.copy()
    x[place] = value
    return x


RECORDINGS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    'missing file': (lambda d: d / 'no.db3', ['no.db3 does not exist']),
    'not a bag': (lambda d: text(d, 'a.db3', 'hello'), ['a.db3', 'not a readable rosbag2']),
    'not an mcap': (lambda d: text(d, 'a.mcap', 'hello' * 99), ['a.mcap']),
    'empty folder': (lambda d: d, ['not a recording']),
    'unknown kind': (lambda d: text(d, 'a.pdf', 'x'), ['a.pdf is not a recording']),
    'empty csv': (lambda d: text(d, 'a.csv', ''), ['a.csv']),
    'not an npz': (lambda d: text(d, 'a.npz', 'x'), ['not a readable npz']),
    'topic absent': (lambda d: bag(d, topic='/arm/states'),
                     ['no topic /joint_states', '/arm/states', '--topic']),
    'other names': (lambda d: bag(d, names=[f'panda_joint{i}' for i in range(6)]),
                    ['shoulder_pan_joint', 'wrist_3_joint', 'panda_joint0', 'panda_joint5']),
    'effort missing': (lambda d: bag(d, tau=None), ['0 values of effort for 6 joints']),
    'effort all zero': (lambda d: bag(d, tau=0 * TAU), ['shoulder_pan_joint', 'effort is 0']),
    'effort of one joint zero': (lambda d: bag(d, tau=TAU * [1, 1, 1, 0, 1, 1]),
                                 ['wrist_1_joint', 'effort is 0']),
    'effort NaN': (lambda d: bag(d, tau=changed(TAU, (slice(None), 2), np.nan)),
                   ['elbow_joint', 'NaN', 'interface is missing']),
    'position NaN': (lambda d: bag(d, q=changed(Q, (slice(0, 999), 1), np.nan)),
                     ['shoulder_lift_joint', 'NaN', 'record again']),
    'stamps go back': (lambda d: bag(d, t=T[::-1]), ['go back in time']),
    'clocks mixed': (lambda d: bag(d, t=np.where(np.arange(SAMPLES) % 2, T, T - 60)),
                     ['go back in time']),
    'table stamps zero': (lambda d: npz(d, t=0 * T), ['stamps are equal or unset']),
    'table stamps repeated': (lambda d: npz(d, t=0 * T + 5), ['stamps are equal or unset']),
    'table stamps go back': (lambda d: npz(d, t=T[::-1]), ['go back in time']),
    'stamps in ms': (lambda d: bag(d, t=(T - T[0]) * 1e3 + 1),
                     ['0.1 Hz if they are in s', '100 Hz if they are in ms']),
    'column named twice': (lambda d: text(d, 'a.csv', 't,' + ','.join(
        ['q_0', 'q_1', 'q_1', *(f'q_{i}' for i in range(3, 6))]) + '\n'),
        ['header has the name q_1 2 times', 'columns 3 and 4']),
    'array lengths differ': (lambda d: bag(d, tau=TAU[:, :5]),
                             ['5 values of effort for 6 joints', 'wrist_3_joint']),
    'rows differ': (lambda d: npz(d, tau=TAU[:-1]), ['1500', '1499']),
    'too short': (lambda d: bag(d, T[:40], Q[:40], TAU[:40]), ['40 samples', 'too few for 84']),
    'too short in time': (lambda d: npz(d, t=T / 30), ['record at least 1 s']),
}


def identify(recording: Path, arm: Path | str, output: Path, *more: str) -> int:
    return main(['identify', str(recording), '--arm', str(arm), '-o', str(output), *more])


def one_line(capsys: pytest.CaptureFixture[str], command: str = 'identify') -> str:
    told = capsys.readouterr()
    assert told.out == ''
    assert told.err.endswith('\n') and told.err.count('\n') == 1, told.err
    assert told.err.startswith(f'dynid {command}: ')
    assert 'Traceback' not in told.err
    return told.err


@pytest.mark.parametrize('case', RECORDINGS)
def test_a_bad_recording_is_named_in_one_line_and_nothing_is_written(case, tmp_path, capsys):
    make, fragments = RECORDINGS[case]
    (tmp_path / 'in').mkdir()
    recording, output = make(tmp_path / 'in'), tmp_path / 'out'
    assert identify(recording, 'ur10', output, '--friction', 'viscous,coulomb,offset') == 2
    line = one_line(capsys)
    assert str(recording) in line
    for fragment in fragments:
        assert fragment in line
    assert not output.exists()


URDF = """<robot name="r"><link name="base"/>{}</robot>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
RIGID = URDF.format('<link name="l1"/><joint name="j1" type="fixed"><parent link="base"/>'
                    '<child link="l1"/></joint>')
CYCLE = URDF.format('<link name="l1"/><link name="l2"/>' + JOINT.format('j1', 'l2', 'l1')
                    + JOINT.format('j2', 'l1', 'l2'))
BOMB = ('<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">'
        + ''.join(f'<!ENTITY {b} "{9 * f"&{a};"}">' for a, b in zip('abcdefgh', 'bcdefghi',
                                                                    strict=True))
        + ']><robot name="&i;"><link name="base"/></robot>')
ROW = {'alpha': 0, 'a': 0, 'd': 0.1, 'theta': 0}


def arm_yaml(**keys) -> str:
    return yaml.safe_dump({'name': 'r', 'description': {'mdh': {
        'units': {'length': 'm', 'angle': 'rad'}, 'rows': [dict(ROW), dict(ROW)]}}, **keys})


ARMS: dict[str, tuple[str, str, list[str]]] = {
    'no moving chain': ('r.urdf', RIGID, ['r.urdf']),
    'cycle': ('r.urdf', CYCLE, ['r.urdf']),
    'XML bomb': ('r.urdf', BOMB, ['r.urdf']),
    'not XML': ('r.urdf', 'robot', ['r.urdf']),
    'not YAML': ('arm.yaml', 'a: [', ['arm.yaml']),
    'missing column': ('arm.yaml', yaml.safe_dump({'description': {'dh': {
        'units': {'length': 'm', 'angle': 'rad'},
        'rows': [ROW, {k: ROW[k] for k in ('alpha', 'a', 'theta')}]}}}),
        ['row 2.d"', 'is missing', 'arm.yaml']),
    'unknown key': ('arm.yaml', arm_yaml(gravitiy=[0, 0, -9.81]), ['gravitiy', 'gravity']),
    'unknown friction': ('arm.yaml', arm_yaml(friction=['viscos']), ['viscos', 'viscous']),
    'missing URDF': ('arm.yaml', yaml.safe_dump({'description': {'urdf': 'no.urdf'}}),
                     ['no.urdf']),
}


@pytest.mark.parametrize('case', ARMS)
def test_a_bad_arm_is_named_in_one_line_and_nothing_is_written(case, tmp_path, capsys):
    name, content, fragments = ARMS[case]
    arm, output = text(tmp_path, name, content), tmp_path / 'out'
    (tmp_path / 'in').mkdir()
    assert identify(npz(tmp_path / 'in'), arm, output) == 2
    line = one_line(capsys)
    for fragment in fragments:
        assert fragment in line
    assert not output.exists()


def test_an_unknown_arm_is_compared_with_those_there(tmp_path, capsys):
    assert identify(npz(tmp_path), 'ur1O', tmp_path / 'out') == 2
    line = one_line(capsys)
    assert '"ur1O"' in line and 'panda' in line and 'ur10' in line


def test_an_unknown_friction_term_is_compared_with_those_there(tmp_path, capsys):
    assert identify(npz(tmp_path), 'ur10', tmp_path / 'out', '--friction', 'viscous,stick') == 2
    line = one_line(capsys)
    assert "'stick'" in line and 'coulomb' in line and 'stribeck' in line
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('output', ['file', 'file/below'])
def test_an_output_folder_that_cannot_be_made_is_named(output, tmp_path, capsys):
    text(tmp_path, 'file', 'in the way')
    plain = ('--friction', 'viscous,coulomb,offset')
    assert identify(npz(tmp_path), 'ur10', tmp_path / output, *plain) == 2
    assert str(tmp_path / output) in one_line(capsys)
    assert sorted(p.name for p in tmp_path.iterdir()) == ['file', 'log.npz']
    assert (tmp_path / 'file').read_text() == 'in the way'


def test_other_commands_say_it_in_one_line_too(tmp_path, capsys):
    missing = str(tmp_path / 'no')
    for command, arguments in (
        ('check', [missing, '--arm', 'ur10']), ('report', [missing]),
        ('convert', [missing, '-o', missing]),
        ('validate', [missing, missing]),
        ('simulate', ['ur1O', '-o', missing]), ('simulate', ['ur10', missing, '-o', missing]),
    ):
        assert main([command, *arguments]) == 2
        one_line(capsys, command)
    assert list(tmp_path.iterdir()) == []


LONG = 5000 * 'x'


@pytest.mark.parametrize('words', [
    'identify --holdout 1', 'identify --holdout -0.1', 'identify --holdout half',
    'identify --cutoff 0', 'identify --cutoff nan', 'identify --cutoff inf',
    'identify --cutoff 1e-300', f'identify --cutoff {LONG}', f'identify --method {LONG}',
    'design --seed -1', f'design --seed {400 * "9"}', f'design --seed {9999 * "9"}',
    'design --time nan', 'design --time 0', 'design --time inf', 'design --starts 0',
    'design --harmonics -1', 'design --periods 0', 'design --periods 1.5', 'design --ramp nan',
    'design --ramp -1', 'design --rate 0', 'simulate --seed -1', 'demo --seed x',
    'replay --delay -1e3', 'replay --delay nan', 'replay --memory 0',
    'external-force --at nan', 'external-force --wrench inf'])
def test_a_wrong_option_is_named_in_one_line(words, capsys):
    command, *rest = words.split()
    with pytest.raises(SystemExit) as caught:
        main([command, *rest])
    assert caught.value.code == 2
    line = one_line(capsys, command)
    assert rest[0] in line and f'dynid {command} --help' in line
    assert len(line) < 500


@pytest.mark.parametrize(('words', 'named'), [
    ('--period 1e9', '3e+09 s'), ('--periods 1000000', '--periods'), ('--ramp 1e6', '--ramp'),
    ('--export m.csv --rate 1e12', '--rate'), ('--harmonics 1', '2 harmonics'),
    ('--period 1e-9', '20 Hz'), (f'--for {LONG}', 'has no parameter'), ('--given none', 'none')])
def test_a_motion_that_nobody_means_is_refused(words, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(['design', 'two_axis', '-o', 'm.yaml', *words.split()]) == 2
    line = one_line(capsys, 'design')
    assert named in line and len(line) < 500
    assert list(tmp_path.iterdir()) == []


def test_negative_numbers_with_an_exponent_are_no_options(capsys):
    assert main(['external-force', 'two_axis', '--wrench', '0', '0', '0', '-1e-3', '-.5', '-1E1',
                 '--at', '-1e-1', '0.2']) == 0
    assert 'dynid' not in capsys.readouterr().err


@pytest.mark.parametrize(
    'name', ['a\0b', 'caf\udce9.csv', LONG, f'{LONG}.yaml', 'a\nb\x1b[31m.csv'])
def test_a_name_that_no_file_can_have_is_refused(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in (['check', name, '--arm', 'ur10'], ['check', 'log.npz', '--arm', name],
                  ['report', name], ['validate', name, 'log.npz'], ['init', name, '-o', 'out'],
                  # A folder may have a line break in its name.
                  *([] if '\n' in name else [['design', 'two_axis', '-o', f'{name}/m.yaml']])):
        assert main(words) == 2
        assert len(one_line(capsys, words[0])) < 700


def test_a_period_shorter_than_the_samples_is_named(tmp_path, capsys):
    arm = text(tmp_path, 'arm.yaml', arm_yaml(
        conditioning={'filter': 'periodic', 'period': 1e-9}))
    recording = npz(tmp_path, q=Q[:, :2], tau=TAU[:, :2])
    assert identify(recording, arm, tmp_path / 'out') == 2
    assert 'period of 1e-09 s is shorter than two samples' in one_line(capsys)


@pytest.mark.parametrize(('setting', 'named'), [
    ({'delay': 100}, 'delay'), ({'cutoff_hz': 1e-300}, 'cutoff_hz')])
def test_conditioning_that_nobody_means_is_refused(setting, named, tmp_path, capsys):
    arm = text(tmp_path, 'arm.yaml', arm_yaml(conditioning=setting))
    assert identify(npz(tmp_path), arm, tmp_path / 'out') == 2
    assert f'"conditioning.{named}" in {arm}' in one_line(capsys)


def test_the_process_itself_ends_with_status_2_and_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'identify',
         str(tmp_path / 'no.db3'), '--arm', 'ur10', '-o', str(tmp_path / 'out')],
        capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ''
    assert done.stderr.startswith('dynid identify: ') and done.stderr.count('\n') == 1
    assert list(tmp_path.iterdir()) == []
