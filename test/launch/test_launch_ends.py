# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How launches end when something goes wrong: with the arm at rest, and a status that is not 0."""

import os
import re
import signal

from launches import ask_start, need_workspace
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion

ARM = load_arm('two_axis')


@pytest.fixture(autouse=True)
def _built() -> None:
    need_workspace()


@pytest.fixture
def moved(begin, tmp_path):
    """Return a function that launches a motion of an arm in simulated time."""
    excitation = tmp_path / 'excitation.yaml'
    write_motion(excitation, FourierMotion.at_rest(
        3.0, planning_limits(ARM).middle, 0.1 * np.ones((ARM.n, 4)), 20), ARM)
    begin('run', 'dynid_ros', 'simulated_arm', '--ros-args', '-p', 'arm:=two_axis', '-p',
          'rate:=250.0', '-p', 'use_sim_time:=true', '-p', f'excitation:={excitation}', '-p',
          'lockstep:=[trajectory_publisher, identifier, recorder]')

    def launch(recordings):
        return begin(
            'launch', 'dynid_ros', 'arm.launch.py', 'arm:=two_axis', f'excitation:={excitation}',
            'dry_run:=false', f'result:={tmp_path / "result"}', f'recordings:={recordings}',
            'use_sim_time:=true')

    return launch


def begin_motion(launch):
    launch.until('[trajectory_publisher]: ready')
    assert 'success=True' in ask_start(), launch.printed
    launch.until('[trajectory_publisher]: running')


@pytest.mark.timeout(600)
def test_recorder_without_a_folder_ends_the_launch_before_the_arm_moves(moved):
    launch = moved('/proc/none')
    assert launch.end() == 1
    assert '/proc/none cannot be written: ' in launch.printed
    assert re.search(r'recorder-\d+ ended with status 2', launch.printed)
    assert '[trajectory_publisher]: ready' not in launch.printed
    assert 'Traceback' not in launch.printed


@pytest.mark.timeout(600)
def test_killed_recorder_ends_the_launch_with_the_arm_at_rest(moved, tmp_path):
    launch = moved(tmp_path / 'recordings')
    begin_motion(launch)
    pid = re.search(r'\[recorder-\d+\]: process started with pid \[(\d+)\]', launch.printed)[1]
    os.kill(int(pid), signal.SIGKILL)
    assert launch.end() == 1
    assert '[trajectory_publisher]: holding' in launch.printed
    assert 'aborted' not in launch.printed


@pytest.mark.timeout(600)
def test_closed_terminal_ends_a_launch_as_ctrl_c_does(moved, tmp_path):
    launch = moved(tmp_path / 'recordings')
    begin_motion(launch)
    # The nodes hear of it from the launch.
    launch.process.send_signal(signal.SIGHUP)
    assert launch.end() == 0
    assert '[trajectory_publisher]: holding' in launch.printed
    assert re.search(r'recorder\]: \d+ bytes in ', launch.printed)
    assert 'Traceback' not in launch.printed
