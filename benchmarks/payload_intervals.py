"""
How often the 95 % intervals of a load hold the truth while friction and zeros drift.

    python benchmarks/payload_intervals.py [--arms NAME...] [--trials 10] [--worlds plain rough]

Each trial identifies an arm from a recording without a load, and estimates one of 0.5, 2 or 5 kg
from another recording. Between the two, each coefficient of friction changes by 15 % (standard
deviation), and the offset of each torque sensor by 15 % of the Coulomb friction of its joint.

- ordinary motions: random, of 30 s without the load and of 20 s with it
- in step: all joints follow one sine, twice the same motion, of 20 s

In the world `plain` the arm has the friction that the model has. In `rough`, friction has 5 % of
the torque that loads each joint, too, and more at low speeds; both drift likewise, and no term of
the model has them, nor an offset. With a `hose`, the load brings torque that no body explains,
too: a smooth function of the position of each joint, 40 % of the torque of the load (standard
deviation).

Printed are, by mass: how many loads are trusted, called undetermined, and refused for another
reason; of all loads that are stated (trusted), how often the interval of the mass holds the truth,
and those of the three coordinates of the centre that the motion determines; and the median
half-width of the interval of the mass and of the centre's coordinates.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from simulated_loads import along, coloured, FRICTION, INTERVAL, NOISE, random_load, RATE, truth

from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.load_columns import frame_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.simulation.sensors import quantise

Array = np.ndarray
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


@dataclass(frozen=True, eq=False)
class World:
    """An arm, the noise of its torque (n,), and whether it has friction that no term has."""

    arm: ArmModel
    noise: Array
    rough: bool

    def recording(
        self, course: tuple[Array, ...], load: Array, drift: float, seed: int, source: str,
    ) -> Recording:
        """Record a course with a load, on a day with friction and offsets of its own."""
        arm, rng = self.arm, np.random.default_rng([seed, 21])
        t, q, qd, qdd = course
        theta, Y = truth(arm, load, None), regressor(arm, q, qd, qdd)
        viscous, coulomb, offset = (arm.layout.friction_columns(x) for x in ('Fv', 'Fc', 'Fo'))
        dry = np.abs(theta[coulomb])
        for own in (viscous, coulomb):
            theta[own] *= 1 + drift * rng.normal(size=arm.n)
        theta[offset] += drift * dry * rng.normal(size=arm.n)
        tau = Y @ theta
        if self.rough:
            theta[[*viscous, *coulomb, *offset]] = 0.0
            share, rest = (size * (1 + drift * rng.normal(size=arm.n))
                           for size in (OF_TORQUE, OF_REST * dry))
            more = share * np.abs(Y @ theta) + rest * np.exp(-np.abs(qd) / SPEED)
            tau += more * np.tanh(qd / 0.02)
        tau += self.noise * coloured(rng, tau.shape)
        return Recording(t, quantise(q, 2.0**20, arm.prismatic), tau, arm.joint_names,
                         source=source)


def in_step(arm: ArmModel, seed: int) -> tuple[Array, Array, Array, Array]:
    """Move all joints by one sine, each with an amplitude of its own."""
    rng = np.random.default_rng([seed, 5])
    lower, upper = (np.clip(x, -2.5, 2.5) for x in (arm.limits.lower, arm.limits.upper))
    size = rng.uniform(0.05, 0.3, arm.n) * (upper - lower) * rng.choice([-1, 1], arm.n)
    centre = (lower + upper) / 2 + rng.uniform(-0.15, 0.15, arm.n) * (upper - lower)
    t = np.arange(round(STEP_SECONDS * RATE)) / RATE
    w = 2 * np.pi * STEP_HZ
    phase = (w * t)[:, None]
    return (t, centre + size * np.sin(phase), size * w * np.cos(phase),
            -size * w**2 * np.sin(phase))


@dataclass(frozen=True, eq=False)
class Subject:
    """An arm in its world, its model without a load, and the course of the motion with one."""

    world: World
    model: IdentifiedModel
    course: tuple[Array, ...]
    seed: int

    def loaded(self, mass: float, hose: bool) -> tuple[Array, Recording]:
        """Record the motion with a load of some mass, and maybe a hose."""
        load = random_load(np.random.default_rng([self.seed, 3]), mass)
        found = self.world.recording(self.course, load, DRIFT, self.seed + 1, 'loaded')
        return load, self._with_hose(found, load) if hose else found

    def _with_hose(self, recording: Recording, load: Array) -> Recording:
        arm, q = self.world.arm, self.course[1]
        Y = regressor(arm, *self.course[1:])[:, :, arm.layout.inertial(arm.tool_link)]
        size = np.sqrt(((Y @ frame_change(arm.tool.placement) @ load)**2).mean(axis=0))
        rng = np.random.default_rng([self.seed, round(10 * load[0]), 9])
        pull = sum(rng.normal(size=arm.n) / k * np.sin(k * q + rng.uniform(0, 2 * np.pi, arm.n))
                   for k in (1, 2))
        return replace(recording, u=recording.u + HOSE * size * pull)


def subject(name: str, rough: bool, step: bool, seed: int) -> Subject:
    """Identify an arm from a recording without a load."""
    arm = load_arm(name).with_friction(FRICTION)
    arm = replace(arm, drive=Drive.joint_torque(arm.n))
    if step:
        free = loaded = in_step(arm, seed)
    else:
        free, loaded = along(arm, 2 * seed, 3), along(arm, 2 * seed + 1, 2)
    nothing = np.zeros(10)
    tau = regressor(arm, *free[1:]) @ truth(arm, nothing, None)
    known = np.isfinite(arm.limits.effort) & (arm.limits.effort > 0)
    noise = NOISE * np.where(known, arm.limits.effort, np.abs(tau).max(axis=0))
    world = World(arm, noise, rough)
    terms = FRICTION[:2] if rough else FRICTION
    recording = world.recording(free, nothing, 0.0, seed, 'free')
    return Subject(world, identify(arm, [recording], friction=terms, holdout=0.0), loaded, seed)


def estimated(
    subject: Subject, mass: float, hose: bool,
) -> tuple[Array, Payload | None]:
    """Estimate a load; none where its mass is refused as not determined."""
    load, recording = subject.loaded(mass, hose)
    try:
        return load, estimate_payload(subject.model, [recording])
    except RecordingError:
        return load, None


def held(found: Payload, load: Array) -> tuple[bool, Array, Array]:
    """Tell whether the mass is held, which coordinates of the centre are, and which are known."""
    body = found.body
    mass = abs(body.mass - load[0]) <= INTERVAL * body.mass_std
    known = body.from_data[:4].all() * np.ones(3, dtype=bool)
    centre = np.abs(body.center - load[1:4] / load[0]) <= INTERVAL * body.center_std
    return bool(mass), centre, known


def print_row(
    name: str, what: str, mass: float, trials: list[tuple[Array, Payload | None]],
) -> None:
    """Print the counts of one arm, motion and mass."""
    verdicts = Counter(
        'undetermined' if found is None else 'trusted' if found.trustworthy
        else found.findings[0].code.removeprefix('payload_') for _, found in trials)
    stated = [(load, found) for load, found in trials if found is not None and found.trustworthy]
    if stated:
        holds, centres, knowns = map(np.array, zip(
            *(held(found, load) for load, found in stated), strict=True))
        width = INTERVAL * np.median([found.body.mass_std for _, found in stated])
        own = knowns.any(axis=1)
        wide = 1e3 * INTERVAL * np.median([f.body.center_std for _, f in stated])
        figures = (f'mass held {holds.sum()} of {len(holds)}, ± {width:.3f} kg; centre held '
                   f'{centres[knowns].sum()} of {knowns.sum()}, ± {wide:.1f} mm '
                   f'({own.sum()} known)')
    else:
        figures = 'none stated'
    told = ', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())
    print(f'{name:6} {what:24} {mass:g} kg: {told}; {figures}', flush=True)


def main() -> None:
    """Print the figures of all arms."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--worlds', nargs='+', default=['plain', 'rough'])
    parser.add_argument('--motions', nargs='+', default=['ordinary', 'in step'])
    parser.add_argument('--trials', type=int, default=10)
    args = parser.parse_args()
    for world, motion, name in product(args.worlds, args.motions, args.arms):
        subjects = [subject(name, world == 'rough', motion == 'in step', seed)
                    for seed in range(args.trials)]
        for hose, mass in product((False, True) if world == 'rough' else (False,), MASSES):
            trials = [estimated(each, mass, hose) for each in subjects]
            print_row(name, f'{world}{" + hose" * hose}, {motion}', mass, trials)


if __name__ == '__main__':
    main()
