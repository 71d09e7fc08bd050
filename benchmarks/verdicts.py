# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Whether the verdict accuses recordings that have no fault.

    pip install example-robot-data
    python benchmarks/verdicts.py [--robots FOLDER ...] [--real FOLDER] [--seeds 2] [--stretches 0]

Simulated are the arms of ``any_arm.py``, each URDF in the folders given, the shipped arms, and
random chains of links of random size, every one with several motions and levels of noise. Those
whose description or motion is refused are counted separately. FOLDER of --real holds recordings
of real arms without a fault (shared/recordings.py). Each finding that is an error is printed with
the number of recordings that have one; findings that are warnings are counted only. With
--stretches, so many random stretches of each length in `LENGTHS` take the place of each real
recording, and none is simulated.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
import tempfile

from any_arm import command, folder_of_robots, ROBOTS
import numpy as np
from shared.recordings import field_recordings, recordings

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import JointLimits, KinematicTree
from dynid_ros.arm.drive import Drive, joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import DynidError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.simulation.record import simulate
from dynid_ros.simulation.sensors import drive_signal

SHIPPED = ('gluon_6l3', 'panda', 'tx40', 'two_axis', 'ur10')
#: Random chains, and white noise of the torque of any arm, by the usual one.
CHAINS, NOISES = 30, (0.2, 1.0, 3.0)
#: Lengths of stretches, s.
LENGTHS = (2.5, 3.5, 5.0, 7.0, 10.0, 20.0)

Judged = tuple[str, ArmModel, list[Recording], list[Recording]]


def random_chain(seed: int) -> ArmModel:
    """Return a chain of four to seven links of one random size, with axes as arms have them."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(4, 8)), float(np.exp(rng.uniform(np.log(0.1), np.log(0.6))))
    turns = [np.eye(3)[:, rng.permutation(3)] for _ in range(n)]
    rotation = np.array([turn * np.linalg.det(turn) for turn in turns])
    links = []
    for _ in range(n):
        mass = 1500 * size**3 * 0.1 * rng.uniform(0.3, 1.5)
        radii = size * rng.uniform(0.05, 0.3, 3)
        inertia = mass * np.diag((radii**2).sum() - radii**2)
        links.append(inertial_from_com(mass, size * rng.uniform(-0.3, 0.5, 3), inertia))
    arm = ArmModel(
        name=f'chain {seed}',
        tree=KinematicTree(
            joint_names=tuple(f'joint{k + 1}' for k in range(n)),
            parent=np.arange(-1, n - 1), rotation=rotation,
            translation=size * rng.uniform(-0.1, 1.0, (n, 3)),
            prismatic=np.zeros(n, dtype=np.bool_), axis=np.tile([0.0, 0.0, 1.0], (n, 1))),
        gravity=np.array([0.0, 0.0, -9.81]), limits=JointLimits.unknown(n),
        drive=Drive.joint_torque(n), inertial=np.array(links))
    return with_plausible_drives(arm)[0]


def arms(folders: list[Path]) -> Iterator[ArmModel | str]:
    """Yield arms, or why one cannot be read."""
    named = {name: (folder_of_robots(None) / path, chosen)
             for name, (path, chosen) in ROBOTS.items()}
    named |= {path.stem: (path, ()) for each in folders for path in sorted(each.glob('*.urdf'))}
    yield from map(load_arm, SHIPPED)
    for name, (path, chosen) in named.items():
        with tempfile.TemporaryDirectory() as own:
            status, _, reason = command(Counter(), 'init', path, '-o', f'{own}/arm', *chosen)
            try:
                yield reason if status else replace(
                    with_plausible_drives(load_arm(f'{own}/arm'))[0], name=name)
            except DynidError as error:
                yield f'{name}: {error}'
    yield from map(random_chain, range(CHAINS))


def simulated(arm: ArmModel, seeds: int) -> Iterator[tuple[str, Recording]]:
    """Simulate the arm, each time with another motion and level of noise."""
    for seed in range(seeds):
        found = simulate(
            arm, random_motion(arm, seed, periods=2 + seed % 2, tries=20), rate_hz=250, seed=seed)
        exact = drive_signal(found.truth.tau, np.zeros_like(found.truth.tau), arm.drive)
        level = NOISES[seed % len(NOISES)]
        # As a reader gives positions: of the joints, not of the motors.
        yield f'{arm.name}, motion {seed}, noise {level:g}', replace(
            found.log, q=joint_position(found.log.q, arm.drive),
            u=exact + level * (found.log.u - exact))


def real_recordings(folder: Path) -> Iterator[Judged]:
    """Yield recordings of real arms to fit and to hold out, with a name."""
    for name, arm, log, _ in recordings(folder):
        yield name, arm, [log], []
    for name, arm, logs, rest, _ in field_recordings(folder / 'field'):
        yield name, arm, logs, rest


def stretches(folder: Path, count: int) -> Iterator[Judged]:
    """Yield random stretches of recordings of real arms."""
    rng = np.random.default_rng(0)
    logs = {(name.partition(',')[0], k, len(log.t)): (arm, log)
            for name, arm, fitted, rest in real_recordings(folder)
            for k, log in enumerate([*fitted, *rest])}
    for (name, k, _), (arm, log) in logs.items():
        for length in (each for each in LENGTHS if each < log.t[-1] - log.t[0]):
            for begin in rng.uniform(log.t[0], log.t[-1] - length, count):
                first, last = np.searchsorted(log.t, [begin, begin + length])
                yield (f'{name} {k + 1}, {length:g} s from {begin:.1f} s', arm,
                       [log.part(int(first), int(last))], [])


def simulated_recordings(folders: list[Path], seeds: int) -> Iterator[Judged | str]:
    """Yield simulated recordings, or why there are none."""
    for arm in arms(folders):
        if isinstance(arm, str):
            yield arm
            continue
        try:
            for name, log in simulated(arm, seeds):
                yield name, arm, [log], []
        except DynidError as error:
            yield f'{arm.name}: {error}'


def main() -> None:
    """Print the errors that recordings without a fault are accused of."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--robots', nargs='*', type=Path, default=[])
    parser.add_argument('--real', type=Path)
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--stretches', type=int, default=0)
    args = parser.parse_args()
    judged, accused, suspected, refused = 0, 0, 0, 0
    warned: Counter[str] = Counter()
    real = iter(()) if args.real is None else (
        stretches(args.real, args.stretches) if args.stretches else real_recordings(args.real))
    synthetic = () if args.stretches else simulated_recordings(args.robots, args.seeds)
    for each in chain(real, synthetic):
        if isinstance(each, str):
            refused += 1
            print(f'refused: {each}', flush=True)
            continue
        name, arm, logs, rest = each
        try:
            verdict = identify(arm, logs, validation=rest).verdict
        except DynidError as error:
            refused += 1
            print(f'refused: {name}: {error}', flush=True)
            continue
        judged, accused = judged + 1, accused + (not verdict.trustworthy)
        suspected += any(line.reported for line in verdict.suspects)
        for finding in verdict.findings:
            if finding.is_error:
                print(f'{name}: {finding.code}: {finding.sentence}', flush=True)
            else:
                warned[finding.code] += 1
    print(f'{accused} of {judged} recordings without a fault are accused of an error '
          f'({100 * accused / max(judged, 1):.1f} %), {suspected} of a suspect of the table; '
          f'{refused} arms or motions were refused')
    print('warnings: ' + (', '.join(f'{count} {code}' for code, count in warned.items()) or '0'))


if __name__ == '__main__':
    main()
