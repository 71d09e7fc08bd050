"""
Torque error on public recordings of real arms, beside what others reached.

    python benchmarks/accuracy.py FOLDER

FOLDER holds the recordings: ur10/ur10_exciting_trajectory.db3 and
panda/panda_exciting_trajectory.db3 (unisa-acg/inverse-dynamics-solver), tx40/pos_read_data.csv and
curr_data.csv (figaroh-examples).
"""

from __future__ import annotations

from pathlib import Path
import sys

from dynid_ros.arm import load_arm
from dynid_ros.identification.identify import identify
from dynid_ros.storage.recording_reader import read_recording

PLAIN = ('viscous', 'coulomb', 'offset')
CASES = (
    ('ur10', 'ur10/ur10_exciting_trajectory.db3', 1 / 3, 'published model, in-sample 8.3 %'),
    ('panda', 'panda/panda_exciting_trajectory.db3', 1 / 3, 'plain WLS 2.2 %'),
    ('tx40', 'tx40/pos_read_data.csv', 1 / 2, 'FIGAROH 0.3, in-sample 14.6 %'),
)


def main(folder: Path) -> None:
    """Print a Markdown table."""
    print('| arm | held out | friction | in-sample | held-out | possible links | others |')
    print('|---|---|---|---|---|---|---|')
    for name, recording, holdout, others in CASES:
        arm = load_arm(name)
        log = read_recording(folder / recording, arm)
        for friction in (PLAIN, None):
            result = identify(arm, [log], friction=friction, holdout=holdout)
            assert result.validation is not None
            assert result.consistent is not None
            terms = ', '.join(result.arm.friction) + (' (chosen)' if friction is None else '')
            print(f'| {name} | last {100 * holdout:.0f} % | {terms} '
                  f'| {result.fit.relative_error_percent:.1f} % '
                  f'| {result.validation.relative_error_percent:.1f} % '
                  f'| {result.consistent.relative_error_percent:.1f} % | {others} |')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
