"""Nodes as processes that never outlive the demonstration, in a ROS domain of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
import json
import os
from pathlib import Path
import random
import signal
import socket
import subprocess
import sys
from types import TracebackType

from dynid_ros.errors import DynidError, InputError
from dynid_ros.ros.nodes.bag_process import end_with_parent

#: Longest time that a node takes to end, s: more than the recorder gives its bag.
PATIENCE = 90.0
#: Nodes that can wait come after the control of the arm where processors are few.
BEHIND = {'identifier': 10, 'recorder': 10, 'watch': 10}
#: Last lines of a log, which hold the reason for which a node ended.
LAST_LINES = 5
#: Domains to choose from: above those that people set, below the ports that Linux hands out.
DOMAINS = range(60, 101)


class Processes:
    """
    Nodes of this package, all of which are gone after the block.

    Parameters
    ----------
    logs : Path
        Folder for the output of each of them.

    """

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGINT)
        for name in tuple(self._running):
            self._wait(name)

    def start(self, name: str, **parameters: object) -> None:
        """Start a node of this package with parameters."""
        command = [sys.executable, '-m', f'dynid_ros.ros.nodes.{name}', '--ros-args']
        for key, value in parameters.items():
            command += ['-p', f'{key}:={json.dumps(value)}']
        with (self.logs / f'{name}.log').open('wb') as log:
            # Only this process gets Ctrl-C, and ends the others in order.
            self._running[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(_begin, BEHIND.get(name, 0), os.getpid()))

    def pid(self, name: str) -> int:
        """Process identifier of a running node."""
        return self._running[name].pid

    def check(self) -> None:
        """
        See that all nodes run.

        Raises
        ------
        DynidError
            One does not; the message holds the reason.

        """
        for name in tuple(self._running):
            if self.ended(name):
                raise self._why(name, 0)

    def ended(self, name: str) -> bool:
        """
        Whether a node has ended as it should.

        Raises
        ------
        DynidError
            It has ended otherwise.

        """
        status = self._running[name].poll()
        if status is None:
            return False
        del self._running[name]
        if status:
            raise self._why(name, status)
        return True

    def stop(self, name: str) -> None:
        """
        End a node, which then saves what it has.

        Raises
        ------
        DynidError
            It did not end well.

        """
        self._running[name].send_signal(signal.SIGINT)
        status = self._wait(name)
        if status:
            raise self._why(name, status)

    def _wait(self, name: str) -> int:
        process = self._running.pop(name)
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _why(self, name: str, status: int) -> DynidError:
        log = self.logs / f'{name}.log'
        lines = log.read_text(errors='replace').strip().splitlines()[-LAST_LINES:]
        how = f'was killed by signal {-status}' if status < 0 else f'ended with status {status}'
        return DynidError('\n  '.join([f'{name} {how}; {log} ends with:', *lines]))


def _begin(niceness: int, parent: int) -> None:
    """Take a place behind others, and end with the parent."""
    os.nice(niceness)
    end_with_parent(parent)


@contextmanager
def own_domain() -> Iterator[int]:
    """
    Take a domain of this machine for this process and its children.

    Yields
    ------
    int
        Its number, which is in the environment too.

    Raises
    ------
    InputError
        All are in use.

    """
    for number in random.sample(DOMAINS, len(DOMAINS)):
        first = 7400 + 250 * number
        with (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours,
              socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe):
            try:
                # The last port of the domain, for no other demonstration.
                ours.bind(('127.0.0.1', first + 249))
                # That of its first participant, if there is one.
                probe.bind(('127.0.0.1', first + 10))
            except OSError:
                continue
            probe.close()
            os.environ['ROS_DOMAIN_ID'] = str(number)
            os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
            yield number
            return
    raise InputError('every ROS domain that a demonstration may use is in use on this machine')
