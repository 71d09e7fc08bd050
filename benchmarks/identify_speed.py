"""
Processor time of `identify`, its report and the whole command, beside an earlier version.

    git worktree add ../before VERSION     # 0522de1~1 is version 0.1
    python benchmarks/identify_speed.py FOLDER ../before [--rounds 5]

FOLDER holds the recordings, as for accuracy.py. Both versions identify each recording in turn, in
processes of their own that have identified it once before, then draw their report, and run the
command ``dynid identify``, with all that it imports. Printed are the least times, and the held-out
errors.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
import json
import os
from pathlib import Path
import resource
import subprocess
import sys
import tempfile

from accuracy import CASES
import numpy as np

HERE = Path(__file__).resolve().parents[1]
PARTS = ('identification', 'report', 'command')
# Names that every version has.
ONCE = """
import dynid_ros.utilities.threads
import json, pathlib, sys, time, warnings
from dynid_ros.arm import load_arm
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.data.files.recording_reader import read_recording
warnings.simplefilter('ignore')
arm = load_arm(sys.argv[1])
log = read_recording(sys.argv[2], arm)
for _ in range(2):
    start = time.process_time()
    model = identify(arm, [log], holdout=float(sys.argv[3]))
    seconds = time.process_time() - start
start = time.process_time()
from dynid_ros.pages.report.page import report_page
report_page(model, pathlib.Path('report.html'))
report = time.process_time() - start
print(json.dumps([seconds, report, model.validation.relative_error_percent]))
"""


def once(version: Path, name: str, recording: Path, share: float) -> tuple[float, ...]:
    """Return the processor times of identification, report and command, s, and the error, %."""
    at = {'cwd': version, 'env': {**os.environ, 'PYTHONPATH': str(version)}}
    done = subprocess.run(
        [sys.executable, '-c', ONCE, name, recording, str(share)], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **at)
    identification, report, error = json.loads(done.stdout.splitlines()[-1])
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'identify', recording, '--arm',
             name, '-o', folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **at)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return identification, report, command, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('folder', type=Path)
    parser.add_argument('before', type=Path)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    versions = {'before': args.before.resolve(), 'now': HERE}
    for name, path, share in CASES:
        found = {version: [] for version in versions}
        for _ in range(args.rounds):
            for version, folder in versions.items():
                recording = (args.folder / path).resolve()
                found[version].append(once(folder, name, recording, share))
        before, now = (np.min(each, axis=0) for each in found.values())
        for part, old, new in zip(PARTS, before, now, strict=False):
            print(f'{name}, {part}: before {old:.2f} s, now {new:.2f} s, {new / old:.2f} times')
        print(f'{name}, error: before {before[-1]:.2f} %, now {now[-1]:.2f} %', flush=True)


if __name__ == '__main__':
    main()
