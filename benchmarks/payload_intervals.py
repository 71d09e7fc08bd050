# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How often the 95 % intervals of a load hold the truth while friction and zeros drift.

    python benchmarks/payload_intervals.py [--parts worlds session sensor] [--arms NAME...]
        [--trials 10] [--first 0] [--worlds plain rough] [--motions ordinary 'in step']

Trials have the seeds from `--first` on.

In the part `worlds`, each trial identifies an arm of payload.py from a recording without a load,
and estimates 0.5, 2 and 5 kg from another recording. Between the two, each coefficient of friction
changes by 15 % (standard deviation), and the offset of each torque sensor by 15 % of the Coulomb
friction of its joint.

- ordinary motions: random, of 30 s without the load and of 20 s with it
- in step: all joints follow one sine, twice the same motion, of 20 s
- in step, elsewhere: the same, with the load along another sine of the joints than without it

In the world `plain` the arm has the friction that the model has. In `rough`, friction has 5 % of
the torque that loads each joint, too, and more at low speeds; both drift likewise, and no term of
the model has them, nor an offset. With a `hose`, the load brings torque that no body explains,
too: a smooth function of the position of each joint, 40 % of the torque of the load (root mean
square).

Printed are, by arm and mass and for all together: how many loads are stated (trusted), and why
others are not; of those stated, how often the interval of the mass holds the truth, and those of
the coordinates of the centre where the data determine it; the median half-width of both; and the
root of the mean square error of the mass.

In the part `session`, recordings of 20 s follow one another while friction and zeros drift on
evenly, within recordings, too: by 30 % (standard deviation) from the begin of the first to the
end of the fourth. U is one without the load, L one with it. The orders are compared, and for the
order U L also what a known mass is worth, and a load on link 3 that is looked for on the tool, and
there.

In the part `sensor`, a force-torque sensor on the tool is turned by 5° from its frame, and has
biases of 0.5 Nm and 5 N, a drift of 2 % of them, and noise of 0.01 Nm and 0.1 N that is correlated
over 20 ms; motions are random, of 30 s at 200 Hz, with encoders of 2^20 counts.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from payload import (
    COUNTS,
    FRICTION,
    INTERVAL,
    link,
    noise_beside,
    random_load,
    RATE,
    recorded,
    simulated,
    TIME_CONSTANT,
    truth,
)
from shared.noise import coloured
from shared.tables import heading, row

from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.applications.payload.load_estimate import KnownLoad
from dynid_ros.applications.sensor.estimate import estimate_sensor
from dynid_ros.arm import ArmModel
from dynid_ros.arm.bodies import find_body, with_tool_on
from dynid_ros.data.files.wrench_reader import WrenchRecording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.kinematics.body_regressor import body_motion, body_regressor
from dynid_ros.dynamics.kinematics.rotations import turned
from dynid_ros.dynamics.load_columns import frame_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.sensors import quantise
from dynid_ros.utilities.arrays import Array

MASSES = (0.5, 2.0, 5.0)
#: Standard deviation of what changes between the recordings, relative to its size.
DRIFT = 0.15
#: Friction that no term has: share of the torque of the joint, and share of Coulomb friction that
#: is there at standstill and has decayed at this speed, rad/s.
OF_TORQUE, OF_REST, SPEED = 0.05, 0.3, 0.15
#: Frequency of the motion in step, Hz, and its length, s.
STEP_HZ, STEP_SECONDS = 0.15, 20.0
#: Motion in step with the load along another course than without it.
ELSEWHERE = 'in step, elsewhere'
#: Drift of friction and zeros in the course of a session of four recordings.
SESSION_DRIFT = 0.3
#: Sensor: its rotation from its frame, degrees; bias and noise, Nm and N; drift by the bias.
TURN, BIASES, SENSOR_NOISE, SENSOR_DRIFT = 5.0, (0.5, 5.0), (0.01, 0.1), 0.02
#: Torque of a hose by that of the load, root mean square of each joint.
HOSE = 0.4

#: Headings of loads.
COLUMNS = ('world, motion', 'arm', 'mass', 'stated', 'refused', 'mass held', '±, kg',
           'centre held', '±, mm', 'off, kg')

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


