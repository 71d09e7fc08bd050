# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Processor time of `identify`, its report and the whole command, beside an earlier version.

    git worktree add ../before VERSION     # 0522de1~1 is version 0.1
    python benchmarks/identify_speed.py FOLDER ../before [--rounds 5]

FOLDER is that of shared/recordings.py. Both versions identify each recording in turn, in
processes of their own that have identified it once before, then draw their report, and run the
command ``dynid identify``, with all that it imports. Printed are the least times, and the held-out
errors.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
import json
from pathlib import Path
import tempfile

import numpy as np
from shared.processes import DYNID, HERE, python
from shared.recordings import CASES

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
report_page(model, pathlib.Path(sys.argv[4]))
report = time.process_time() - start
print(json.dumps([seconds, report, model.validation.relative_error_percent]))
"""


def once(version: Path, name: str, recording: Path, share: float) -> tuple[float, ...]:
    """Return the processor times of identification, report and command, s, and the error, %."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, 'report.html')
        done = python('-c', ONCE, name, recording, str(share), page, version=version)
        identification, report, error = json.loads(done.printed.splitlines()[-1])
        command = python(
            *DYNID, 'identify', recording, '--arm', name, '-o', folder, version=version)
    return identification, report, command.seconds, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('folder', type=Path)
    parser.add_argument('before', type=Path)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    versions = {'before': args.before.resolve(), 'now': HERE}
    for name, path, share in CASES:
        found: dict[str, list[tuple[float, ...]]] = {version: [] for version in versions}
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
