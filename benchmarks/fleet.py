# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A simulated fleet through `dynid fleet`: time, memory, kills, and accused bags.

    python benchmarks/fleet.py [--bags 500] [--folder FOLDER] [--own-scheduler]

Makes short recordings (10 s at 100 Hz, as npz) of twenty UR10: exact torque of the random motions
of odd_bags.py, friction that differs by 3 % from bag to bag, and coloured noise of 3 %. One arm
carries a payload from some day on, one has friction that grows, one another tool, and of each
hundred bags one is bad, of ten kinds in turn (ten bags in all, at least). Then it runs the
command, kills a worker (SIGKILL) after a quarter of the bags, the command itself after half of
them, and starts it again. Printed are the rate, the memory of the workers, what was lost, and who
was named, rightly or not. With --own-scheduler the cluster is one of other processes (`dask
scheduler`, two times `dask worker`), whose scheduler is killed instead of the command.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache, partial
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from odd_bags import RATE, sines, the_arm
from shared.noise import coloured
from shared.processes import DYNID
from shared.tables import heading, row

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.utilities.arrays import Array

ARMS, SECONDS, SIZE = 20, 10.0, 1.4
NOISE, CORRELATION, OWN_FRICTION = 0.03, 0.9, 0.03
#: First day, and a day, s.
START, DAY = 1.7e9, 86400.0
#: Arms with a payload in the last part of the year, with friction that grows, and with a tool.
PAYLOAD, SINCE, FRICTION, TOOL = 4, 0.6, 8, 12
PAYLOAD_KG, TOOL_KG, GROWTH = 2.0, 1.5, 0.6
#: Kinds of bad bags; the last two can be read, and do not belong.
KINDS = ('empty', 'truncated', 'no_torque', 'nan', 'still', 'half_a_second', 'stamps',
         'seven_joints', 'sign', 'exchanged')
READABLE = KINDS[-2:]


@cache
def fleet_arm() -> tuple[ArmModel, Array]:
    """Return a UR10 with plausible friction, and its standard parameters."""
    arm = the_arm(0)
    return arm, nominal_parameters(arm)


