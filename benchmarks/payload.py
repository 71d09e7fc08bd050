"""
How well `dynid payload` finds a load, on simulated arms of which it is known.

    python benchmarks/payload.py [FOLDER] [--arms NAME...] [--trials 20]

The arms come from simulated_loads.py, with models from random motions of 30 s. Printed are, for
each arm:

- errors of mass and centre of mass of loads of 0.5 to 5 kg, and the share of 95 % intervals of
  the parameters that the motion determines in which the truth lies: from the motion of 10 s that
  `dynid design ARM --for payload --load 5 --given MODEL` makes, from a minute of it with a model
  from two minutes, and from random ones of 20 s;
- recordings without a load: the masses, and how many are reported as free;
- a load that slips by 4 cm, or falls down, half-way: how many are reported, and how many of the
  fixed ones falsely;
- rests of 1.5 s at 12 positions, each approached from a random direction, with static friction.

Given FOLDER, which holds recordings of real arms as for accuracy.py, a model is identified from
the first 60 % of each, and the load estimated from the rest: as it is, with the torque of 2 kg
added, and with 2 kg that slip or fall half-way.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rests import rest_motion
from simulated_loads import (
    along,
    Bench,
    INTERVAL,
    loaded_recording,
    prepared,
    random_load,
    RATE,
    recorded,
    SECONDS,
    truth,
)

from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.applications.payload.payload_replay import replay_payload
from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.load_columns import frame_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recordings
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split

Array = np.ndarray
REAL = {'ur10': 'ur10/ur10_exciting_trajectory.db3',
        'panda': 'panda/panda_exciting_trajectory.db3', 'tx40': 'tx40/pos_read_data.csv'}
MASSES = (0.5, 1.0, 2.0, 5.0)
#: Periods of the long motion.
LONG = 6


def designed(bench: Bench, load: Array, seed: int) -> Payload:
    """Estimate a load from the motion that is designed for it."""
    return estimate_payload(bench.model, [loaded_recording(bench, load, seed)])


def with_load(bench: Bench, load: Array, seed: int, after: Array | None = None) -> Payload:
    """Estimate a load, which may change half-way, from a motion of 20 s."""
    arm, rng = bench.arm, np.random.default_rng(seed)
    course = along(arm, seed, 2)
    theta = truth(arm, load, rng)
    Y = regressor(arm, *course[1:])
    tau = Y @ theta
    if after is not None:
        half = len(tau) // 2
        link = arm.layout.inertial(arm.tool.joint % arm.n)
        tau[half:] += Y[half:, :, link] @ frame_change(arm.tool.placement) @ (after - load)
    return estimate_payload(
        bench.model, [recorded(arm, course, tau, bench.noise, seed, 'loaded')])


def at_rest(bench: Bench, load: Array, seed: int, positions: int = 12) -> Payload:
    """Estimate a load from rests; the first joint hardly moves between them."""
    arm, rng = bench.arm, np.random.default_rng(seed)
    theta = truth(arm, load, rng)
    lower, upper = (np.clip(x, -2.5, 2.5) for x in (arm.limits.lower, arm.limits.upper))
    course = rest_motion(rng.uniform(lower, upper, (positions + 1, arm.n)), RATE)
    names = {term: k for k, term in enumerate(arm.layout.names)}
    coulomb = theta[[names[f'Fc{j + 1}'] for j in range(arm.n)]]
    tau = regressor(arm, course.q, course.qd, course.qdd) @ theta
    tau += course.held(coulomb, rng.uniform(-0.2, 0.8, (positions, arm.n)))
    return estimate_payload(bench.model, [recorded(
        arm, (course.t, course.q), tau, bench.noise, seed, 'rests')])


def errors(found: Payload, load: Array) -> tuple[float, float, float]:
    """Error of the mass, by it and in kg, and of the centre, m."""
    mass = abs(found.body.mass - load[0])
    return mass / load[0], mass, float(
        np.linalg.norm(found.body.center - load[1:4] / load[0]))


def print_loads(
    bench: Bench, trials: int, estimate: Callable[[Bench, Array, int], Payload],
    masses: tuple[float, ...] = MASSES,
) -> None:
    """Print errors and coverage of loads."""
    inside, wrong, every = [], 0, 0
    for mass in masses:
        found_errors, stds = [], []
        for k in range(trials):
            load = random_load(np.random.default_rng([k, 3]), mass)
            found = estimate(bench, load, 10 * k + int(10 * mass))
            found_errors.append(errors(found, load))
            stds.append(found.body.mass_std)
            known = found.body.from_data
            inside += list((np.abs(found.body.parameters - load)
                            <= INTERVAL * found.body.std)[known])
            wrong += not found.trustworthy
            every += 1
        relative, absolute, center = np.array(found_errors).T
        print(f'  {mass:g} kg: mass error median {100 * np.median(relative):.2f} %, 95 of 100 '
              f'{100 * np.quantile(relative, 0.95):.2f} % ({np.quantile(absolute, 0.95):.4f} kg; '
              f'stated std {np.median(stds):.4f} kg); centre {1e3 * np.median(center):.1f} and '
              f'{1e3 * np.quantile(center, 0.95):.1f} mm')
    print(f'  truth in {100 * np.mean(inside):.1f} % of {len(inside)} intervals of 95 %; '
          f'{wrong} of {every} not trusted')


def print_others(bench: Bench, trials: int) -> None:
    """Print free arms, changing loads and rests."""
    free = [with_load(bench, np.zeros(10), 5000 + k) for k in range(trials)]
    masses = [abs(found.masses[found.method][0]) for found in free]
    print(f'  without load: largest mass {max(masses):.3f} kg; '
          f'{sum(not found.present for found in free)} of {trials} without payload')
    slipped = dropped = 0
    for k in range(trials):
        load = random_load(np.random.default_rng([k, 5]), 2.0)
        moved = load.copy()
        moved[1:4] += 2.0 * 0.04 * np.eye(3)[k % 3]
        for name, after in (('slip', moved), ('drop', np.zeros(10))):
            found = with_load(bench, load, 7000 + k, after)
            named = any(finding.code == 'payload_changed' for finding in found.findings)
            slipped += named and name == 'slip'
            dropped += named and name == 'drop'
    print(f'  2 kg: slip of 4 cm named {slipped} of {trials}, drop {dropped} of {trials}')
    rests, inside = [], []
    for k in range(trials):
        load = random_load(np.random.default_rng([k, 9]), 2.0)
        found = at_rest(bench, load, 9000 + k)
        alone, std = found.masses['rests']
        rests.append((*errors(found, load), abs(alone / load[0] - 1),
                      abs(alone - load[0]) <= INTERVAL * std))
        known = found.body.from_data[:4]
        inside += list((np.abs(found.body.parameters - load)[:4]
                        <= INTERVAL * found.body.std[:4])[known])
    relative, _, center, alone, hold = np.array(rests).T
    print(f'  2 kg, 12 rests and the ways between: mass median {100 * np.median(relative):.2f} %, '
          f'95 of 100 {100 * np.quantile(relative, 0.95):.2f} %; centre '
          f'{1e3 * np.median(center):.1f} and {1e3 * np.quantile(center, 0.95):.1f} mm; '
          f'{100 * np.mean(inside):.0f} % of intervals hold')
    print(f'    from the rests alone: mass median {100 * np.median(alone):.2f} %, 95 of 100 '
          f'{100 * np.quantile(alone, 0.95):.2f} %; {100 * hold.mean():.0f} % of intervals hold')


def verdict_of(found: Payload) -> str:
    """Name the findings, or say that there are none."""
    return ', '.join(each.code for each in found.findings) or 'trusted'


def print_real(name: str, path: Path) -> None:
    """Print what is found in a real recording, and in copies with the torque of a load."""
    arm = load_arm(name)
    log, _ = checked_recording(read_recording(path, arm), arm)
    first, rest = split(log, 0.4)
    model = identify(arm, [first], holdout=0.0)
    motion = condition_recordings(arm, [rest], model.treatment)[0]
    rigid = arm.rigid()
    Y = regressor(rigid, motion.q, motion.qd[:], motion.qdd[:])
    Y = Y[:, :, rigid.layout.inertial(arm.tool.joint % arm.n)] @ frame_change(arm.tool.placement)
    through = np.linalg.inv(joint_torque(np.eye(arm.n), arm.drive))
    load = inertial_from_com(2.0, [0.03, -0.02, 0.08], np.diag([0.01, 0.012, 0.006]))
    slip = load + 0.08 * np.eye(10)[2]
    late = (rest.t > rest.t[len(rest.t) // 2])[:, None]
    print(f'{name}, real: model of {first.seconds:.1f} s, load of {rest.seconds:.1f} s')
    for what, before, after in (('nothing', 0 * load, 0 * load), ('2 kg', load, load),
                                ('slip', load, slip), ('drop', load, 0 * load)):
        tau = [np.column_stack([np.interp(rest.t, motion.t, column) for column in (Y @ p).T])
               for p in (before, after)]
        added = np.where(late, tau[1], tau[0]) @ through
        loaded = replace(rest, u=rest.u + added)
        found, live = estimate_payload(model, [loaded]), replay_payload(model, loaded)[0]
        (mass, std), change = found.masses['motion'], found.change
        off = 1e3 * np.linalg.norm(found.body.center - load[1:4] / load[0])
        center = f', centre off by {off:.1f} mm' if what == '2 kg' else ''
        print(f'  {what}: {mass:.3f} ± {INTERVAL * std:.3f} kg{center}, clearest change '
              f'by chance {change.chance if change else 1:.0e}; {verdict_of(found)}')
        mass, std = live.masses['motion']
        print(f'    live: {mass:.3f} ± {INTERVAL * std:.3f} kg; {verdict_of(live)}')


def main() -> None:
    """Print the figures of all arms."""
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', nargs='?', type=Path)
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--trials', type=int, default=20)
    args = parser.parse_args()
    if args.folder is not None:
        for name in args.arms:
            print_real(name, args.folder / REAL[name])
    for name in args.arms if args.trials else ():
        bench = prepared(name)
        error = bench.model.validation.relative_error_percent if bench.model.validation else 0
        print(f'{name}: noise {", ".join(f"{x:.3g}" for x in bench.noise)} Nm; held-out error of '
              f'the model {error:.2f} %', flush=True)
        mass, center = bench.designed.expected_std(bench.motion)
        print(f' designed motion of {bench.motion.duration:g} s; expected standard deviation of '
              f'5 kg: {mass:.4f} kg, centre {1e3 * np.linalg.norm(center):.2f} mm')
        print_loads(bench, args.trials, designed)
        print(f' the same motion for {LONG * SECONDS:g} s, and a model from 120 s', flush=True)
        print_loads(prepared(name, LONG), args.trials, designed, MASSES[:1])
        print(' random motions of 20 s', flush=True)
        print_loads(bench, args.trials, with_load)
        print_others(bench, args.trials)


if __name__ == '__main__':
    main()
