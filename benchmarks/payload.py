# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How well `dynid payload` finds a load, on simulated arms of which it is known.

    python benchmarks/payload.py [FOLDER] [--arms NAME...] [--trials 20]

The regressor gives the torque of each arm, with viscous and Coulomb friction and an offset. Torque
noise is coloured (time constant 20 ms; 0.2 % of the torque limit, or of the largest torque where
there is none), encoders have 2^20 counts. The friction of a recording with a load differs by 5 %
(standard deviation) from the free one. Printed are, for each arm:

- errors of mass and centre of mass of loads of 0.5 to 5 kg, and the share of 95 % intervals of
  the parameters that the motion determines in which the truth lies: from the motion of 10 s that
  `dynid design ARM --for payload --load 5 --given MODEL` makes, the model from a random motion of
  30 s; from a minute of it with a model from two minutes; and from random ones of 20 s;
- recordings without a load: the masses, and how many are reported as free;
- a load that slips by 4 cm, or falls down, half-way: how many are reported.

Given FOLDER, that of shared/recordings.py, a model is identified from the first 60 % of each, and
the load estimated from the rest: as it is, with the torque of 2 kg added, and with 2 kg that slip
or fall half-way.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from shared.noise import coloured
from shared.recordings import in_two, recordings

from dynid_ros.applications.payload.design import PayloadDesign
from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.applications.payload.payload_replay import replay_payload
from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.drive import Drive, joint_torque
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import frame_change, friction_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.simulation.sensors import quantise
from dynid_ros.utilities.arrays import Array

#: Rate, Hz, and time constant of the noise, s.
RATE, TIME_CONSTANT = 200.0, 0.02
NOISE, FRICTION_CHANGE, COUNTS = 2e-3, 0.05, 2.0**20
FRICTION = ('viscous', 'coulomb', 'offset')
MASSES = (0.5, 1.0, 2.0, 5.0)
#: Period of the motion for loads, s, the heaviest of them, kg, and the time for its design, s.
SECONDS, HEAVIEST, SEARCH = 10.0, 5.0, 30.0
#: Periods of the long motion.
LONG = 6
#: Half of a 95 % interval, in standard deviations.
INTERVAL = 1.96


@dataclass(frozen=True, eq=False)
class Bench:
    """
    One arm, its noise, the model of it without a load, and a motion for loads.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    noise : (n,) ndarray
        Standard deviation of the torque noise, Nm.
    model : IdentifiedModel
        From a random motion without a load.
    designed : PayloadDesign
        Task of the motion.
    motion : FourierMotion
        That of ``dynid design ARM --for payload --load 5 --given MODEL``.

    """

    arm: ArmModel
    noise: Array
    model: IdentifiedModel
    designed: PayloadDesign
    motion: FourierMotion

    @cached_property
    def course(self) -> tuple[Array, Array, Array]:
        """Return times, positions and regressor of the motion."""
        return along(self.arm, self.motion)


def along(arm: ArmModel, motion: FourierMotion) -> tuple[Array, Array, Array]:
    """Return times (N,), positions (N, n) and regressor of a motion."""
    t = np.arange(round(motion.duration * RATE)) / RATE
    q, qd, qdd = motion.evaluate(t)
    return t, q, regressor(arm, q, qd, qdd)


def link(arm: ArmModel) -> slice:
    """Return where the parameters of the link that carries the tool are."""
    return arm.layout.inertial(arm.tool.joint % arm.n)


def truth(arm: ArmModel, load: Array, rng: np.random.Generator | None) -> Array:
    """Return the true parameters with a load and, given a generator, friction of another day."""
    theta = nominal_parameters(arm)
    theta[link(arm)] += frame_change(arm.tool.placement) @ load
    if rng is not None:
        own = base_parameters(arm).columns[friction_change(arm).argmax(axis=0)]
        theta[own] *= 1 + FRICTION_CHANGE * rng.normal(size=len(own))
    return theta


def random_load(rng: np.random.Generator, mass: float) -> Array:
    """Inertial parameters (10,) of a box whose centre is up to 10 cm from the tool."""
    sides = rng.uniform(0.04, 0.2, 3)
    inertia = mass / 12 * np.diag((sides**2).sum() - sides**2)
    return inertial_from_com(mass, rng.uniform(-0.1, 0.1, 3), inertia)


def recorded(arm: ArmModel, t: Array, q: Array, tau: Array, noise: Array, seed: int) -> Recording:
    """Record a course through noisy sensors."""
    memory = float(np.exp(-1 / (RATE * TIME_CONSTANT)))
    noisy = tau + noise * coloured(np.random.default_rng([seed, 7]), tau.shape, memory)
    return Recording(
        t, quantise(q, COUNTS, arm.prismatic), noisy, arm.joint_names, source=f'seed {seed}')


def simulated(name: str) -> ArmModel:
    """Return an arm with friction and offsets, whose drive signals are torque at the joints."""
    arm = load_arm(name).with_friction(FRICTION)
    return replace(arm, drive=Drive.joint_torque(arm.n))


def noise_beside(arm: ArmModel, tau: Array) -> Array:
    """Return the standard deviation of the noise beside a torque (N, n), (n,), Nm."""
    known = np.isfinite(arm.limits.effort) & (arm.limits.effort > 0)
    return np.asarray(NOISE * np.where(known, arm.limits.effort, np.abs(tau).max(axis=0)))


