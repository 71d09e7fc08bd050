# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid gains`` as a user runs it."""

import json
import re

import numpy as np
import pytest
from synthetic_recordings import coloured, true_torque, Waves

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.interface.cli.main import main

MASS = 2.0
LOAD = np.array([MASS, 0.1, 0, 0.2, 0.05, 0, 0, 0.05, 0, 0.02])
#: True gains by those that the arms state.
FACTORS = {'two_axis': np.array([0.8, 1.2]), 'hand_leg': np.array([2.0, 1.6, 2.2, 1.8])}


def record(path, name, *, loaded=False, noise=0.003):
    arm, t = load_arm(name), np.arange(4000) / 100
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    theta = theta + load_columns(arm) @ LOAD if loaded else theta
    waves = Waves.random(arm, seed=loaded, lowest_hz=0.2)
    tau = true_torque(arm, waves, t, theta)
    tau += coloured(np.random.default_rng(loaded), len(t), noise * tau.std(axis=0), 0.9)
    np.savez(path, t=t, q=waves.at(t)[0], u=tau / arm.drive.gain / FACTORS[name])


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Record the two-axis arm and the leg, which also lifts a load."""
    made = tmp_path_factory.mktemp('bags')
    record(made / 'free.npz', 'two_axis')
    record(made / 'leg.npz', 'hand_leg')
    record(made / 'loaded.npz', 'hand_leg', loaded=True)
    return made


def test_ratio_in_the_table(folder, capsys):
    assert main(['gains', str(folder / 'free.npz'), '--arm', 'two_axis']) == 1
    text = capsys.readouterr().out
    found = re.search(r' (\d\.\d+) ± 0\.0\d+ .*refuted$', text, re.MULTILINE)
    ratio = float(found[1])
    assert min(abs(ratio - 1.5), abs(ratio - 1 / 1.5)) < 0.03
    assert 'is taken as stated' in text
    assert text.startswith('The data refute the stated gain of')


@pytest.mark.slow
def test_gains_of_a_weighed_load_are_written_and_then_agree(folder, tmp_path, capsys):
    target = tmp_path / 'arm.yaml'
    bags = [str(folder / 'leg.npz'), '--loaded', str(folder / 'loaded.npz'), '--mass', str(MASS)]
    assert main(['gains', *bags, '--arm', 'hand_leg', '--json', '--write', str(target)]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts['reference'] is None
    assert facts['written'] == str(target)
    ratios = [joint['ratio'] for joint in facts['joints']]
    np.testing.assert_allclose(ratios, FACTORS['hand_leg'], rtol=0.03)
    np.testing.assert_allclose(load_arm(target).drive.gain, FACTORS['hand_leg'], rtol=0.03)
    assert main(['gains', *bags, '--arm', str(target)]) == 0
    assert 'The data refute no stated gain.' in capsys.readouterr().out


def test_an_arm_of_two_joints_cannot_weigh(folder, tmp_path, capsys):
    record(tmp_path / 'loaded.npz', 'two_axis', loaded=True)
    assert main(['gains', str(folder / 'free.npz'), '--arm', 'two_axis', '--mass', '2',
                 '--loaded', str(tmp_path / 'loaded.npz')]) == 2
    assert 'do not separate mass and first moments of the load' in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'message'), [
    (['--mass', '0'], '0 is not a number above zero'),
    (['--mass', 'nan'], 'nan is not a number above zero'),
    (['--mass', '2'], '--loaded and --mass belong together'),
    (['--loaded', 'loaded.npz'], '--loaded and --mass belong together'),
    (['--loaded', 'free.npz', '--mass', '2'], 'free.npz is given twice'),
    (['--write', 'free.npz'], 'is no name for an arm.yaml'),
])
def test_wrong_use_is_one_line(folder, monkeypatch, capsys, words, message):
    monkeypatch.chdir(folder)
    try:
        status = main(['gains', 'free.npz', '--arm', 'two_axis', *words])
    except SystemExit as end:
        status = end.code
    assert status == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count('\n') == 1
