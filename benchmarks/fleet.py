"""
What ``dynid fleet`` takes for many bags: time, memory, and the size of the sidecars.

    python benchmarks/fleet.py [--bags 500]

Makes recordings of 10 s at 100 Hz of twenty UR10 (random motions, plausible friction, noise of
3 %) as npz files, and runs the command twice: on the bags, and on finished sidecars, where only
the reduction is left. odd_bags.py judges which bags are accused.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from pathlib import Path
import tempfile
import time

import numpy as np
from odd_bags import sines, the_arm
from shared.processes import DYNID, python

from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

ARMS, SECONDS, NOISE = 20, 10.0, 0.03


def make(folder: Path, bags: int) -> None:
    """Write the recordings, a folder for each arm."""
    arm = the_arm(0)
    theta = nominal_parameters(arm)
    for number in range(bags):
        rng = np.random.default_rng(number)
        t, *course = sines(rng, arm.n, SECONDS, 1 / SECONDS, 1.4)
        tau = regressor(arm, *course) @ theta
        tau += NOISE * tau.std(axis=0) * rng.normal(size=tau.shape)
        path = folder / f'arm{number % ARMS:02d}' / f'{number // ARMS:05d}.npz'
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, t=t, q=course[0], tau=tau)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--bags', type=int, default=500)
    bags = parser.parse_args().bags
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        make(folder / 'bags', bags)
        command = (*DYNID, 'fleet', folder / 'bags', '--arm', 'ur10', '-o', folder / 'out', '--by',
                   '{arm}/*')
        for what in ('bags to results', 'on finished sidecars'):
            begin = time.perf_counter()
            spent = python(*command)
            wall = time.perf_counter() - begin
            print(f'{bags} {what}: {wall:.0f} s, {bags / wall:.1f} bags a second, '
                  f'{1e3 * spent.seconds / bags:.0f} ms of processor time a bag; largest process '
                  f'{spent.resident:.0f} MB', flush=True)
        sidecars = [path.stat().st_size for path in (folder / 'out/sidecars').glob('*.npz')]
        print(f'{len(sidecars)} sidecars of {np.mean(sidecars) / 1e3:.0f} kB')


if __name__ == '__main__':
    main()
