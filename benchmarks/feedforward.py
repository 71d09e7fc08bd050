# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How much smaller the tracking error of a PD loop is with an identified model as feed-forward.

    python benchmarks/feedforward.py [--arms panda ur10] [--picture FILE.svg]

A simulated arm (MuJoCo, its friction, effort noise and encoder of `dynid simulate`) is recorded in
one random motion and identified. Then it follows another motion under PD control of 1 kHz with a
delay of one period: alone, with the gravity torque of its true masses, and with the effort that
`dynid feedforward` gives, in points of 100 Hz between which the controller interpolates linearly.
Printed is the root mean square of the tracking error of all joints; the picture shows that of the
first arm over time.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from pathlib import Path

from matplotlib.figure import Figure
import numpy as np
from shared.pictures import save
from shared.tables import heading, row

from dynid_ros.arm import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.feed_forward import with_effort
from dynid_ros.motion.execution.tracking_control import RigidArm, tracking_gains
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.trajectory_file import sample_times, Trajectory
from dynid_ros.simulation.physics import SimulatedArm, TIMESTEP
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.arrays import Array

#: Period of the control, s, and rate of the points of the trajectory.
PERIOD, POINTS_HZ = 0.001, 100.0
WAYS = ('PD alone', 'with gravity', 'with the identified model')


def followed(arm: ArmModel, motion: FourierMotion, t: Array, ahead: Array) -> Array:
    """Tracking error (N, n) under PD control with a feed-forward torque (N, n) at times t."""
    gains = tracking_gains(arm, 2 * PERIOD)
    physics = SimulatedArm(arm)
    wanted, wanted_qd, _ = motion.evaluate(t)
    error = np.empty_like(wanted)
    state, waiting = physics.reset(wanted[0]), ahead[0]
    for k in range(len(t)):
        error[k] = wanted[k] - state.q
        command = ahead[k] + gains.torque(state.q, state.qd, wanted[k], wanted_qd[k])
        state = physics.step(waiting, round(PERIOD / TIMESTEP))
        waiting = command
    return error


def compare(name: str) -> tuple[Array, list[Array]]:
    """Return times, and the tracking errors of each of the ways."""
    arm = load_arm(name)
    model = identify(arm, [simulate(arm, random_motion(arm, 1, periods=2)).log])
    motion = random_motion(arm, 2, periods=1)
    points = sample_times(motion, POINTS_HZ)
    filled = with_effort(model, Trajectory(arm.joint_names, points, *motion.evaluate(points)))
    assert filled.effort is not None
    t = np.arange(0, motion.duration, PERIOD)
    model_torque = np.stack([np.interp(t, points, own) for own in filled.effort.T], axis=1)
    rigid = RigidArm(arm)
    gravity = np.array([rigid.gravity(q) for q in motion.evaluate(t)[0]])
    return t, [followed(arm, motion, t, ahead)
               for ahead in (np.zeros_like(gravity), gravity, model_torque)]


def draw(path: Path, name: str, t: Array, errors: list[Array]) -> None:
    """Draw the root mean square over the joints."""
    figure = Figure(figsize=(7, 3), layout='constrained')
    axes = figure.subplots()
    for way, error in zip(WAYS, errors, strict=True):
        axes.semilogy(t, 1000 * np.sqrt((error**2).mean(axis=1)), label=way, lw=1)
    axes.set(xlabel='time (s)', ylabel='tracking error (mrad)', title=f'{name}, simulated',
             ylim=(1e-3, None))
    axes.legend()
    axes.grid(alpha=0.3)
    save(figure, path)


def main() -> None:
    """Print the table, and draw the first arm."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--arms', nargs='*', default=['panda', 'ur10', 'gluon_6l3'])
    parser.add_argument('--picture', type=Path)
    args = parser.parse_args()
    heading('arm', *WAYS, 'PD alone by the model')
    for name in args.arms:
        t, errors = compare(name)
        sizes = [1000 * float(np.sqrt((error**2).mean())) for error in errors]
        row(name, *(f'{size:.2f} mrad' for size in sizes), f'{sizes[0] / sizes[-1]:.0f}')
        if args.picture and name == args.arms[0]:
            draw(args.picture, name, t, errors)


if __name__ == '__main__':
    main()
