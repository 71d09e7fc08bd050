# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Nothing that a test run has started outlives it, however it ends.

Later runs would hear nodes that were left behind in their ROS domain. A run that is killed cannot
end them, and many are in sessions of their own: a process beside the run waits for its end, and
finds them by a variable of the environment, which all that it starts inherits.
"""

from collections.abc import Iterator
from contextlib import suppress
import os
from pathlib import Path
import select
import signal
import sys
import time
import uuid

#: Holds the names of all test runs within which a process was started.
VARIABLE = 'DYNID_TEST_RUNS'
#: Period of the looks for processes, and time after which those that do not end are given up, s.
LOOK, PATIENCE = 0.05, 30.0


def watch() -> None:
    """Start the process that outlives this one."""
    run, outer = uuid.uuid4().hex, dict(os.environ)
    os.environ[VARIABLE] = f'{outer.pop(VARIABLE, "")} {run}'
    # Nobody reads what it prints, and a signal to the group of this process does not reach it.
    os.posix_spawn(
        sys.executable, [sys.executable, '-I', '-S', __file__, str(os.getpid()), run], outer,
        file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0)
                      for number in range(3)], setsid=True)


def processes_of(run: str) -> Iterator[int]:
    """Yield the processes that were started within a test run and have not ended."""
    for path in Path('/proc').glob('[0-9]*/environ'):
        # One may have ended meanwhile, or belong to somebody else.
        with suppress(OSError):
            if run.encode() in path.read_bytes():
                yield int(path.parent.name)


def main(parent: int, run: str) -> None:
    """Wait for the end of a process, and end all that were started within its test run."""
    with suppress(ProcessLookupError):
        ended = select.poll()
        ended.register(os.pidfd_open(parent), select.POLLIN)
        ended.poll()
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and (left := list(processes_of(run))):
        for process in left:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(LOOK)


if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2])