def prepared(name: str, periods: int = 1) -> Bench:
    """
    Identify an arm from a motion without a load, and design one for loads.

    With several periods of that, the motion without a load is longer, too: two minutes.
    """
    arm = simulated(name)
    t, q, Y = along(arm, random_motion(arm, 1000, tries=20, periods=3 if periods == 1 else 12))
    tau = Y @ truth(arm, np.zeros(10), None)
    noise = noise_beside(arm, tau)
    model = identify(arm, [recorded(arm, t, q, tau, noise, 1)], friction=FRICTION,
                     holdout=1 / 3 if periods == 1 else 0.0)
    task = PayloadDesign(arm, SECONDS * periods, HEAVIEST, given=[model])
    scene = build_scene(task.arm, load_surroundings(name, task.arm))
    found = design(task.arm, Task(
        SECONDS, periods=periods, objective=task.objective, seconds=SEARCH), scene)
    return Bench(arm, noise, model, task, found.motion)


def designed(bench: Bench, load: Array, seed: int) -> Payload:
    """Estimate a load from the motion that is designed for it."""
    t, q, Y = bench.course
    tau = Y @ truth(bench.arm, load, np.random.default_rng(seed))
    return estimate_payload(bench.model, [recorded(bench.arm, t, q, tau, bench.noise, seed)])


def with_load(bench: Bench, load: Array, seed: int, after: Array | None = None) -> Payload:
    """Estimate a load, which may change half-way, from a motion of 20 s."""
    arm = bench.arm
    t, q, Y = along(arm, random_motion(arm, seed, tries=20, periods=2))
    tau = Y @ truth(arm, load, np.random.default_rng(seed))
    if after is not None:
        half = len(tau) // 2
        tau[half:] += Y[half:, :, link(arm)] @ frame_change(arm.tool.placement) @ (after - load)
    return estimate_payload(bench.model, [recorded(arm, t, q, tau, bench.noise, seed)])


def print_loads(
    bench: Bench, trials: int, estimate: Callable[[Bench, Array, int], Payload],
    masses: tuple[float, ...] = MASSES,
) -> None:
    """Print errors and coverage of loads."""
    inside, wrong = [], 0
    for mass in masses:
        errors, stds = [], []
        for k in range(trials):
            load = random_load(np.random.default_rng([k, 3]), mass)
            found = estimate(bench, load, 10 * k + int(10 * mass))
            errors.append((abs(found.body.mass - mass),
                           float(np.linalg.norm(found.body.center - load[1:4] / mass))))
            stds.append(found.body.mass_std)
            inside += list((np.abs(found.body.parameters - load)
                            <= INTERVAL * found.body.std)[found.body.from_data])
            wrong += not found.trustworthy
        (off, center), (most, far) = np.quantile(errors, (0.5, 0.95), axis=0)
        print(f'  {mass:g} kg: mass error median {100 * off / mass:.2f} %, 95 of 100 '
              f'{100 * most / mass:.2f} % ({most:.4f} kg; stated std {np.median(stds):.4f} kg); '
              f'centre {1e3 * center:.1f} and {1e3 * far:.1f} mm', flush=True)
    print(f'  truth in {100 * np.mean(inside):.1f} % of {len(inside)} intervals of 95 %; '
          f'{wrong} of {len(masses) * trials} not trusted')


def print_others(bench: Bench, trials: int) -> None:
    """Print free arms and changing loads."""
    free = [with_load(bench, np.zeros(10), 5000 + k) for k in range(trials)]
    masses = [abs(found.masses[found.method][0]) for found in free]
    print(f'  without load: largest mass {max(masses):.3f} kg; '
          f'{sum(not found.present for found in free)} of {trials} without payload')
    named = {'slip of 4 cm': 0, 'drop': 0}
    for k in range(trials):
        load = random_load(np.random.default_rng([k, 5]), 2.0)
        moved = load.copy()
        moved[1:4] += 2.0 * 0.04 * np.eye(3)[k % 3]
        for name, after in zip(named, (moved, np.zeros(10)), strict=True):
            found = with_load(bench, load, 7000 + k, after)
            named[name] += 'payload_changed' in verdict_of(found)
    print('  2 kg: ' + ', '.join(
        f'{name} named {count} of {trials}' for name, count in named.items()))


def verdict_of(found: Payload) -> str:
    """Name the findings, or say that there are none."""
    return ', '.join(each.code for each in found.findings) or 'trusted'


def print_real(name: str, arm: ArmModel, log: Recording) -> None:
    """Print what is found in a real recording, and in copies with the torque of a load."""
    first, rest = in_two(log, 0.4)
    model = identify(arm, [first], holdout=0.0)
    motion = condition_recordings(arm, [rest], model.treatment)[0]
    rigid = arm.rigid
    Y = regressor(rigid, motion.q, motion.qd[:], motion.qdd[:])
    Y = Y[:, :, link(rigid)] @ frame_change(arm.tool.placement)
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
        print(f'    live: {mass:.3f} ± {INTERVAL * std:.3f} kg; {verdict_of(live)}', flush=True)


def main() -> None:
    """Print the figures of all arms."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('folder', nargs='?', type=Path)
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--trials', type=int, default=20)
    args = parser.parse_args()
    for name, arm, log, _ in recordings(args.folder) if args.folder else ():
        if name in args.arms:
            print_real(name, arm, log)
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
