# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid sensor`` as a user runs it."""

import json

import numpy as np
import pytest
from sensor_rig import BIAS, sensed, write_bag

from dynid_ros.applications.sensor.compensation import compensate
from dynid_ros.applications.sensor.sensor_file import read_sensor
from dynid_ros.arm import load_arm
from dynid_ros.data.files.wrench_reader import read_wrenches
from dynid_ros.interface.cli.main import main

ARM = load_arm('ur10')


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    path = tmp_path_factory.mktemp('sensor') / 'bag'
    write_bag(path, ARM, sensed().recording)
    return path


def test_a_bag_gives_load_biases_and_a_file_for_the_node(bag, capsys, tmp_path):
    out, curves = tmp_path / 'sensor.yaml', tmp_path / 'wrench.npz'
    words = ['sensor', str(bag), '--arm', 'ur10', '-o', str(out), '--compensated', str(curves)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert 'kg behind the sensor, the centre at' in text
    for word in ('mass ', 'centre x', 'Ixx about centre', 'bias Fz', 'turned about z', 'Nm',
                 'The sensor is turned by', f'Wrote {out} and {curves}.'):
        assert word in text
    assert main([*words, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['trustworthy'] and abs(facts['mass'] / 1.5 - 1) < 0.01
    for name, wanted in zip(('Tx', 'Ty', 'Tz', 'Fx', 'Fy', 'Fz'), BIAS, strict=True):
        assert abs(facts['bias'][name]['value'] - wanted) < 2.3 * facts['bias'][name]['interval']
    with np.load(curves) as held:
        wanted = compensate(read_sensor(out), read_wrenches(bag, ARM))
        for name in ('t', 'wrench', 'interval'):
            np.testing.assert_array_equal(held[name], getattr(wanted, name))


def test_wrong_use_gets_one_line(bag, capsys, tmp_path):
    (tmp_path / 'mine.yaml').write_text('my notes')
    table = tmp_path / 'free.csv'
    table.write_text('t,q_0,q_1\n')
    for words, reason in (
            ([str(bag), '--arm', 'ur10', '--wrench-topic', 'wrist'], 'has no topic /wrist'),
            ([str(table), '--arm', 'ur10'], 'is a table, and wrenches have stamps and a frame'),
            ([str(bag), '--arm', 'ur10', '--link', 'hand'], "has no body 'hand'"),
            ([str(bag), '--arm', 'panda'], 'holds all joints of panda'),
            ([str(tmp_path / 'none'), '--arm', 'ur10'], 'does not exist'),
            ([str(bag), '--arm', 'ur10', '-o', str(tmp_path / 'mine.yaml')], 'mine.yaml')):
        assert main(['sensor', *words]) == 2
        told = capsys.readouterr().err
        assert reason in told and told.count('\n') == 1


def test_an_arm_that_rests_is_told_to_turn(capsys, tmp_path):
    write_bag(tmp_path / 'bag', ARM, sensed(turning=0.0, seconds=15.0).recording)
    assert main(['sensor', str(tmp_path / 'bag'), '--arm', 'ur10']) == 1
    assert 'does not turn the sensor enough to separate mass and bias' in capsys.readouterr().out
