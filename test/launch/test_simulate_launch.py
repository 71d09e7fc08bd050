"""The simulated chain as users start it: one command, from the design to the report."""

from collections.abc import Iterator
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.feasibility.planning_limits import planning_limits
from dynid_ros.storage.result_file import read_result
from dynid_ros.trajectory.fourier import FourierMotion
from dynid_ros.trajectory.motion_file import write_motion

PANDA = load_arm('panda')


@pytest.fixture(autouse=True)
def _built() -> None:
    packages = pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')
    if shutil.which('ros2') is None:
        pytest.skip('the ros2 command is not installed')
    try:
        packages.get_package_prefix('dynid_ros')
    except packages.PackageNotFoundError:
        pytest.skip('dynid_ros is not built in a sourced workspace; colcon test does both')
    pytest.importorskip('mujoco', reason='mujoco is not installed')


class Launch:
    """A launch in a session of its own, and what it prints."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._log = folder / 'launch.log'
        with self._log.open('wb') as log:
            self.process = subprocess.Popen(
                ['ros2', 'launch', 'dynid_ros', 'simulate.launch.py', f'output:={folder / "out"}',
                 *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
                # A test run in the background of a shell ignores Ctrl-C, and so would the launch.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    @property
    def printed(self) -> str:
        return self._log.read_text()

    def until(self, words: str, seconds: float = 180.0) -> None:
        """Wait until something is printed."""
        end = time.monotonic() + seconds
        while words not in self.printed:
            assert self.process.poll() is None, self.printed
            assert time.monotonic() < end, self.printed
            time.sleep(0.05)

    def until_all_can_answer(self) -> None:
        """Wait until each process has taken the signal over from ``env``, which it starts as."""
        end = time.monotonic() + 180.0
        for pid in re.findall(r'process started with pid \[(\d+)\]', self.printed):
            status = Path(f'/proc/{pid}/status')
            while status.exists() and not _takes_over(status.read_text()):
                assert time.monotonic() < end, self.printed
                time.sleep(0.01)

    def press_ctrl_c(self) -> None:
        """Signal all processes of the terminal, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self, seconds: float = 180.0) -> int:
        """Wait for the end and return the exit status; no process may be left."""
        status = self.process.wait(seconds)
        with pytest.raises(ProcessLookupError):
            os.killpg(self.process.pid, 0)
        return status


def _takes_over(status: str) -> bool:
    """Whether SIGINT is blocked or caught, by the status of a process in Linux's words."""
    masks = re.findall(r'Sig(?:Blk|Cgt):\s*([0-9a-f]+)', status)
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks)


@pytest.fixture
def launch(tmp_path) -> Iterator[object]:
    """Start launches that are gone after the test."""
    begun = []

    def begin(*arguments: str) -> Launch:
        begun.append(Launch(tmp_path, *arguments))
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


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
    assert f'wrote {report}' in running.printed
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
