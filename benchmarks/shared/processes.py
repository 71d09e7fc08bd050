# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What a process of its own takes: processor time and memory."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
import re
import subprocess
import sys
from threading import Event, Thread

#: This version of the package.
HERE = Path(__file__).resolve().parents[2]
#: The command line of the package.
DYNID = ('-m', 'dynid_ros.interface.cli.main')
#: Time between samples of the memory of a process, s.
SAMPLED = 0.01


@dataclass(frozen=True)
class Spent:
    """
    Means that a process took.

    Attributes
    ----------
    printed : str
        Its output.
    seconds : float
        Processor time, that of its children included, s.
    resident, anonymous : float
        Peak of the resident memory, of it or of a child (ru_maxrss), and peak of its own memory
        that is in no file (RssAnon), MB.

    """

    printed: str
    seconds: float
    resident: float
    anonymous: float


def python(*words: str | Path, version: Path = HERE, **environment: str) -> Spent:
    """Run an interpreter with the package of a version, in the folder of it, to its end."""
    # An installed package is not compiled from its source by each process, whatever is set here.
    inherited = {name: value for name, value in os.environ.items()
                 if name != 'PYTHONDONTWRITEBYTECODE'}
    process = subprocess.Popen(
        [sys.executable, *map(str, words)], stdout=subprocess.PIPE, text=True, cwd=version,
        env={**inherited, 'PYTHONPATH': str(version), **environment})
    assert process.stdout is not None
    ended, anonymous = Event(), [0.0]

    def watch() -> None:
        status = Path(f'/proc/{process.pid}/status')
        while not ended.wait(SAMPLED):
            found = re.search(r'RssAnon:\s+(\d+)', status.read_text())
            # A process that has ended has no memory.
            anonymous.append(int(found[1]) / 1024 if found else 0.0)

    watcher = Thread(target=watch)
    watcher.start()
    printed = process.stdout.read()
    ended.set()
    watcher.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # One is the status of a model that is not trustworthy.
    if process.returncode not in (0, 1):
        sys.exit(f'{" ".join(map(str, words))} failed: {printed}')
    return Spent(printed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, max(anonymous))
