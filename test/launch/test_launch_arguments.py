# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launch arguments: node defaults < config < what was given; and what is no argument."""

import re

from launches import dumped, need_workspace
import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion

ARM = 'two_axis'


@pytest.fixture(autouse=True)
def _built() -> None:
    need_workspace()


@pytest.fixture
def excitation(tmp_path):
    """Return a slow motion of 15 s around where a simulated arm stands."""
    arm, path = load_arm(ARM), tmp_path / 'excitation.yaml'
    write_motion(path, FourierMotion.at_rest(
        3.0, planning_limits(arm).middle, 0.1 * np.ones((arm.n, 4)), 5), arm)
    return path


def test_config_replaces_defaults_and_given_arguments_replace_config(begin, tmp_path, excitation):
    config = tmp_path / 'config.yaml'
    config.write_text(yaml.safe_dump({
        '/**': {'ros__parameters': {'state_timeout': 0.2}},
        '/left/trajectory_publisher': {'ros__parameters': {'start_speed': 0.3, 'output': 1}},
        'left': {'trajectory_publisher': {'ros__parameters': {'tracking_error': 1}},
                 'recorder': {'ros__parameters': {'topics': ['currents']}}}}))
    options = ('launch', 'dynid_ros', 'arm.launch.py', f'arm:={ARM}',
               f'excitation:={excitation}', 'namespace:=left', f'config:={config}')
    wrong = begin(*options)
    assert wrong.end() == 1
    assert '/left/trajectory_publisher has no parameter output' in wrong.printed
    config.write_text(config.read_text().replace('output: 1', ''))
    launch = begin(*options, 'start_speed:=0.4', 'damping:=[3, 4.5]')
    launch.until('trajectory_publisher]: waiting for states of')
    launch.until('identifier]: ready')
    moved, learned = dumped('/left/trajectory_publisher'), dumped('/left/identifier')
    assert (moved['start_speed'], moved['tracking_error'], moved['state_timeout']) == (
        0.4, 1.0, 0.2)
    assert moved['damping'] == [3.0, 4.5]
    assert (moved['dry_run'], learned['save_at_end']) == (True, False)
    assert learned['output_folder'] == 'left/dynid_result'
    recorded = dumped('/left/recorder')
    assert (recorded['topics'], recorded['output_folder']) == (['currents'], 'left/recordings')
    launch.press_ctrl_c()
    launch.end()


@pytest.mark.parametrize(('file', 'argument', 'words'), [
    ('arm', 'dry_run:=maybe', "Valid options are: ['true', 'false']"),
    ('arm', 'output:=effort', 'has no launch argument output; it has arm, command'),
    ('arm', 'tracking_error:=wide', 'tracking_error:=wide must be a float, such as 0.1'),
    ('arm', 'stiffness:=soft', 'stiffness:=soft must be a list of numbers, such as [100.0'),
    ('record', 'config:=nowhere.yaml', 'nowhere.yaml cannot be read'),
    ('replay', 'speed:=0', 'speed:=0 must be a number above zero'),
])
def test_wrong_arguments_are_refused_in_one_sentence(begin, file, argument, words):
    needed = {'arm': ('excitation:=excitation.yaml',), 'replay': ('bag:=bag',)}.get(file, ())
    launch = begin('launch', 'dynid_ros', f'{file}.launch.py', f'arm:={ARM}', *needed, argument)
    assert launch.end() == 1
    assert words in launch.printed
    assert 'Traceback' not in launch.printed


@pytest.mark.timeout(600)
def test_two_arms_in_namespaces_are_identified_beside_each_other(
        begin, tmp_path, excitation, monkeypatch):
    monkeypatch.chdir(tmp_path)
    launches = [begin('launch', 'dynid_ros', 'simulate.launch.py', f'arm:={ARM}',
                      f'excitation:={excitation}', f'namespace:={name}')
                for name in ('left', 'right')]
    for launch, name in zip(launches, ('left', 'right'), strict=True):
        assert launch.end(300) == 0, launch.printed
        # On a busy machine the nodes of an arm take long to start.
        assert not re.findall(
            '.*(?:ERROR|WARN)(?!.*(?:the time has not begun|not ready: no states)).*',
            launch.printed), launch.printed
        assert (tmp_path / name / 'dynid_simulation/result/report.html').is_file()
