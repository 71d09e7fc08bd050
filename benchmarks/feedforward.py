"""
Claim: an identified model as feed-forward makes the tracking error of a PD loop far smaller.

    python benchmarks/feedforward.py [--arms panda ur10]

A simulated arm (MuJoCo, its friction, effort noise and encoder of `dynid simulate`) is recorded in
one random motion and identified. Then it follows another motion under PD control of 1 kHz with a
delay of one period: alone, with the gravity torque of its true masses, and with the effort that
`dynid feedforward` gives, in points of 100 Hz between which the controller interpolates linearly.
Printed is the root mean square of the tracking error of all joints.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse

import numpy as np

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


def compare(name: str) -> list[Array]:
    """Return the tracking errors of each of the ways."""
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
    return [followed(arm, motion, t, ahead)
            for ahead in (np.zeros_like(gravity), gravity, model_torque)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--arms', nargs='*', default=['panda', 'ur10', 'gluon_6l3'])
    args = parser.parse_args()
    print('| arm | ' + ' | '.join(WAYS) + ' | PD alone by the model |')
    print('|---' * (2 + len(WAYS)) + '|')
    for name in args.arms:
        sizes = [1000 * float(np.sqrt((error**2).mean())) for error in compare(name)]
        shown = ' | '.join(f'{size:.2f} mrad' for size in sizes)
        print(f'| {name} | {shown} | {sizes[0] / sizes[-1]:.1f} |', flush=True)


if __name__ == '__main__':
    main()
