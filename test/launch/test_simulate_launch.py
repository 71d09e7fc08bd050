# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The simulated chain as users start it: one command, from the design to the report."""

from collections.abc import Callable
from pathlib import Path

from launches import Launch, need_workspace
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion

PANDA = load_arm('panda')


@pytest.fixture(autouse=True)
def _built() -> None:
    need_workspace()


@pytest.fixture
def launch(begin, tmp_path) -> Callable[..., Launch]:
    """Start simulations that write to a folder of the test."""
    return lambda *arguments: begin(
        'launch', 'dynid_ros', 'simulate.launch.py', f'output:={tmp_path / "out"}', *arguments)


@pytest.fixture
def excitation(tmp_path) -> Path:
    """Return a slow motion of 15 s around where the simulated arm stands."""
    reduced = 0.1 * np.ones((PANDA.n, 4))
    path = tmp_path / 'excitation.yaml'
    write_motion(
        path, FourierMotion.at_rest(3.0, planning_limits(PANDA).middle, reduced, 5), PANDA)
    return path


@pytest.mark.timeout(300)
def test_one_command_designs_moves_identifies_and_reports(launch, tmp_path):
    running = launch('arm:=panda')
    assert running.end(240) == 0, running.printed
    assert 'ERROR' not in running.printed
    assert 'Traceback' not in running.printed
    report = tmp_path / 'out' / 'result' / 'report.html'
    assert f'Wrote {report}' in running.printed
    assert '</html>' in report.read_text()
    assert len(list((tmp_path / 'out' / 'recordings').glob('*/bag/*.mcap'))) == 1
    result = read_result(tmp_path / 'out' / 'result')
    assert result.verdict.trustworthy
    true = base_parameters(PANDA).grouping @ nominal_parameters(PANDA)
    # The usual torque noise leaves a standard deviation of 1 % after 30 s.
    assert np.linalg.norm(result.theta - true) < 0.03 * np.linalg.norm(true)


@pytest.mark.parametrize('moment', [
    'process started with pid',
    'identifier]: ready',
    'trajectory_publisher]: running',
])
def test_ctrl_c_ends_all_nodes_without_an_error(launch, excitation, moment):
    running = launch('arm:=panda', f'excitation:={excitation}')
    running.until(moment)
    running.until_all_can_answer()
    running.press_ctrl_c()
    running.end()
    assert 'ERROR' not in running.printed
    assert 'Traceback' not in running.printed


def test_ctrl_c_ends_the_design_without_an_error(launch):
    running = launch('arm:=panda')
    running.until('designing a motion')
    running.press_ctrl_c()
    running.end()
    assert 'ERROR' not in running.printed
    assert 'Traceback' not in running.printed
    assert 'process started' not in running.printed


def test_motion_that_is_refused_ends_the_launch_with_an_error(launch, excitation):
    running = launch('arm:=ur10', f'excitation:={excitation}')
    assert running.end() == 1
    assert 'choose the arm that it was made for' in running.printed
    assert 'Traceback' not in running.printed
