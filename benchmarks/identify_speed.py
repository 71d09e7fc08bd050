"""
Processor time of `identify`, friction chosen, beside an earlier version.

    git worktree add ../before VERSION     # 0522de1~1 is version 0.1
    python benchmarks/identify_speed.py FOLDER ../before [--rounds 5]

FOLDER holds the recordings, as for accuracy.py. Both versions identify each recording in turn, in
processes of their own that have identified it once before; printed are the least times, and the
held-out errors.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
import json
import os
from pathlib import Path
import subprocess
import sys

from accuracy import CASES

HERE = Path(__file__).resolve().parents[1]
# Names that every version has.
ONCE = """
import dynid_ros.utilities.threads
import json, sys, time, warnings
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
print(json.dumps([seconds, model.validation.relative_error_percent]))
"""


def once(version: Path, name: str, recording: Path, share: float) -> tuple[float, float]:
    """Return the processor time of one version, s, and its held-out error, %."""
    done = subprocess.run(
        [sys.executable, '-c', ONCE, name, recording, str(share)], check=True, text=True,
        capture_output=True, cwd=version, env={**os.environ, 'PYTHONPATH': str(version)})
    seconds, error = json.loads(done.stdout.splitlines()[-1])
    return seconds, error


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
        before, now = (min(seconds for seconds, _ in each) for each in found.values())
        errors = [each[0][1] for each in found.values()]
        print(f'{name}: before {before:.2f} s and {errors[0]:.2f} %, now {now:.2f} s and '
              f'{errors[1]:.2f} %: {now / before:.2f} times the processor time', flush=True)


if __name__ == '__main__':
    main()
