# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid design`` writes a motion that others can read, and says what it did."""

import json
import re

import numpy as np
import pytest
from urdf_files import joint, robot, write
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.search import Search
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import read_motion

SHORT = ['--harmonics', '3', '--starts', '1', '--period', '4']


def design(tmp_path, *options):
    return main(['design', 'two_axis', '-o', str(tmp_path / 'e.yaml'), *SHORT, *options])


def stored_design(tmp_path):
    return yaml.safe_load((tmp_path / 'e.yaml').read_text())['design']


def test_the_file_fits_the_arm_and_lists_margins(tmp_path, capsys):
    assert design(tmp_path) == 0
    out = capsys.readouterr().out
    excitation = read_motion(tmp_path / 'e.yaml', load_arm('two_axis'))
    assert 'within all limits at all times' in out
    assert 'Another motion of 3.08 s for validation follows' in out
    excited, other = excitation.motion.excitation, excitation.motion.validation
    assert (excited.duration, other.duration) == (12.0, pytest.approx(3.08))
    stored = stored_design(tmp_path)
    assert stored['limits_kept'] is True
    assert set(stored['margins']) == {
        'position', 'velocity', 'acceleration', 'torque', 'clearance'}
    assert excited.harmonics == 3


def test_json_is_one_object_with_the_same_facts(tmp_path, capsys):
    assert design(tmp_path, '--json') == 0
    facts = json.loads(capsys.readouterr().out)
    stored = stored_design(tmp_path)
    assert facts['arm'] == 'two_axis'
    assert facts['condition_number'] == stored['condition_number']
    assert facts['complete'] is True


@pytest.mark.slow
def test_samples_and_drawings_are_written_on_request(tmp_path):
    export = [str(tmp_path / name) for name in ('m.csv', 'm.yaml')]
    assert design(tmp_path, '--export', *export, '--plots', str(tmp_path)) == 0
    rows = np.loadtxt(tmp_path / 'm.csv', delimiter=',', skiprows=1)
    motion = read_motion(tmp_path / 'e.yaml').motion
    assert rows[-1, 0] == pytest.approx(motion.duration)
    np.testing.assert_allclose(rows[:, 1:3], motion.evaluate(rows[:, 0])[0], atol=1e-7)
    assert (tmp_path / 'path.png').exists()
    # As a user does who designs once more.
    assert design(tmp_path, '--export', *export, '--plots', str(tmp_path)) == 0


def test_least_margins_have_the_units_of_their_joints(tmp_path, capsys):
    write(tmp_path, robot(
        '<link name="a"/><link name="b"/><link name="c"/>'
        + joint('slider', 'a', 'b', 'prismatic') + joint('hinge', 'b', 'c', axis='0 1 0')))
    (tmp_path / 'arm.yaml').write_text('description: {urdf: arm.urdf}\n')
    arm, motion = str(tmp_path / 'arm.yaml'), str(tmp_path / 'e.yaml')
    assert main(['design', arm, '-o', motion, *SHORT]) == 0
    out = capsys.readouterr().out
    for quantity, each in (('position', ''), ('velocity', '/s'), ('acceleration', '/s²')):
        for name, unit in (('slider', 'm'), ('hinge', 'rad')):
            assert re.search(rf'^  {quantity} .*{unit}{each} +{name}$', out, re.MULTILINE)


@pytest.mark.parametrize(('options', 'words'), [
    (['--for', 'Izz9'], "no parameter 'Izz9'"),
    (['--harmonics', '1'], '2 harmonics at least'),
    (['--given', 'nowhere'], 'nowhere'), (['--load', '2'], '--load is for --for payload only'),
    (['--for', 'payload', '--load', '0'], 'load must be a mass above zero'),
    (['--for', 'payload', '--load', '1', '2'], 'alone or with x, y and z'),
    # Both joints turn about parallel axes.
    (['--for', 'payload', '--load', '0.01'], "no motion of 'two_axis' shows a load's mass"),
])
def test_wrong_requests_are_one_line_and_exit_status_two(tmp_path, capsys, options, words):
    assert design(tmp_path, *options) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count('\n') == 1


@pytest.mark.slow
def test_a_motion_for_a_load_states_the_error_bars_to_be_expected(tmp_path, capsys):
    assert main(['design', 'ur10', '-o', str(tmp_path / 'e.yaml'), '--for', 'payload', '--load',
                 '3', '0', '0', '0.1', '--harmonics', '3', '--starts', '1', '--period', '8',
                 '--time', '100']) == 0
    assert 'Limits hold with 3 kg; its standard deviations' in capsys.readouterr().out
    assert read_motion(tmp_path / 'e.yaml').motion.duration == 8.0
    stored = stored_design(tmp_path)
    assert stored['criterion'] == 'for payload' and stored['limits_kept']
    assert stored['payload']['center'] == pytest.approx([0, 0, 0.1])
    assert 0 < stored['payload']['mass_std'] < 0.2
    assert not stored['payload']['noise_measured']


@pytest.mark.slow
def test_no_error_bar_is_expected_of_what_is_known(tmp_path, capsys):
    assert main(['design', 'ur10', '-o', str(tmp_path / 'e.yaml'), '--for', 'payload', '--known',
                 'mass', '--harmonics', '2', '--starts', '1', '--period', '4']) == 0
    told = capsys.readouterr().out
    assert 'to be expected: centre' in told and 'mass' not in told.split('expected:')[1]


def test_an_exciting_motion_is_kept_where_no_other_one_is_reached(tmp_path, capsys, monkeypatch):
    # As with an obstacle in every way.
    monkeypatch.setattr(Search, '_reached', lambda _self, _motion: _self._begin is None)
    assert design(tmp_path) == 0
    assert 'Without another motion for validation: no motion was' in capsys.readouterr().out
    assert isinstance(read_motion(tmp_path / 'e.yaml').motion, FourierMotion)
