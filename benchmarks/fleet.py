"""
A simulated fleet through ``dynid fleet``: time, memory, kills, and accused bags.

    python benchmarks/fleet.py [--bags 500] [--folder /tmp/fleet] [--own-scheduler]

Makes short recordings (10 s at 100 Hz) of twenty UR10: exact torque of a random Fourier motion,
friction that differs by 3 % from bag to bag, and first-order coloured noise of 3 %. One arm
carries a payload from some day on, one has friction that grows, one another tool, and of each
hundred bags one is bad, of ten kinds in turn (ten bags in all, at least). Then it runs the
command: kills a worker (SIGKILL) after a quarter of the bags, the command itself after half of
them, and starts it again, and prints the rate, the memory of the workers, what was lost, and who
was named, rightly or not. With --own-scheduler the cluster is one of other processes (``dask
scheduler``, two times ``dask worker``), whose scheduler is killed instead of the command.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from functools import lru_cache
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from dynid_ros.arm import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

Array = NDArray[np.float64]

ARMS, SECONDS, RATE, HARMONICS = 20, 10.0, 100.0, 5
NOISE, MEMORY, OWN_FRICTION = 0.03, 0.9, 0.03
START, DAY = 1.7e9, 86400.0
PAYLOAD, FRICTION, TOOL = 4, 8, 12
PAYLOAD_KG, TOOL_KG, GROWTH = 2.0, 1.5, 0.6
KINDS = ('empty', 'truncated', 'no_torque', 'nan', 'still', 'half_a_second', 'stamps', 'sign',
         'exchanged', 'seven_joints')
NAMED = ('sign', 'exchanged')


@lru_cache(maxsize=1)
def the_arm() -> tuple[ArmModel, Array]:
    """UR10 with plausible friction, and its standard parameters."""
    arm = load_arm('ur10').with_friction(('viscous', 'coulomb', 'offset'))
    theta, names = nominal_parameters(arm), arm.layout.names
    for joint, (viscous, coulomb) in enumerate(
            ((14, 9), (14, 9), (10, 7), (3, 2.5), (3, 2.5), (3, 2.5)), 1):
        theta[names.index(f'Fv{joint}')] = viscous
        theta[names.index(f'Fc{joint}')] = coulomb
    return arm, theta


def kind_of(number: int, bags: int) -> str:
    """One bag of a hundred is bad."""
    every = min(100, bags // len(KINDS))
    # Not a multiple of the arms, so that different arms have bad ones.
    bad = number % every == number // every % ARMS
    return KINDS[number // every % len(KINDS)] if bad else ''


def share_of(turn: int, bags: int) -> float:
    """Return which share of the year has passed at a turn."""
    return turn / max(bags // ARMS - 1, 1)


def name_of(number: int, bags: int) -> str:
    """Return the path of a bag, with its date."""
    owner, turn = number % ARMS, number // ARMS
    when = datetime.fromtimestamp(START + 365 * DAY * share_of(turn, bags), timezone.utc)
    return f'arm{owner:02d}/{turn:05d}_{when:%Y-%m-%d}.npz'


def make(job: tuple[Path, int, int]) -> None:
    """Write one recording."""
    folder, number, bags = job
    arm, theta = the_arm()
    owner, turn = number % ARMS, number // ARMS
    share, path = share_of(turn, bags), folder / name_of(number, bags)
    if path.exists():
        return
    rng = np.random.default_rng(number)
    theta, names = theta.copy(), arm.layout.names
    for k, name in enumerate(names):
        if name.startswith(('Fv', 'Fc')):
            theta[k] *= 1 + OWN_FRICTION * rng.normal()
    if owner == FRICTION:
        for name in ('Fv2', 'Fc2'):
            theta[names.index(name)] *= 1 + GROWTH * share
    mass = PAYLOAD_KG * (share > 0.6) if owner == PAYLOAD else TOOL_KG * (owner == TOOL)
    for name, at in (('m6', 1.0), ('mz6', 0.12), ('Ixx6', 0.12**2), ('Iyy6', 0.12**2)):
        theta[names.index(name)] += mass * at
    t, q, tau = recorded(arm, theta, rng)
    spoil(kind_of(number, bags), path, t, q, tau)


def recorded(arm: ArmModel, theta: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return stamps, positions and noisy torque of a random motion."""
    t = np.arange(int(SECONDS * RATE)) / RATE
    w = 2 * np.pi / SECONDS * np.arange(1, HARMONICS + 1)[:, None]
    a = rng.uniform(0.3, 1.0, (HARMONICS, arm.n)) / w / np.sqrt(HARMONICS) * 1.4
    angle = w * t[:, None, None] + rng.uniform(0, 2 * np.pi, a.shape)
    q, qd, qdd = ((a * w**k * np.sin(angle + k * np.pi / 2)).sum(axis=1) for k in range(3))
    q = q + rng.uniform(-1, 1, arm.n)
    tau = regressor(arm, q, qd, qdd) @ theta
    noise = lfilter([1], [1, -MEMORY], rng.normal(size=(len(t) + 200, arm.n)), axis=0)[200:]
    return t, q, tau + noise * np.sqrt(1 - MEMORY**2) * NOISE * tau.std(axis=0)


