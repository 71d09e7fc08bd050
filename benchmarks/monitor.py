# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How soon the monitor finds pushes, and how often it raises a false alarm.

    python benchmarks/monitor.py [FOLDER] [--pieces 12] [--pushed 8] [--rests 8]

A Panda moves in MuJoCo under computed-torque control, with the sensors of `dynid simulate`:
encoders of 2^16 counts, and white torque noise of a tenth of the spread of each joint's torque,
at 500 Hz. A model is identified from one recording of 60 s. Then follow:

- an hour of free motion: 12 random motions of five minutes, each with 20 s of rest behind it;
- pushes of 5 to 30 N for 0.5 s, every 3 s, in random directions, at the tool and at the elbow (the
  frame of joint 4), during 8 random motions of a minute and at rest in 8 positions. MuJoCo applies
  the force to the link. A push counts as found in time if the monitor, fed with one sample after
  another, has raised a contact once it got the sample 50 ms after the push began; the joint as
  right if the force really loads that joint, with that sign, by half the threshold. The direction
  is the error of the tool force 0.15 s after the push started.

Given FOLDER, that of shared/recordings.py, a model is identified from the first 60 % of each
recording. The monitor runs over all of it, and must be quiet in the rest; then forces
in six directions at four moments of the rest, 0.4 s each, are added as ``-J' F``.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Iterator
import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from shared.recordings import held_out, in_two, recordings
from shared.tables import heading, row

from dynid_ros.applications.contact.monitor import Monitor, MonitoredSamples
from dynid_ros.applications.contact.tool_wrench import tool_wrench
from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.drive import joint_torque
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.rigid_body import geometric_jacobian
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.tracking_control import ComputedTorque, RigidArm
from dynid_ros.simulation.physics import SimulatedArm
from dynid_ros.simulation.record import simulate
from dynid_ros.simulation.sensors import quantise, SensorModel
from dynid_ros.utilities.arrays import Array

CONTROL, EVERY = 1000, 2
FORCES = (5.0, 10.0, 15.0, 20.0, 30.0)
ELBOW = 3
#: Time between pushes, length of one, and times by which it is found and has its direction, s.
PERIOD, LENGTH, SOON, LATER = 3.0, 0.5, 0.05, 0.15
REST = 20.0
#: Rates of false alarms, 1/h.
HOURLY = (1.0, 20.0)
REAL_FORCES = (10.0, 20.0, 40.0, 80.0, 160.0)


@dataclass(frozen=True, eq=False)
class Push:
    """One push: when, at which joint's link, where on it, and how."""

    start: float
    joint: int
    point: Array
    force: Array

    @property
    def at_tool(self) -> bool:
        """Whether it is at the tool."""
        return self.joint != ELBOW

    def torque(self, arm: ArmModel, q: Array) -> Array:
        """Torque at the joints, (n,), at a position (n,)."""
        turn, shift = np.split(geometric_jacobian(arm, q, arm.joint_names[self.joint]), 2)
        pose = forward_kinematics(arm, q, arm.joint_names[self.joint])
        lever = pose.rotation @ self.point
        return np.asarray((shift + np.cross(turn.T, lever).T).T @ self.force)


