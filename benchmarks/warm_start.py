"""
Claim: a warm `dynid identify` of a recording of half a minute takes two to three seconds.

    python benchmarks/warm_start.py FOLDER

Runs the whole command, from the start of Python to the written report, on recordings of real
arms in FOLDER (as in benchmarks/accuracy.py). Printed is the processor time of each run; the
first one, which may compile the kernels, is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile

CASES = (('ur10', 'ur10/ur10_exciting_trajectory.db3'),
         ('panda', 'panda/panda_exciting_trajectory.db3'), ('tx40', 'tx40/pos_read_data.csv'))
RUNS = 5


def seconds(arm: str, recording: Path, result: Path) -> float:
    """Processor time of one run, s."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'identify', '--arm', arm, '-o',
         result, recording], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    # One is the status of a model that is not trustworthy.
    if os.waitstatus_to_exitcode(status) > 1:
        sys.exit(f'dynid identify {recording} failed')
    return usage.ru_utime + usage.ru_stime


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        for arm, name in CASES:
            result = Path(temporary) / arm
            _, *runs = (seconds(arm, folder / name, result) for _ in range(RUNS + 1))
            print(f'{arm:6} {" ".join(f"{run:.2f}" for run in runs)} s of processor time')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