def subject(name: str, rough: bool, motion: str, seed: int) -> Subject:
    """Identify an arm from a recording without a load."""
    arm, nothing = simulated(name), np.zeros(10)
    if motion == ELSEWHERE:
        free, loaded = in_step(arm, 2 * seed), in_step(arm, 2 * seed + 1)
    elif motion == 'in step':
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
    off = [body.mass - load[0] for load, body in stated]
    # A mass that was given has no interval.
    free = [held for held, (_, body) in zip(masses, stated, strict=True) if body.mass_std > 0]
    return (f'{len(stated)} of {len(trials)}',
            ', '.join(f'{count} {code}' for code, count in refused.items()),
            f'{sum(free)} of {len(free)}' if free else 'given', mass if free else '–',
            f'{np.sum(centres):g} of {3 * len(centres)}', centre,
            f'{np.sqrt(np.mean(np.square(off))):.2g}' if free else '–')


@dataclass(frozen=True, eq=False)
class Session:
    """An arm whose friction and zeros drift on, its torque noise (n,), and what was recorded."""

    arm: ArmModel
    noise: Array
    courses: tuple[Course, ...]
    seed: int

    def recording(self, place: int, load: Array, arm: ArmModel | None = None) -> Recording:
        """Record in one of four places of the session, with a load on the tool of an arm."""
        arm, course = arm or self.arm, self.courses[place]
        ends = [torque(arm, course, load, SESSION_DRIFT * end / 4, False,
                       np.random.default_rng([self.seed, 21])) for end in (place, place + 1)]
        share = (course.t / course.t[-1])[:, None]
        log = recorded(self.arm, course.t, course.q, (1 - share) * ends[0] + share * ends[1],
                       self.noise, 10 * self.seed + place)
        return replace(log, began=1e9 + 60.0 * place, source=f'{log.source}, {place + 1}')

    def model(self, *places: int) -> IdentifiedModel:
        """Identify the arm from some places without a load."""
        return identify(self.arm, [self.recording(place, np.zeros(10)) for place in places],
                        holdout=0.0, friction=FRICTION)


def session(name: str, seed: int) -> Session:
    """Move an arm along four random motions of 20 s."""
    arm = simulated(name)
    courses = tuple(ordinary(arm, 4 * seed + k, 2) for k in range(4))
    noise = noise_beside(arm, courses[0].Y @ truth(arm, np.zeros(10), None))
    return Session(arm, noise, courses, seed)


def print_sessions(arms: list[str], count: int, first: int) -> None:
    """Print the orders of a session, what a known mass is worth, and a load on link 3."""
    heading(*COLUMNS)
    trials: dict[tuple[str, float], list[Trial]] = {}
    gains, elsewhere = list[float](), Counter[str]()
    for name, seed in product(arms, range(first, first + count)):
        made = session(name, seed)
        early, both, nothing = made.model(0), made.model(0, 1), np.zeros(10)
        third = early.arm.joint_names[2]
        forearm = with_tool_on(made.arm, third)
        for mass in MASSES:
            load = random_load(np.random.default_rng([seed, 3]), mass)
            L = [made.recording(place, load) for place in range(4)]
            single, known = estimate_payload(early, L[1:2]), estimate_payload(
                early, L[1:2], known=KnownLoad(mass))
            moved = [made.recording(1, load, forearm)]
            there = estimate_payload(early, moved, link=third, known=KnownLoad(mass))
            on_tool = estimate_payload(early, moved)
            for what, found in (
                    ('U L', single), ('U U L L', estimate_payload(both, L[2:])),
                    ('U L L U', estimate_payload(early, L[1:3], unloaded=[
                        made.recording(3, nothing)])),
                    ('U L, known mass', known), ('U L, known mass on link 3', there)):
                trials.setdefault((what, mass), []).append((load, found))
            if known.gain is not None and known.ready:
                gains.append(known.gain[2] / known.gain[3])
            elsewhere[_blamed(on_tool, third)] += 1
    for (what, mass), every in sorted(trials.items()):
        row(what, 'all', f'{mass:g} kg', *counts(every))
    for what in dict.fromkeys(what for what, _ in trials):
        row(what, 'all', 'all', *counts([each for (own, _), every in trials.items()
                                         for each in every if own == what]))
    print(f'A known mass shrinks the interval of the centre by {np.median(gains):.2f} (median of '
          f'{len(gains)}; quartiles {np.quantile(gains, 0.25):.2f} and '
          f'{np.quantile(gains, 0.75):.2f}).')
    print('A load on link 3, looked for on the tool: ' + ', '.join(
        f'{number} {what}' for what, number in elsewhere.items()), flush=True)


