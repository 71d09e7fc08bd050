# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Processor time of the first minute: compilation of kernels, help, and import.

    python benchmarks/first_start.py [BEFORE] [--rounds 5]

BEFORE is the folder of another version, which takes turns with this one. The kernels of nodes and
of a simulation are compiled for the smallest arm, once in an empty cache and once more with it
full; the difference counts. Of the others the least time counts, with that of a bare interpreter.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import tempfile

from shared.processes import DYNID, HERE, python

COMPILE = ('-m', 'dynid_ros.ros.nodes.warm_up', 'two_axis')
STARTS = {
    'python -c pass': ('-c', 'pass'),
    'import dynid_ros': ('-c', 'import dynid_ros'),
    'dynid --help': (*DYNID, '--help'),
    'dynid identify --help': (*DYNID, 'identify', '--help'),
    'dynid gains --help': (*DYNID, 'gains', '--help'),
}


def compilation(version: Path) -> float:
    """Return the processor time that an empty cache costs, s."""
    with tempfile.TemporaryDirectory() as cache:
        empty, full = (python(*COMPILE, version=version, NUMBA_CACHE_DIR=cache).seconds
                       for _ in range(2))
    return empty - full


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('before', nargs='?', type=Path)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    versions = [HERE] if args.before is None else [args.before.resolve(), HERE]
    print(f'{os.cpu_count()} processors, {args.rounds} rounds; seconds'
          + (', before and now' if len(versions) > 1 else ''))
    for name, words in STARTS.items():
        least = [min(each) for each in zip(*(
            [python(*words, version=version).seconds for version in versions]
            for _ in range(args.rounds)), strict=True)]
        print(f'{name:24}', *(f'{each:7.3f}' for each in least), flush=True)
    print(f'{"compilation of kernels":24}',
          *(f'{compilation(version):7.2f}' for version in versions), flush=True)


if __name__ == '__main__':
    main()