def spoil(kind: str, path: Path, t: Array, q: Array, tau: Array) -> None:
    """Write a recording with one of the defects of `KINDS`, or none."""
    if kind == 'empty':
        path.write_bytes(b'')
        return
    if kind == 'nan':
        q[len(q) // 3:, 1] = np.nan
    elif kind == 'still':
        q = q[:1] + 0 * q
    elif kind == 'half_a_second':
        t, q, tau = (x[:int(RATE / 2)] for x in (t, q, tau))
    elif kind == 'stamps':
        t = 0 * t
    elif kind == 'sign':
        tau[:, 1] *= -1
    elif kind == 'exchanged':
        tau[:, [1, 2]] = tau[:, [2, 1]]
    elif kind == 'seven_joints':
        q, tau = (np.hstack([x, x[:, :1]]) for x in (q, tau))
    arrays = {'t': t, 'q': q} | ({} if kind == 'no_torque' else {'tau': tau})
    np.savez(path, **arrays)
    if kind == 'truncated':
        path.write_bytes(path.read_bytes()[:30_000])


class Cluster:
    """A scheduler and two workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = str(free.getsockname()[1])
        self.address = f'tcp://127.0.0.1:{port}'
        self.scheduler = subprocess.Popen(
            [*start_of('scheduler'), '--port', port, '--no-dashboard'],
            stderr=subprocess.DEVNULL)
        self.workers = [subprocess.Popen(
            [*start_of('worker'), self.address, '--nthreads', '1', '--no-dashboard',
             '--local-directory', str(folder), '--death-timeout', '10'],
            stderr=subprocess.DEVNULL) for _ in range(2)]

    def end(self) -> None:
        """End what is left of it."""
        # Killed, a worker's nanny would leave its process behind.
        for each in (*self.workers, self.scheduler):
            each.terminate()
            each.wait()


def start_of(part: str) -> list[str]:
    """Return the command of a part of a cluster."""
    return [sys.executable, '-m', f'distributed.cli.dask_{part}']


class Command:
    """The command under way, with the largest memory of its workers."""

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self.out, self.largest, self.cluster = folder / 'out', 0.0, cluster
        self.log = (folder / 'log.json').open('w+')
        elsewhere = ['--scheduler', cluster.address] if cluster else []
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'fleet', str(folder / 'bags'),
             '--arm', 'ur10', '-o', str(self.out), '--by', '{arm}/*', '--json', *elsewhere],
            stdout=self.log, start_new_session=True)

    def workers(self) -> list[int]:
        """Return the processes of the workers."""
        import psutil

        roots = ([each.pid for each in self.cluster.workers] if self.cluster
                 else [self.process.pid])
        found = []
        # A process may end while it is looked at.
        with suppress(psutil.Error):
            for each in (x for root in roots
                         for x in psutil.Process(root).children(recursive=True)):
                if 'spawn_main' in ' '.join(each.cmdline()):
                    found.append(each.pid)
                    self.largest = max(self.largest, each.memory_info().rss / 2**20)
        return found

    def sidecars(self) -> int:
        """Return how many bags are finished."""
        return len(list((self.out / 'sidecars').glob('[!.]*.npz')))

    def wait_for(self, count: int) -> None:
        """Wait until so many bags are finished."""
        while self.sidecars() < count and self.process.poll() is None:
            self.workers()
            time.sleep(0.5)

    def end(self) -> dict[str, object]:
        """Wait for the end, and return what the command prints."""
        while self.process.poll() is None:
            self.workers()
            time.sleep(0.5)
        self.log.seek(0)
        found: dict[str, object] = json.load(self.log)
        return found


def judge(found: dict[str, object], bags: int) -> None:
    """Compare the accused bags with the planted ones."""
    arms = found['arms']
    assert isinstance(arms, dict)
    print('arms named:', {name: arm['findings'] for name, arm in arms.items() if arm['findings']})
    print(f'planted: arm{PAYLOAD:02d} payload {PAYLOAD_KG} kg, arm{TOOL:02d} tool {TOOL_KG} kg')
    print('drift named:', [(each['arm'], each['name'], round(each['from'], 2),
                            round(each['to'], 2)) for each in found['drift']])  # type: ignore
    print(f'planted: arm{FRICTION:02d} Fv2 and Fc2, {100 * GROWTH:.0f} %')
    bad = {name_of(k, bags): kind_of(k, bags) for k in range(bags) if kind_of(k, bags)}
    for title, key, kinds in (('skipped', 'skipped', set(KINDS) - set(NAMED)),
                              ('do not belong', 'odd', set(NAMED))):
        named = {'/'.join(Path(each['bag']).parts[-2:]): each
                 for each in found[key]}  # type: ignore[attr-defined]
        planted = {name for name, kind in bad.items() if kind in kinds}
        print(f'{title}: {len(planted & set(named))} of {len(planted)} planted, '
              f'{len(set(named) - planted)} falsely: {sorted(set(named) - planted)[:5]}, '
              f'missed: {[(name, bad[name]) for name in sorted(planted - set(named))][:5]}')
        if key == 'odd':
            for name, each in named.items():
                codes = [finding['code'] for finding in each['findings']]
                print(f'  {name} ({bad.get(name)}): {each["difference"]}; {codes}')


def kills(folder: Path, bags: int, cluster: Cluster | None) -> int:
    """Kill a worker, and then the command or the scheduler; return how many bags are finished."""
    first = Command(folder, cluster)
    first.wait_for(bags // 4)
    before, victim = first.sidecars(), first.workers()[0]
    os.kill(victim, signal.SIGKILL)
    print(f'worker {victim} killed after {before} bags')
    first.wait_for(bags // 2)
    if cluster:
        cluster.scheduler.kill()
    else:
        os.killpg(first.process.pid, signal.SIGKILL)
    status = first.process.wait()
    if cluster:
        cluster.end()
    done = first.sidecars()
    print(f'{"scheduler" if cluster else "command"} killed: the command ends with {status} after '
          f'{done} bags; largest worker so far {first.largest:.0f} MB')
    return done


def main() -> None:
    """Make the fleet, run, kill, run again, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--bags', type=int, default=500)
    parser.add_argument('--folder', type=Path, default=Path('/tmp/dynid_fleet'))
    parser.add_argument('--own-scheduler', action='store_true')
    args = parser.parse_args()
    folder, bags = args.folder, args.bags
    for owner in range(ARMS):
        (folder / 'bags' / f'arm{owner:02d}').mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        list(pool.map(make, [(folder / 'bags', k, bags) for k in range(bags)], chunksize=20))
    print(f'{bags} recordings made in {time.perf_counter() - begin:.0f} s')
    done = kills(folder, bags, Cluster(folder) if args.own_scheduler else None)
    begin = time.perf_counter()
    cluster = Cluster(folder) if args.own_scheduler else None
    second = Command(folder, cluster)
    second.wait_for(done + 1)
    middle, at = time.perf_counter(), second.sidecars()
    second.wait_for(bags)
    mapped = time.perf_counter()
    found = second.end()
    end = time.perf_counter()
    rate = (bags - at) / (mapped - middle)
    print(f'second run: {found["read"]} bags read, {bags - done} were missing; start '
          f'{middle - begin:.0f} s, {rate:.1f} bags a second, reduction {end - mapped:.0f} s')
    print(f'ten thousand bags at this rate: {10_000 / rate / 60:.0f} minutes, and '
          f'{(end - mapped) * 10_000 / bags / 60:.0f} minutes for the reduction')
    print(f'largest worker: {second.largest:.0f} MB; sidecars: '
          f'{sum(p.stat().st_size for p in (second.out / "sidecars").iterdir()) / bags / 1e3:.0f}'
          ' kB each')
    judge(found, bags)
    if cluster:
        cluster.end()


if __name__ == '__main__':
    main()
