# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Child processes that never outlive this one."""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
from functools import partial
import json
import os
from pathlib import Path
import signal
import subprocess
import sys

_PDEATHSIG = 1


class ChildProcess:
    """
    A command that gets SIGINT however this process ends.

    Parameters
    ----------
    command : sequence of str
        Its words.
    log : Path
        New file for all that it prints.
    niceness : int
        Increase of its niceness over this process.

    Attributes
    ----------
    pid : int
        Its identifier.

    """

    def __init__(self, command: Sequence[str], log: Path, niceness: int = 0) -> None:
        self._log = log
        with log.open('wb') as output:
            # Only this process gets Ctrl-C, and ends the others in order.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=partial(_begin, niceness, os.getpid()))
        self.pid = self._process.pid

    @property
    def status(self) -> int | None:
        """Return the exit status, negative after a signal; None while it runs."""
        return self._process.poll()

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    def wait(self, seconds: float) -> None:
        """Wait for its end, and kill it if it takes longer."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of its log, with the reason for its end."""
        return self._log.read_text(errors='replace').strip().splitlines()[-count:]


def node_command(name: str, **parameters: object) -> list[str]:
    """Return the words that start a node of this package with parameters."""
    given = (('-p', f'{key}:={json.dumps(value)}') for key, value in parameters.items())
    return [sys.executable, '-m', f'dynid_ros.ros.nodes.{name}', '--ros-args',
            *(word for pair in given for word in pair)]


def _begin(niceness: int, parent: int) -> None:
    """
    Ask Linux for SIGINT when the parent is gone, so that no process is left behind.

    Parameters
    ----------
    niceness : int
        As for `ChildProcess`.
    parent : int
        Parent process, which may be gone already.

    """
    os.nice(niceness)
    # A shell makes its background processes ignore it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGINT)
