# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How often the 95 % intervals of a load hold the truth while friction and zeros drift.

    python benchmarks/payload_intervals.py [--arms NAME...] [--trials 10] [--worlds plain rough]

Each trial identifies an arm of payload.py from a recording without a load, and estimates 0.5, 2
and 5 kg from another recording. Between the two, each coefficient of friction changes by 15 %
(standard deviation), and the offset of each torque sensor by 15 % of the Coulomb friction of its
joint.

- ordinary motions: random, of 30 s without the load and of 20 s with it
- in step: all joints follow one sine, twice the same motion, of 20 s

In the world `plain` the arm has the friction that the model has. In `rough`, friction has 5 % of
the torque that loads each joint, too, and more at low speeds; both drift likewise, and no term of
the model has them, nor an offset. With a `hose`, the load brings torque that no body explains,
too: a smooth function of the position of each joint, 40 % of the torque of the load (root mean
square).

Printed are, by arm and mass and for all together: how many loads are stated (trusted), and why
others are not; of those stated, how often the interval of the mass holds the truth, and those of
the coordinates of the centre where the data determine it; and the median half-width of both.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np
from payload import (
    FRICTION,
    INTERVAL,
    link,
    noise_beside,
    random_load,
    RATE,
    recorded,
    simulated,
    truth,
)
from shared.tables import heading, row

from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.arm import ArmModel
from dynid_ros.dynamics.load_columns import frame_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.utilities.arrays import Array

MASSES = (0.5, 2.0, 5.0)
#: Standard deviation of what changes between the recordings, relative to its size.
DRIFT = 0.15
#: Friction that no term has: share of the torque of the joint, and share of Coulomb friction that
#: is there at standstill and has decayed at this speed, rad/s.
OF_TORQUE, OF_REST, SPEED = 0.05, 0.3, 0.15
#: Frequency of the motion in step, Hz, and its length, s.
STEP_HZ, STEP_SECONDS = 0.15, 20.0
#: Torque of a hose by that of the load, root mean square of each joint.
HOSE = 0.4

#: True parameters of a load, and what is found; nothing if the mass is refused.
Trial = tuple[Array, Payload | None]


@dataclass(frozen=True, eq=False)
class Course:
    """Times (N,), positions and velocities (N, n), and regressor of a motion."""

    t: Array
    q: Array
    qd: Array
    Y: Array


def ordinary(arm: ArmModel, seed: int, periods: int) -> Course:
    """Move along random series."""
    motion = random_motion(arm, seed, tries=20, periods=periods)
    t = np.arange(round(motion.duration * RATE)) / RATE
    q, qd, qdd = motion.evaluate(t)
    return Course(t, q, qd, regressor(arm, q, qd, qdd))


def in_step(arm: ArmModel, seed: int) -> Course:
    """Move all joints by one sine, each with an amplitude of its own."""
    rng = np.random.default_rng([seed, 5])
    lower, upper = (np.clip(x, -2.5, 2.5) for x in (arm.limits.lower, arm.limits.upper))
    size = rng.uniform(0.05, 0.3, arm.n) * (upper - lower) * rng.choice([-1, 1], arm.n)
    centre = (lower + upper) / 2 + rng.uniform(-0.15, 0.15, arm.n) * (upper - lower)
    t, w = np.arange(round(STEP_SECONDS * RATE)) / RATE, 2 * np.pi * STEP_HZ
    sine, cosine = (size * wave(w * t)[:, None] for wave in (np.sin, np.cos))
    q, qd, qdd = centre + sine, w * cosine, -w**2 * sine
    return Course(t, q, qd, regressor(arm, q, qd, qdd))


def torque(arm: ArmModel, course: Course, load: Array, drift: float, rough: bool,
           rng: np.random.Generator) -> Array:
    """Torque (N, n) with a load, on a day with friction and offsets of its own."""
    theta = truth(arm, load, None)
    viscous, coulomb, offset = (arm.layout.friction_columns(x) for x in ('Fv', 'Fc', 'Fo'))
    dry = np.abs(theta[coulomb])

    def drifted(size: Array | float) -> Array:
        return size * (1 + drift * rng.normal(size=arm.n))

    for own in (viscous, coulomb):
        theta[own] = drifted(theta[own])
    theta[offset] += drift * dry * rng.normal(size=arm.n)
    tau = course.Y @ theta
    if rough:
        theta[[*viscous, *coulomb, *offset]] = 0.0
        tau += np.tanh(course.qd / 0.02) * (
            drifted(OF_TORQUE) * np.abs(course.Y @ theta)
            + drifted(OF_REST * dry) * np.exp(-np.abs(course.qd) / SPEED))
    return np.asarray(tau)


