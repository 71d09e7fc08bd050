# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launches of the installed package as users start them, in sessions of their own."""

import os
from pathlib import Path
import re
import shutil
import signal
import socket
import subprocess
import time
from typing import Any

import numpy as np
import pytest
import yaml

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.recording_reader import read_recording


def need_workspace() -> None:
    """Skip a test where this package is not built in a sourced workspace."""
    pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')
    if shutil.which('ros2') is None:
        pytest.skip('the ros2 command is not installed')
    need_packages(
        'dynid_ros', reason='is not built in a sourced workspace; colcon test does both')
    pytest.importorskip('mujoco', reason='mujoco is not installed')


def need_packages(*names: str, reason: str = 'is not installed') -> None:
    """Skip a test where packages are not in a sourced workspace."""
    from ament_index_python.packages import get_packages_with_prefixes

    missing = [name for name in names if name not in get_packages_with_prefixes()]
    if missing:
        pytest.skip(f'{missing[0]} {reason}')


def free_port() -> int:
    """Find a port that nothing listens on."""
    with socket.socket() as trial:
        trial.bind(('127.0.0.1', 0))
        return int(trial.getsockname()[1])


def ask_start() -> str:
    """Ask for a start as users do, and return the answer."""
    return subprocess.run(
        ['ros2', 'service', 'call', '/trajectory_publisher/start', 'std_srvs/srv/Trigger'],
        capture_output=True, text=True, timeout=240, check=False).stdout


def dumped(node: str) -> dict[str, Any]:
    """Return the parameters of a node, as `ros2 param dump` shows them."""
    printed = subprocess.run(['ros2', 'param', 'dump', node], capture_output=True, text=True,
                             timeout=60, check=True).stdout
    (content,) = yaml.safe_load(printed).values()
    return dict(content['ros__parameters'])


def largest_move(folder: Path, arm: ArmModel) -> float:
    """Largest distance of a joint from where the only recording of a folder begins, rad."""
    (bag,) = folder.glob('*/bag')
    q = read_recording(bag, arm).q
    return float(np.abs(q - q[0]).max())


class Launch:
    """A launch in a session of its own, and what it prints."""

    def __init__(self, log: Path, *command: str) -> None:
        self._log = log
        with log.open('wb') as file:
            self.process = subprocess.Popen(
                ['ros2', *command],
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                start_new_session=True,
                # A test run in the background of a shell, or under nohup, ignores Ctrl-C or the
                # end of its terminal, and so would the launch.
                preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL)
                                    for number in (signal.SIGINT, signal.SIGHUP)])

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
        for pid in self._pids():
            status = Path(f'/proc/{pid}/status')
            while status.exists() and not _takes_over(status.read_text()):
                assert time.monotonic() < end, self.printed
                time.sleep(0.01)

    def environments(self) -> list[dict[str, str]]:
        """Return the environment of each process that was started."""
        texts = [Path(f'/proc/{pid}/environ').read_text() for pid in self._pids()]
        return [dict(line.split('=', 1) for line in text.split('\0') if line) for text in texts]

    def _pids(self) -> list[str]:
        return re.findall(r'process started with pid \[(\d+)\]', self.printed)

    def press_ctrl_c(self) -> None:
        """Signal all processes of the terminal, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Leave no process behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def end(self, seconds: float = 180.0) -> int:
        """Wait for the end and return the exit status; no process may be left."""
        status = self.process.wait(seconds)
        deadline = time.monotonic() + 20.0
        with pytest.raises(ProcessLookupError):
            # On a busy machine a child outlives the launch that it was signalled with by a moment.
            while time.monotonic() < deadline:
                os.killpg(self.process.pid, 0)
                time.sleep(0.01)
        return status


def _takes_over(status: str) -> bool:
    """Whether SIGINT is blocked or caught, by the status of a process in Linux's words."""
    masks = re.findall(r'Sig(?:Blk|Cgt):\s*([0-9a-f]+)', status)
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks)
