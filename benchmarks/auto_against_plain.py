"""
Held-out error with the friction terms that dynid chooses, as a ratio to that with plain friction.

    python benchmarks/auto_against_plain.py FOLDER [--count 3]

FOLDER holds recordings of real arms, as for accuracy.py. The recordings come from cutoff.py,
real and simulated, with the cut-off from the data and below 2, 5 and 10 Hz, and those of
friction_kinds.py with friction of every kind, so many of each arm. The script prints a line for
each recording and bandwidth at which the choice is another one than plain friction, and ends with
status 1 if one of them has a held-out error more than 5 % above plain friction.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Iterator
from pathlib import Path
import sys

from accuracy import below, held_out
from cutoff import cases
from friction_kinds import ARMS, KINDS, PLAIN_KIND, planted, WITH_RESTS

from dynid_ros.arm import ArmModel
from dynid_ros.arm.friction import PLAIN
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify

BANDWIDTHS = (None, 2.0, 5.0, 10.0)
#: Ratio of the errors that is allowed.
WORST = 1.05


def recordings(folder: Path, count: int) -> Iterator[tuple[str, ArmModel, Recording, float]]:
    """Yield a label, an arm with its bandwidth, a recording, and the share to hold out."""
    for case in cases(folder):
        for cutoff in BANDWIDTHS:
            label = f'{case.label}, ' + (f'{cutoff:g} Hz' if cutoff else 'from the data')
            yield label, below(case.arm, cutoff), case.log, case.share
    for kind, sizes in {'plain': PLAIN_KIND, **KINDS}.items():
        for name in ARMS:
            for seed in range(count):
                arm, log, _ = planted(name, sizes, seed, WITH_RESTS in kind)
                yield f'{name} {seed}, planted: {kind}', arm, log, 1 / 3


def main() -> int:
    """Print a Markdown table, and the worst ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--count', type=int, default=3)
    args = parser.parse_args()
    print('| recording | chosen | plain | ratio | chosen friction |\n|---|---|---|---|---|')
    # The first error belongs to the recordings with plain friction.
    ratios, plain_choices = [1.0], 0
    for label, arm, log, share in recordings(args.folder, args.count):
        try:
            chosen = identify(arm, [log], holdout=share)
        except RecordingError as error:
            print(f'| {label} | refused | | | {error} |', flush=True)
            continue
        if chosen.arm.friction == PLAIN:
            plain_choices += 1
            continue
        plain = held_out(identify(arm, [log], friction=PLAIN, holdout=share))
        ratios.append(held_out(chosen) / plain)
        print(f'| {label} | {held_out(chosen):.2f} % | {plain:.2f} % | {ratios[-1]:.3f} | '
              f'{", ".join(chosen.arm.friction)} |', flush=True)
    print(f'\n{plain_choices} choices of plain friction, {len(ratios) - 1} others; worst ratio '
          f'{max(ratios):.3f}, {WORST} allowed')
    return int(max(ratios) > WORST)


if __name__ == '__main__':
    sys.exit(main())