def moved(
    arm: ArmModel, sensors: SensorModel, seed: int, seconds: float, rest: float,
    pushes: list[Push], start: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Record a motion and a rest behind it, with pushes: stamps, positions and torques."""
    rng, physics = np.random.default_rng([seed, 1]), SimulatedArm(arm)
    motion = random_motion(arm, seed, tries=5, periods=max(1, round(seconds / 10.0)))
    length = motion.duration if seconds else 0.0
    t = np.arange(round((length + rest) * CONTROL)) / CONTROL
    wanted, wanted_qd, wanted_qdd = motion.evaluate(t if seconds else 0 * t)
    control, state = ComputedTorque(RigidArm(arm), 1 / CONTROL), physics.reset(wanted[0])
    q, tau = np.empty_like(wanted), np.empty_like(wanted)
    for k in range(len(t)):
        external = sum((push.torque(arm, state.q) for push in pushes
                        if push.start <= t[k] < push.start + LENGTH), np.zeros(arm.n))
        q[k] = state.q
        state = physics.step(external + control.torque(
            state.q, state.qd, wanted[k], wanted_qd[k], wanted_qdd[k]), EVERY)
        tau[k] = state.tau - external
    # A stamp lies between two commands.
    tau[1:] = (tau[1:] + tau[:-1]) / 2
    q, tau = q[::EVERY], tau[::EVERY]
    tau = tau + np.asarray(sensors.effort_noise) * rng.normal(size=tau.shape)
    return start + t[::EVERY], quantise(q, sensors.encoder_counts, arm.prismatic), tau


def fed(monitor: Monitor, t: Array, q: Array, u: Array, step: int) -> Iterator[MonitoredSamples]:
    """Feed a monitor so many samples at a time."""
    for k in range(0, len(t), step):
        yield from monitor.push(t[k:k + step], q[k:k + step], u[k:k + step])


def alarms(found: list[MonitoredSamples]) -> int:
    """Count contacts."""
    felt = np.concatenate([new.contact.any(axis=1) for new in found])
    return int((np.diff(felt.astype(int), prepend=0) == 1).sum())


def random_pushes(arm: ArmModel, seed: int, seconds: float) -> list[Push]:
    """Pushes of all sizes, at the tool and at the elbow in turn."""
    rng, result = np.random.default_rng([seed, 2]), []
    tool = arm.tool.joint % arm.n, arm.tool.placement.translation
    for k in range(int(seconds / PERIOD) - 1):
        joint, point = tool if k % 2 else (ELBOW, np.zeros(3))
        way = rng.normal(size=3)
        size = FORCES[(k // 2 + seed) % len(FORCES)]
        result.append(Push((k + 1) * PERIOD, joint, point, size * way / np.linalg.norm(way)))
    return result


@dataclass
class Outcome:
    """Outcome of a push: time until it was found, s, joint right, angle, degrees."""

    push: Push
    delay: float
    right: bool
    angle: float


def judged(model: IdentifiedModel, push: Push, found: list[MonitoredSamples]) -> Outcome:
    """Look for a push in what a monitor found."""
    arm, body = model.arm, 'tool' if push.at_tool else model.arm.joint_names[push.joint]
    first = next((new for new in found if new.contact.any() and new.known < push.start + LENGTH),
                 None)
    late = next(new for new in found if new.known >= push.start + LATER)
    delay, right, angle = np.inf, False, np.nan
    if first is not None:
        delay = first.known - push.start
        share = np.abs(first.torque[-1]) / first.threshold[-1]
        joint = int(np.argmax(share))
        truth = -geometric_jacobian(arm, first.q[-1], body)[3:].T @ push.force
        right = bool(truth[joint] * np.sign(first.torque[-1, joint])
                     > first.threshold[-1, joint] / 2)
    if push.at_tool:
        force = tool_wrench(arm, late.q[-1], late.torque[-1], late.std[-1]).wrench[3:]
        cosine = force @ push.force / np.linalg.norm(force) / np.linalg.norm(push.force)
        angle = float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return Outcome(push, delay, right, angle)


def pushed(
    model: IdentifiedModel, learned: Monitor, recorded: tuple[Array, Array, Array],
    pushes: list[Push],
) -> tuple[list[Outcome], int]:
    """Judge all pushes of a recording, and count false alarms between them."""
    monitor = Monitor(model, noise=copy.deepcopy(learned.noise))
    found = list(fed(monitor, *recorded, 1))
    outcomes, free = [], np.ones(len(found), dtype=bool)
    times = np.array([new.t[-1] for new in found])
    for push in pushes:
        during = (times >= push.start - 0.05) & (times < push.start + LENGTH + 0.7)
        free &= ~during
        outcomes.append(judged(model, push, [found[k] for k in np.flatnonzero(during)]))
    quiet = np.array([new.contact.any() for new in found]) & free
    return outcomes, int((np.diff(quiet.astype(int), prepend=0) == 1).sum())


def print_pushes(what: str, outcomes: list[Outcome]) -> None:
    """Print a row of the table for each size."""
    for place, at_tool in (('tool', True), ('elbow', False)):
        for size in FORCES:
            own = [o for o in outcomes if o.push.at_tool == at_tool
                   and np.isclose(np.linalg.norm(o.push.force), size)]
            if not own:
                continue
            soon = sum(o.delay <= SOON for o in own)
            known = [o for o in own if np.isfinite(o.delay)]
            middle = f'{1e3 * np.median([o.delay for o in known]):.0f} ms' if known else '–'
            angles = [o.angle for o in known if np.isfinite(o.angle)]
            angle = f'{np.median(angles):.0f}°' if angles else '–'
            row(what, place, f'{size:g} N', f'{soon} of {len(own)}', len(known), middle,
                f'{sum(o.right for o in known)} of {len(known)}', angle)


def print_simulated(pieces: int, motions: int, rests: int) -> None:
    """Print the figures of the simulated arm."""
    arm = load_arm('panda')
    first = simulate(arm, random_motion(arm, 1, tries=20, periods=6), seed=1)
    model = identify(arm, [first.log])
    print(f'identified from {model.seconds:.0f} s: friction {", ".join(model.arm.friction)}; '
          f'held-out error {held_out(model):.2f} %')
    monitors = {rate: Monitor(model, alarms_per_hour=rate, portion=0.2) for rate in HOURLY}
    counts, seconds = dict.fromkeys(monitors, 0), 0.0
    for k in range(pieces):
        samples = moved(arm, first.sensors, 100 + k, 300.0, REST, [], 400.0 * k)
        seconds += len(samples[0]) * EVERY / CONTROL
        for rate, monitor in monitors.items():
            counts[rate] += alarms(list(fed(monitor, *samples, 5000)))
            aged = monitor.age.finding
            print(f'{counts[rate]} false alarms in {seconds / 3600:.2f} h at a rate of {rate:g} '
                  f'an hour; {aged.sentence if aged else "the model fits"}', flush=True)
    print()
    heading('arm', 'at', 'force', 'found in 50 ms', 'found', 'median', 'joint right',
            'direction off by')
    kinds = (('in motion', 60.0, 0.0, motions), ('at rest', 0.0, 33.0, rests))
    for kind, moving, resting, count in kinds:
        outcomes: list[Outcome] = []
        wrong = 0
        for k in range(count):
            pushes = random_pushes(arm, 200 + k, moving + resting)
            samples = moved(arm, first.sensors, 200 + k, moving, resting, pushes)
            new, false = pushed(model, monitors[HOURLY[0]], samples, pushes)
            outcomes += new
            wrong += false
        print_pushes(kind, outcomes)
        print(f'{kind}: {wrong} false alarms between pushes')


def print_real(name: str, arm: ArmModel, log: Recording) -> None:
    """Print false alarms and forces found in the held-out part of a real recording."""
    first, rest = in_two(log, 0.4)
    model = identify(arm, [first])
    t, cut = log.t - log.t[0], float(rest.t[0] - log.t[0])
    own = t < cut
    learned = Monitor(model, portion=0.1)
    found = list(fed(learned, t[own], log.q[own], log.u[own], 500))
    found += list(fed(learned, t[~own], log.q[~own], log.u[~own], 500))
    held = [new for new in found if new.t[0] >= cut]
    print(f'{name}, real: {cut:.0f} s identified, {t[-1] - cut:.0f} s held out at '
          f'{learned.rate_hz:.0f} Hz, observer of {learned.bandwidth_hz:.2g} Hz: '
          f'{alarms(held)} contacts without one; thresholds '
          + ', '.join(f'{x:.3g}' for x in np.median(
              np.concatenate([new.threshold for new in held]), axis=0)) + ' Nm', flush=True)
    through = np.linalg.inv(joint_torque(np.eye(arm.n), arm.drive))
    J = geometric_jacobian(arm, log.q)[:, 3:]
    times = rest.t[0] + (0.2 + 0.2 * np.arange(4)) * (rest.t[-1] - rest.t[0])
    for size in REAL_FORCES:
        delays, right = [], 0
        for start in times:
            for way in size * np.concatenate([np.eye(3), -np.eye(3)]):
                on = (log.t >= start) & (log.t < start + 0.4)
                u = log.u + on[:, None] * (-J.transpose(0, 2, 1) @ way) @ through
                monitor = Monitor(model, noise=copy.deepcopy(learned.noise))
                part = (log.t > start - 3.0) & (log.t < start + 0.4)
                new = next((new for new in fed(monitor, log.t[part], log.q[part], u[part], 1)
                            if new.contact.any() and new.known > start), None)
                if new is not None:
                    delays.append(new.known - start)
                    joint = int(np.argmax(np.abs(new.torque[-1]) / new.threshold[-1]))
                    load = -geometric_jacobian(arm, new.q[-1])[3:].T @ way
                    right += load[joint] * new.torque[-1, joint] > 0
        middle = f'{1e3 * np.median(delays):.0f} ms' if delays else 'never'
        print(f'  {size:g} N: {len(delays)} of {6 * len(times)} found, median {middle}, joint '
              f'right {right}', flush=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('folder', nargs='?', type=Path)
    parser.add_argument('--pieces', type=int, default=12)
    parser.add_argument('--pushed', type=int, default=8)
    parser.add_argument('--rests', type=int, default=8)
    args = parser.parse_args()
    for name, arm, log, _ in recordings(args.folder) if args.folder else ():
        print_real(name, arm, log)
    if args.pieces:
        print_simulated(args.pieces, args.pushed, args.rests)


if __name__ == '__main__':
    main()
