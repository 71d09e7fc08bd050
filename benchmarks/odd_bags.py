# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Which bags of a fleet are accused, and of what: good fleets, planted faults and real bags.

    python benchmarks/odd_bags.py [--fleets 20] [--real FOLDER] [--kinds good planted real]

A fleet is 16 bags of one arm (ur10, panda, random chains of links) with different motions: 8 to
25 s of five sines at one of three speeds. Friction is a third higher in the first bag and settles,
each coefficient varies by 5 % from bag to bag, and a tenth of the torque acts as friction that no
model has; beside it coloured noise of 3 %. In the planted fleets three bags carry a load of a
third of the last two links, and one bag each has exchanged efforts, one reversed, one doubled, or
comes from an arm with other links. FOLDER of --real is that of shared/recordings.py; each of its
recordings is cut into bags, with and without planted faults. Printed is how many good bags are
accused and of what, and how many planted ones are found and get their cause.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
import tempfile

import numpy as np
from shared.noise import coloured
from verdicts import random_chain

from dynid_ros.applications.fleet.run import run_fleet
from dynid_ros.arm import load_arm
from dynid_ros.arm.model import ArmModel, Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import DynidError
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.utilities.arrays import Array

Bag = tuple[Array, Array, Array]
Bags = dict[str, Bag]
Fleet = tuple[ArmModel, Bags, dict[str, str]]

BAGS, RATE, HARMONICS, CUTOFF = 16, 100.0, 5, 4.0
NOISE, MEMORY, WARMING, OWN_FRICTION, ROUGH = 0.03, 0.9, 0.33, 0.05, 0.1
FRICTION = ('viscous', 'coulomb', 'offset')
#: Planted bags, by their number: three carry a load, and the arm of one has other links.
LOADED, FAULTS = (2, 7, 11), {4: 'exchanged', 6: 'sign', 9: 'gain', 13: 'other_arm'}
CAUSES = {'exchanged': 'effort_exchanged', 'sign': 'effort_sign', 'gain': 'effort_scale'}
#: Real arms: folder, files, those that carry a load, and seconds of a bag.
REAL = (
    ('ur10', ('ur10_exciting_trajectory.db3',), (), 3.0),
    ('panda', ('panda_exciting_trajectory.db3',), (), 3.0),
    ('field/kr300', ('A.csv', 'B.csv', 'C.csv'), (), 5.0),
    ('field/six_joint', ('traj1.csv', 'traj2.csv', 'traj3.csv'), (), 4.0),
    ('field/dual_arm', ('motion_13.5.csv', 'motion_15.7.csv', 'motion_52.2.csv'), (), 5.0),
    ('field/dvrk_psm', ('free.csv', 'two.csv'), ('ins205.csv',), 5.0))


def the_arm(number: int) -> ArmModel:
    """Return one of the arms, with plausible links and friction."""
    every = ('ur10', 'panda', *range(4))
    chosen = every[number % len(every)]
    arm = load_arm(chosen) if isinstance(chosen, str) else random_chain(chosen)
    # The choice of the band, which benchmarks of its own measure, takes longer than all else.
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=CUTOFF, delay=0.0))
    return with_plausible_drives(arm.with_friction(FRICTION))[0]


def sines(rng: np.random.Generator, joints: int, seconds: float, hz: float, size: float) -> tuple[
        Array, Array, Array, Array]:
    """Return times, positions, velocities and accelerations of a sum of sines."""
    t = np.arange(int(seconds * RATE)) / RATE
    w = 2 * np.pi * hz * np.arange(1, HARMONICS + 1)[:, None]
    a = rng.uniform(0.3, 1.0, (HARMONICS, joints)) / w / np.sqrt(HARMONICS) * size
    angle = w * t[:, None, None] + rng.uniform(0, 2 * np.pi, a.shape)
    q, qd, qdd = ((a * w**k * np.sin(angle + k * np.pi / 2)).sum(axis=1) for k in range(3))
    return t, q + rng.uniform(-1, 1, joints), qd, qdd


def simulated(arm: ArmModel, number: int, seed: int, change: dict[str, float]) -> Bag:
    """Return stamps, positions and torque of a bag; a change adds to parameters."""
    rng = np.random.default_rng([seed, number])
    theta = nominal_parameters(arm)
    warm = 1 + WARMING * np.exp(-number / 4)
    for k, name in enumerate(arm.layout.names):
        if name.startswith(('Fv', 'Fc')):
            theta[k] *= warm * (1 + OWN_FRICTION * rng.normal())
        theta[k] += change.get(name, 0.0)
    t, q, qd, qdd = sines(rng, arm.n, rng.uniform(8, 25), rng.choice([0.05, 0.08, 0.12]), 0.8)
    tau = regressor(arm, q, qd, qdd) @ theta
    tau += ROUGH * np.abs(tau) * np.tanh(qd / 0.05)
    return t, q, tau + NOISE * tau.std(axis=0) * coloured(rng, tau.shape, MEMORY)


def good_fleet(seed: int) -> Fleet:
    """Make a fleet without faults."""
    arm = the_arm(seed)
    return arm, {f'{k:02d}': simulated(arm, k, seed, {}) for k in range(BAGS)}, {}