@dataclass(frozen=True, eq=False)
class Subject:
    """An arm, its world and torque noise (n,), its model, and the motion with a load."""

    arm: ArmModel
    rough: bool
    noise: Array
    model: IdentifiedModel
    course: Course
    seed: int

    def estimated(self, mass: float, hose: bool) -> Trial:
        """Estimate a load of some mass, maybe with a hose."""
        load = random_load(np.random.default_rng([self.seed, 3]), mass)
        tau = torque(self.arm, self.course, load, DRIFT, self.rough,
                     np.random.default_rng([self.seed + 1, 21]))
        if hose:
            tau += self._hose(load)
        course = self.course
        log = recorded(self.arm, course.t, course.q, tau, self.noise, self.seed + 1)
        try:
            return load, estimate_payload(self.model, [log])
        except RecordingError:
            return load, None

    def _hose(self, load: Array) -> Array:
        own, q = self.course.Y[:, :, link(self.arm)], self.course.q
        size = np.sqrt(((own @ frame_change(self.arm.tool.placement) @ load)**2).mean(axis=0))
        rng = np.random.default_rng([self.seed, round(10 * load[0]), 9])
        return np.asarray(HOSE * size * sum(
            rng.normal(size=self.arm.n) / k * np.sin(k * q + rng.uniform(0, 2 * np.pi, q.shape[1]))
            for k in (1, 2)))


def subject(name: str, rough: bool, step: bool, seed: int) -> Subject:
    """Identify an arm from a recording without a load."""
    arm, nothing = simulated(name), np.zeros(10)
    if step:
        free = loaded = in_step(arm, seed)
    else:
        free, loaded = ordinary(arm, 2 * seed, 3), ordinary(arm, 2 * seed + 1, 2)
    noise = noise_beside(arm, free.Y @ truth(arm, nothing, None))
    tau = torque(arm, free, nothing, 0.0, rough, np.random.default_rng([seed, 21]))
    model = identify(arm, [recorded(arm, free.t, free.q, tau, noise, seed)], holdout=0.0,
                     friction=FRICTION[:2] if rough else FRICTION)
    return Subject(arm, rough, noise, model, loaded, seed)


def counts(trials: list[Trial]) -> tuple[str, ...]:
    """Return how many loads are stated, why others are not, and what intervals hold."""
    stated = [(load, found.body) for load, found in trials if found and found.trustworthy]
    refused = Counter('undetermined' if found is None else found.findings[0].code
                      for _, found in trials if not (found and found.trustworthy))
    known = [(load, body) for load, body in stated if body.from_data[:4].all()]
    masses = [abs(body.mass - load[0]) <= INTERVAL * body.mass_std for load, body in stated]
    centres = [np.abs(body.center - load[1:4] / load[0]) <= INTERVAL * body.center_std
               for load, body in known]
    mass, centre = (f'{INTERVAL * np.median(each):.3g}' if each else '–' for each in (
        [body.mass_std for _, body in stated], [1e3 * body.center_std for _, body in known]))
    return (f'{len(stated)} of {len(trials)}',
            ', '.join(f'{count} {code}' for code, count in refused.items()),
            f'{sum(masses)} of {len(masses)}', mass,
            f'{np.sum(centres):g} of {3 * len(centres)}', centre)


def main() -> None:
    """Print the counts of all worlds, motions, arms and masses."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--worlds', nargs='+', default=['plain', 'rough'])
    parser.add_argument('--motions', nargs='+', default=['ordinary', 'in step'])
    parser.add_argument('--trials', type=int, default=10)
    args = parser.parse_args()
    heading('world, motion', 'arm', 'mass', 'stated', 'refused', 'mass held', '±, kg',
            'centre held', '±, mm')
    for world, motion in product(args.worlds, args.motions):
        rough = world == 'rough'
        subjects = {name: [subject(name, rough, motion == 'in step', seed)
                           for seed in range(args.trials)] for name in args.arms}
        for hose in (False, True)[:1 + rough]:
            what = f'{world}{" and hose" * hose}, {motion}'
            every: list[Trial] = []
            for name, mass in product(args.arms, MASSES):
                trials = [each.estimated(mass, hose) for each in subjects[name]]
                row(what, name, f'{mass:g} kg', *counts(trials))
                every += trials
            row(what, 'all', '', *counts(every))


if __name__ == '__main__':
    main()