def _blamed(found: Payload, third: str) -> str:
    if found.trustworthy:
        return 'found on the tool' if found.present else 'no load'
    text = found.findings[0].sentence
    return ('named there' if f'--link {third} ' in text else
            'named on another link' if '--link ' in text else found.findings[0].code)


def print_sensors(arms: list[str], count: int, first: int) -> None:
    """Print what is found of a sensor and of the load behind it."""
    heading('arm', 'mass', 'trusted', 'mass off, %', 'centre off, mm', 'bias held', 'mass held',
            'turn held', '±, Fx and Tx')
    for name, mass in product(arms, MASSES):
        found, off, held = [], [], []
        for seed in range(first, first + count):
            log, load, bias, turn = sensor_log(simulated(name), seed, mass)
            each = estimate_sensor(simulated(name), log)
            found.append(each)
            off.append((100 * abs(each.body.mass / mass - 1),
                        1e3 * np.linalg.norm(each.body.center - load[1:4] / mass)))
            pairs = ((each.bias, bias), (each.mass, mass), (each.turn, turn))
            held.append([np.mean(np.abs(value - wanted) <= INTERVAL * std)
                         for (value, std), wanted in pairs])
        worst, (bias_held, mass_held, turn_held) = np.max(off, axis=0), count * np.mean(
            held, axis=0)
        bar = INTERVAL * np.median([each.bias[1] for each in found], axis=0)
        row(name, f'{mass:g} kg', f'{sum(each.trustworthy for each in found)} of {count}',
            f'{worst[0]:.2f} at most', f'{worst[1]:.2f} at most',
            f'{6 * bias_held:.0f} of {6 * count}', f'{mass_held:.0f} of {count}',
            f'{3 * turn_held:.0f} of {3 * count}', f'{bar[3]:.2g} N, {bar[0]:.2g} Nm')


def sensor_log(
    arm: ArmModel, seed: int, mass: float,
) -> tuple[WrenchRecording, Array, Array, Array]:
    """Record a sensor; return the load, the biases in the middle and the turn in degrees, too."""
    rng = np.random.default_rng([seed, 31])
    motion = random_motion(arm, seed, tries=20, periods=3)
    t = np.arange(round(motion.duration * RATE)) / RATE
    q, qd, qdd = motion.evaluate(t)
    load, axis = random_load(rng, mass), rng.normal(size=3)
    turn = TURN * axis / np.linalg.norm(axis)
    bias, noise = np.repeat(BIASES, 3) * rng.normal(size=6), np.repeat(SENSOR_NOISE, 3)
    columns = body_regressor(body_motion(arm, *find_body(arm, 'tool'), q, qd, qdd))
    wrench = -np.einsum(
        'ij,kjp,p->ki', np.kron(np.eye(2), turned(np.radians(turn)).T), columns, load)
    wrench += bias + np.linspace(-1, 1, len(t))[:, None] * (
        SENSOR_DRIFT * np.repeat(BIASES, 3) * rng.normal(size=6) / 2)
    wrench += noise * coloured(rng, wrench.shape, float(np.exp(-1 / (RATE * TIME_CONSTANT))))
    return (WrenchRecording(t, quantise(q, COUNTS, arm.prismatic), wrench, 'sensor', 'simulated',
                            '/wrench'), load, bias, turn)


def main() -> None:
    """Print the counts of all worlds, motions, arms and masses."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--parts', nargs='+', default=['worlds', 'session', 'sensor'])
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--worlds', nargs='+', default=['plain', 'rough'])
    parser.add_argument('--motions', nargs='+', default=['ordinary', 'in step'],
                        choices=['ordinary', 'in step', ELSEWHERE])
    parser.add_argument('--trials', type=int, default=10)
    parser.add_argument('--first', type=int, default=0)
    args = parser.parse_args()
    if 'sensor' in args.parts:
        print_sensors(args.arms, args.trials, args.first)
    if 'session' in args.parts:
        print_sessions(args.arms, args.trials, args.first)
    if 'worlds' in args.parts:
        print_worlds(args)


def print_worlds(args: argparse.Namespace) -> None:
    """Print the counts of all worlds, motions, arms and masses."""
    heading(*COLUMNS)
    for world, motion in product(args.worlds, args.motions):
        rough = world == 'rough'
        subjects = {name: [subject(name, rough, motion, args.first + k)
                           for k in range(args.trials)] for name in args.arms}
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
