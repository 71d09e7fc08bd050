# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes as processes that never outlive the demonstration, in a ROS domain of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import random
import socket

from dynid_ros.errors import DynidError, InputError
from dynid_ros.ros.nodes.common.child_process import ChildProcess, node_command

#: Longest time for a node to end, s: more than the recorder allows for its bag.
NODE_END_SECONDS = 90.0
#: Nodes that can wait have a lower priority than the control of the arm.
NICENESS = {'identifier': 10, 'recorder': 10, 'watch': 10}
#: Last lines of a log, with the reason why a node ended.
LAST_LINES = 5
#: Domains to choose from: above usual settings, below the ephemeral ports of Linux.
DOMAINS = range(60, 101)


class Processes:
    """
    Nodes of this package, which all end with the block.

    Parameters
    ----------
    logs : Path
        Folder for the output of each of them.

    """

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._running: dict[str, ChildProcess] = {}

    def __enter__(self) -> Processes:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *fault: object) -> None:
        for process in self._running.values():
            process.interrupt()
        for process in self._running.values():
            process.wait(NODE_END_SECONDS)

    def start(self, name: str, **parameters: object) -> None:
        """Start a node of this package with parameters."""
        self._running[name] = ChildProcess(
            node_command(name, **parameters), self.logs / f'{name}.log', NICENESS.get(name, 0))

    def pid(self, name: str) -> int:
        """Process identifier of a running node."""
        return self._running[name].pid

    def check(self) -> None:
        """
        Check that all nodes run.

        Raises
        ------
        DynidError
            One does not; the message holds the reason.

        """
        for name, process in tuple(self._running.items()):
            if self.ended(name):
                raise self._why(name, process)

    def ended(self, name: str) -> bool:
        """
        Whether a node has ended as it should.

        Raises
        ------
        DynidError
            It has ended otherwise.

        """
        process = self._running[name]
        if process.status is None:
            return False
        del self._running[name]
        if process.status:
            raise self._why(name, process)
        return True

    def stop(self, name: str) -> None:
        """
        End a node, which then saves its data.

        Raises
        ------
        DynidError
            It did not end well.

        """
        self._running[name].interrupt()
        self._running[name].wait(NODE_END_SECONDS)
        self.ended(name)

    def _why(self, name: str, process: ChildProcess) -> DynidError:
        status = process.status or 0
        how = f'was killed by signal {-status}' if status < 0 else f'ended with status {status}'
        return DynidError('\n  '.join([
            f'{name} {how}; {self.logs / name}.log ends with:', *process.last_lines(LAST_LINES)]))


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
                # The last port of the domain reserves it among demonstrations.
                ours.bind(('127.0.0.1', first + 249))
                # The port of its first participant, if any.
                probe.bind(('127.0.0.1', first + 10))
            except OSError:
                continue
            probe.close()
            os.environ['ROS_DOMAIN_ID'] = str(number)
            os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
            yield number
            return
    raise InputError('every ROS domain that a demonstration may use is in use on this machine')
