# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""arm.launch.py and record.launch.py on an arm with a joint_trajectory_controller."""

from importlib.util import find_spec
from pathlib import Path
import re
from urllib.request import urlopen

from launches import ask_start, free_port, largest_move, need_workspace
import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.launching import FAST_DDS

PANDA = load_arm('panda')


@pytest.fixture(autouse=True)
def _built() -> None:
    need_workspace()


@pytest.mark.timeout(600)
@pytest.mark.parametrize('dry', ['true', 'false', 'moved by others'])
def test_arm_is_moved_recorded_and_identified_unless_the_run_is_dry(begin, tmp_path, dry):
    excitation, result, bags = (
        tmp_path / name for name in ('excitation.yaml', 'result', 'recordings'))
    motion = FourierMotion.at_rest(
        3.0, planning_limits(PANDA).middle, 0.1 * np.ones((PANDA.n, 4)), 1)
    write_motion(excitation, motion, PANDA)
    # Simulated time, so that a slow machine moves the arm as a fast one does.
    arm = begin(
        'run', 'dynid_ros', 'simulated_arm', '--ros-args', '-p', 'arm:=panda', '-p', 'rate:=250.0',
        '-p', 'use_sim_time:=true', '-p', f'excitation:={excitation}',
        '-p', 'lockstep:=[trajectory_publisher, identifier, recorder]')
    # Who looks first looks at the live page, too, where its library is installed.
    seen = dry == 'true' and find_spec('viser') is not None
    port = free_port()
    # As a run before left them.
    result.mkdir()
    for name in ('result.yaml', 'report.html'):
        (result / name).write_text('an earlier one')
    by_others = dry == 'moved by others'
    what = ('record.launch.py',) if by_others else (
        'arm.launch.py', f'excitation:={excitation}', f'dry_run:={dry}')
    launch = begin(
        'launch', 'dynid_ros', *what, 'arm:=panda', f'result:={result}', f'recordings:={bags}',
        'use_sim_time:=true', f'view:={str(seen).lower()}', f'port:={port}')
    mover = launch if not by_others else begin(
        'run', 'dynid_ros', 'trajectory_publisher', '--ros-args', '-p', 'arm:=panda', '-p',
        f'excitation:={excitation}', '-p', 'use_sim_time:=true')
    mover.until('[trajectory_publisher]: ready')
    if seen:
        launch.until(f'joint_states: http://127.0.0.1:{port}')
        with urlopen(f'http://127.0.0.1:{port}', timeout=60) as page:
            assert page.status == 200
            assert b'</html>' in page.read()
    nodes = 4 if seen else 2 if by_others else 3
    assert [Path(each[FAST_DDS]).is_file() for each in launch.environments()] == nodes * [True]
    arm.until('simulating')
    answer = ask_start()
    assert 'success=True' in answer, launch.printed
    assert ('dry run: nothing is commanded' in answer) == (dry == 'true')
    mover.until('[trajectory_publisher]: holding')
    launch.until_all_can_answer()
    launch.press_ctrl_c()
    launch.end()
    for other in {arm, mover} - {launch}:
        other.press_ctrl_c()
        other.end()
    for printed in (launch.printed, arm.printed):
        assert 'Traceback' not in printed
        assert not re.search(r'aborted|ERROR', printed), printed
    # Received at the simulated time, too.
    (bag,) = bags.glob('*/bag')
    content = yaml.safe_load((bag / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert content['starting_time']['nanoseconds_since_epoch'] < 3600e9
    # Noise of an encoder only, or the motion.
    assert (largest_move(bags, PANDA) < 1e-3) == (dry == 'true')
    if dry == 'true':
        assert (result / 'report.html').read_text() == 'an earlier one'
        assert (result / 'result.yaml').read_text() == 'an earlier one'
    else:
        assert read_result(result).arm.name == 'panda'
        assert not (result / 'report.html').exists()