def kind_of(number: int, bags: int) -> str:
    """Return the kind of a bad bag, nothing for a good one."""
    every = min(100, bags // len(KINDS))
    # Not a multiple of the arms, so that different arms have bad ones.
    bad = number % every == number // every % ARMS
    return KINDS[number // every % len(KINDS)] if bad else ''


def year(number: int, bags: int) -> float:
    """Return which share of the year has passed when a bag is recorded."""
    return number // ARMS / max(bags // ARMS - 1, 1)


def name_of(number: int, bags: int) -> str:
    """Return the path of a bag, with its date."""
    when = datetime.fromtimestamp(START + 365 * DAY * year(number, bags), timezone.utc)
    return f'arm{number % ARMS:02d}/{number // ARMS:05d}_{when:%Y-%m-%d}.npz'


def make(folder: Path, bags: int, number: int) -> None:
    """Write one recording."""
    arm, theta = fleet_arm()
    owner, share, rng = number % ARMS, year(number, bags), np.random.default_rng(number)
    theta, names = theta.copy(), arm.layout.names
    for k, name in enumerate(names):
        if name.startswith(('Fv', 'Fc')):
            grown = 1 + GROWTH * share * (owner == FRICTION and name in ('Fv2', 'Fc2'))
            theta[k] *= grown * (1 + OWN_FRICTION * rng.normal())
    mass = PAYLOAD_KG * (share > SINCE and owner == PAYLOAD) + TOOL_KG * (owner == TOOL)
    for name, at in (('m6', 1.0), ('mz6', 0.12), ('Ixx6', 0.12**2), ('Iyy6', 0.12**2)):
        theta[names.index(name)] += mass * at
    t, q, qd, qdd = sines(rng, arm.n, SECONDS, 1 / SECONDS, SIZE)
    tau = regressor(arm, q, qd, qdd) @ theta
    tau += NOISE * tau.std(axis=0) * coloured(rng, tau.shape, CORRELATION)
    write(kind_of(number, bags), folder / name_of(number, bags), t, q, tau)


def write(kind: str, path: Path, t: Array, q: Array, tau: Array) -> None:
    """Write a recording with one of the defects of `KINDS`, or none."""
    match kind:
        case 'nan':
            q[len(q) // 3:, 1] = np.nan
        case 'still':
            q[:] = q[0]
        case 'half_a_second':
            t, q, tau = (x[:int(RATE / 2)] for x in (t, q, tau))
        case 'stamps':
            t[:] = 0.0
        case 'sign':
            tau[:, 1] *= -1
        case 'exchanged':
            tau[:, [1, 2]] = tau[:, [2, 1]]
        case 'seven_joints':
            q, tau = (np.hstack([x, x[:, :1]]) for x in (q, tau))
    arrays: dict[str, Any] = {'t': t, 'q': q} | ({} if kind == 'no_torque' else {'tau': tau})
    np.savez(path, **arrays)
    if kind in ('empty', 'truncated'):
        os.truncate(path, 30_000 if kind == 'truncated' else 0)


class Cluster:
    """A scheduler and two workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = str(free.getsockname()[1])
        self.address = f'tcp://127.0.0.1:{port}'
        self.scheduler = self._start('scheduler', '--port', port)
        self.workers = [self._start(
            'worker', self.address, '--nthreads', '1', '--local-directory', str(folder),
            '--death-timeout', '10') for _ in range(2)]

    @staticmethod
    def _start(part: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, '-m', f'distributed.cli.dask_{part}', *options, '--no-dashboard'],
            stderr=subprocess.DEVNULL)

    def end(self) -> None:
        """End what is left of it."""
        # Killed, a worker's nanny would leave its process behind.
        for each in (*self.workers, self.scheduler):
            each.terminate()
            each.wait()


class Command:
    """The command under way, with the largest memory of its workers, MB."""

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self.sidecars, self.largest, self.cluster = folder / 'out/sidecars', 0.0, cluster
        self.log = folder / 'log.json'
        elsewhere = ('--scheduler', cluster.address) if cluster else ()
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                [sys.executable, *DYNID, 'fleet', folder / 'bags', '--arm', 'ur10', '-o',
                 folder / 'out', '--by', '{arm}/*', '--json', *elsewhere],
                stdout=log, start_new_session=True)

    def workers(self) -> list[int]:
        """Return the processes of the workers."""
        import psutil

        roots = self.cluster.workers if self.cluster else [self.process]
        found = []
        # A process may end while it is looked at.
        with suppress(psutil.Error):
            for root in roots:
                for each in psutil.Process(root.pid).children(recursive=True):
                    if 'spawn_main' in ' '.join(each.cmdline()):
                        found.append(each.pid)
                        self.largest = max(self.largest, each.memory_info().rss / 2**20)
        return found

    def done(self) -> int:
        """Return how many bags are finished."""
        return len(list(self.sidecars.glob('[!.]*.npz')))

    def wait(self, until: Callable[[], bool]) -> float:
        """Wait for something, or for the end; return when it came, s."""
        while self.process.poll() is None and not until():
            self.workers()
            time.sleep(0.5)
        return time.perf_counter()


def kills(folder: Path, bags: int, cluster: Cluster | None) -> int:
    """Kill a worker, and then the command or the scheduler; return how many bags are finished."""
    first = Command(folder, cluster)
    first.wait(lambda: first.done() >= bags // 4)
    os.kill(first.workers()[0], signal.SIGKILL)
    row('finished bags when a worker is killed', first.done())
    first.wait(lambda: first.done() >= bags // 2)
    if cluster:
        cluster.scheduler.kill()
    else:
        os.killpg(first.process.pid, signal.SIGKILL)
    status = first.process.wait()
    if cluster:
        cluster.end()
    row(f'status of the command when {"the scheduler" if cluster else "it"} is killed', status)
    return first.done()


def resume(folder: Path, bags: int, done: int, cluster: Cluster | None) -> dict[str, Any]:
    """Run the command to its end, print what that takes, and return what it prints."""
    begin = time.perf_counter()
    second = Command(folder, cluster)
    middle, at = second.wait(lambda: second.done() > done), second.done()
    mapped = second.wait(lambda: second.done() >= bags)
    end = second.wait(lambda: False)
    if cluster:
        cluster.end()
    found: dict[str, Any] = json.loads(second.log.read_text())
    size = sum(path.stat().st_size for path in second.sidecars.iterdir()) / bags / 1e3
    row('bags without a sidecar, and bags that the second run reads', f'{bags - done}, '
        f'{found["read"]}')
    row('start of the second run', f'{middle - begin:.0f} s')
    row('bags a second', f'{(bags - at) / (mapped - middle):.1f}')
    row('reduction, causes, results and page', f'{end - mapped:.0f} s')
    row('largest worker', f'{second.largest:.0f} MB')
    row('sidecar', f'{size:.0f} kB')
    return found


def judge(found: dict[str, Any], bags: int) -> None:
    """Compare what is named with what is planted."""
    row(f'arms named; planted: arm{PAYLOAD:02d} {PAYLOAD_KG} kg, arm{TOOL:02d} {TOOL_KG} kg',
        {name: arm['findings'] for name, arm in found['arms'].items() if arm['findings']})
    row(f'drift named; planted: arm{FRICTION:02d} Fv2 and Fc2, {100 * GROWTH:.0f} %',
        [(each['arm'], each['name'], round(each['from'], 2), round(each['to'], 2))
         for each in found['drift']])
    bad = {name_of(k, bags): kind_of(k, bags) for k in range(bags) if kind_of(k, bags)}
    for title, key, kinds in (('skipped', 'skipped', KINDS[:-2]), ('odd', 'odd', READABLE)):
        named = {'/'.join(Path(each['bag']).parts[-2:]) for each in found[key]}
        planted = {name for name, kind in bad.items() if kind in kinds}
        row(f'{title}: planted, of these named, falsely named', f'{len(planted)}, '
            f'{len(planted & named)}, {len(named - planted)}')
    row('causes of odd bags', '; '.join(
        f'{bad.get("/".join(Path(each["bag"]).parts[-2:]), "good")}: '
        f'{", ".join(finding["code"] for finding in each["findings"])}' for each in found['odd']))


def measure(folder: Path, bags: int, own: bool) -> None:
    """Make the fleet, run, kill, run again, and print."""
    for owner in range(ARMS):
        (folder / 'bags' / f'arm{owner:02d}').mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(make, folder / 'bags', bags), range(bags), chunksize=20))
    heading(f'{bags} bags', 'measured')
    begin = time.perf_counter()
    done = kills(folder, bags, Cluster(folder) if own else None)
    found = resume(folder, bags, done, Cluster(folder) if own else None)
    row('all of it', f'{(time.perf_counter() - begin) / 60:.1f} minutes')
    judge(found, bags)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--bags', type=int, default=500)
    parser.add_argument('--folder', type=Path, help='keep bags and results there')
    parser.add_argument('--own-scheduler', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        measure(args.folder or Path(made), args.bags, args.own_scheduler)


if __name__ == '__main__':
    main()