def planted_fleet(seed: int) -> Fleet:
    """Make a fleet with odd bags."""
    arm, bags, kinds = good_fleet(seed)
    rng, layout = np.random.default_rng(seed), arm.layout
    nominal = dict(zip(layout.names, nominal_parameters(arm), strict=True))
    mass, reach = 0.33 * sum(nominal[f'm{k}'] for k in range(arm.n - 1, arm.n + 1)), 0.1
    load = {f'm{arm.n}': mass, f'mz{arm.n}': mass * reach, f'Ixx{arm.n}': mass * reach**2,
            f'Iyy{arm.n}': mass * reach**2}
    links = {name: nominal[name] * rng.uniform(-0.5, 0.5)
             for name in layout.names if name.startswith(('m', 'I'))}
    for k in LOADED:
        bags[f'{k:02d}'], kinds[f'{k:02d}'] = simulated(arm, k, seed, load), 'load'
    for k, fault in FAULTS.items():
        name = f'{k:02d}'
        bags[name] = (simulated(arm, k, seed, links) if fault == 'other_arm'
                      else spoilt(bags[name], fault, seed))
        kinds[name] = fault
    return arm, bags, kinds


def spoilt(bag: Bag, fault: str, seed: int) -> Bag:
    """Plant a fault of the signals into one of the first joints but the base."""
    t, q, tau = bag
    tau, joint = tau.copy(), 1 + seed % 2
    if fault == 'exchanged':
        tau[:, [1, 2]] = tau[:, [2, 1]]
    else:
        tau[:, joint] *= {'sign': -1.0, 'gain': 2.0}[fault]
    return t, q, tau


def cut(log: Recording, seconds: float) -> Iterator[Bag]:
    """Cut a recording into bags."""
    count = max(int((log.t[-1] - log.t[0]) // seconds), 1)
    for part in np.array_split(np.arange(len(log.t)), count):
        yield log.t[part], log.q[part], log.u[part]


def real_fleets(folder: Path) -> Iterator[tuple[str, Fleet]]:
    """Cut recordings of each arm into bags, with and without planted faults."""
    for place, plain, loaded, seconds in REAL:
        own = folder / place / 'arm.yaml'
        arm = given = load_arm(own if own.exists() else place)
        good: Bags = {}
        for file in plain:
            log, _ = checked_recording(read_recording(folder / place / file, arm), arm)
            good |= {f'{Path(file).stem}_{k:02d}': bag for k, bag in enumerate(cut(log, seconds))}
        # The bags are written under names that every arm has.
        arm = replace(arm, table=Table())
        yield place, (arm, good, {})
        bags, kinds = dict(good), {}
        names = list(good)
        for k, fault in enumerate(CAUSES):
            name = names[(2 * k + 1) * len(names) // 7]
            bags[name], kinds[name] = spoilt(bags[name], fault, 0), fault
        for file in loaded:
            log, _ = checked_recording(read_recording(folder / place / file, given), given)
            for k, bag in zip(range(2), cut(log, seconds), strict=False):
                bags[f'loaded{k}'], kinds[f'loaded{k}'] = bag, 'load'
        yield f'{place}, planted', (arm, bags, kinds)


def judged(arm: ArmModel, bags: Bags, kinds: dict[str, str]) -> list[tuple[str, str, str]]:
    """Run the fleet; return bag, planted fault, and verdict of what is odd or planted."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'bags').mkdir()
        for name, (t, q, u) in bags.items():
            np.savez(Path(folder) / 'bags' / f'{name}.npz', t=t, q=q, u=u)
        try:
            found = run_fleet(arm, [f'{folder}/bags'], Path(folder) / 'out')
        except DynidError as error:
            return [('', '', str(error))]
    odd = {Path(each.bag.name).stem: each for each in found.odd}
    result = []
    for name in sorted({*odd, *kinds}):
        each, planted = odd.get(name), kinds.get(name, '')
        code = each.findings[0].code if each and each.findings else ''
        state = 'not odd' if each is None else f'{each.difference}; {code or "no cause"}'
        right = each is not None and (
            code == CAUSES[planted] if planted in CAUSES else not code)
        result.append((name, planted, ('' if right else '! ') + state))
    return result


def _simulated(make: Callable[[int], Fleet], seed: int) -> tuple[str, list[tuple[str, str, str]]]:
    fleet = make(seed)
    return fleet[0].name, judged(*fleet)


def main() -> None:
    """Print the accused and the planted bags, and count them."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--fleets', type=int, default=20)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--real', type=Path)
    parser.add_argument('--kinds', nargs='+', default=['good', 'planted', 'real'])
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.fleets)
    with ProcessPoolExecutor(2) as pool:
        for kind, make in (('good', good_fleet), ('planted', planted_fleet)):
            if kind in args.kinds:
                count: Counter[str] = Counter()
                made = pool.map(partial(_simulated, make), seeds)
                for seed, (name, lines) in zip(seeds, made, strict=True):
                    _tell(f'{kind} fleet {seed}, {name}', lines, count)
                print(f'{args.fleets} {kind} fleets of {BAGS} bags: {dict(count)}\n', flush=True)
    if args.real and 'real' in args.kinds:
        count = Counter()
        for name, fleet in real_fleets(args.real):
            _tell(f'{name}: {len(fleet[1])} bags', judged(*fleet), count)
        print(f'real bags: {dict(count)}')


def _tell(title: str, lines: list[tuple[str, str, str]], count: Counter[str]) -> None:
    if lines:
        print(title, flush=True)
    for bag, planted, state in lines:
        print(f'  {bag} ({planted or "good"}): {state}', flush=True)
        seen = 'missed' if state.endswith('not odd') else 'odd'
        cause = '' if 'no cause' in state else ', wrong cause' if state.startswith('!') else (
            ', cause' if seen == 'odd' else '')
        count[f'{planted or "good"} {seen}{cause}'] += 1


if __name__ == '__main__':
    main()
