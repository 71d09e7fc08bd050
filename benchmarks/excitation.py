# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
What designed motions reach: condition numbers, time, and the model that is identified from them.

    OPENBLAS_NUM_THREADS=1 python benchmarks/excitation.py [--seeds 5]

Condition numbers are those of both targets (Panda on its data sheet, UR10 within ±2.5 rad, its
data-sheet velocities and 6 rad/s²), of the shipped arms with all their limits, clearances too, and
of harmonics against period. Then designed motions of 30 s are compared with random ones in
MuJoCo's physics, by the error on another motion and by the error of the base parameters.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from dataclasses import replace
from time import process_time

import numpy as np
from shared.recordings import held_out
from shared.tables import heading, row

from dynid_ros.arm import ArmModel, JointLimits, LimitMargins, load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.design import design, validation_motion
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion
from dynid_ros.motion.feasibility.scene import build_scene, Scene
from dynid_ros.simulation.record import simulate


def data_sheet(name: str) -> ArmModel:
    arm = replace(load_arm(name), margins=LimitMargins())
    if name == 'panda':
        return arm
    bound = np.full(6, 2.5)
    limits = JointLimits(
        -bound, bound, arm.limits.velocity, np.full(6, 6.0), np.full(6, np.inf))
    return replace(arm, limits=limits)


def shipped(name: str) -> tuple[ArmModel, Scene | None]:
    arm = load_arm(name)
    return arm, build_scene(arm, load_surroundings(name, arm))


def show(what: str, seeds: int, arm: ArmModel, task: Task, scene: Scene | None = None) -> None:
    """Print what designs from several seeds reach."""
    reached, spent = [], []
    for seed in range(seeds):
        begin = process_time()
        reached.append(design(arm, replace(task, seed=seed), scene).condition_number)
        spent.append(process_time() - begin)
    print(f'{what:<44} {np.median(reached):6.1f} ({min(reached):.1f} to {max(reached):.1f})  '
          f'{np.median(spent):5.1f} s', flush=True)


def best_random(arm: ArmModel, seconds: float = 10.0) -> float:
    """Return the least condition number of the random motions of some processor time."""
    begin, best, seed = process_time(), np.inf, 0
    while process_time() - begin < seconds:
        motion = random_motion(arm, seed, harmonics=5, tries=50)
        best, seed = min(best, condition_number(arm, motion)), seed + 1
    return best


def compare(name: str) -> None:
    """Print designed against random motions of 30 s."""
    arm, scene = shipped(name)
    unseen = simulate(arm, validation_motion(arm, Task(), scene).motion, seed=9).log
    truth = base_parameters(arm).grouping @ nominal_parameters(arm)
    for what, motion in (('designed', design(arm, Task(), scene).motion),
                         ('random', random_motion(arm, 0, harmonics=8, tries=1)),
                         ('best of 200 random', random_motion(arm, 0, harmonics=8))):
        log = simulate(arm, motion, seed=1).log
        model = identify(arm, [log], friction=arm.friction, validation=[unseen])
        wrong = np.linalg.norm(model.theta - truth) / np.linalg.norm(truth)
        spread = np.median(model.std / np.maximum(np.abs(truth), 1e-3))
        row(name, what, f'{condition_number(arm, motion):.0f}', f'{held_out(model):.2f} %',
            f'{100 * wrong:.2f} %', f'{spread:.3f}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--seeds', type=int, default=5)
    seeds = parser.parse_args().seeds
    design(load_arm('two_axis'), Task(starts=1, harmonics=2))
    print(f'condition number: median (best to worst) of {seeds} seeds; processor time of a design')
    for name in ('panda', 'ur10'):
        for harmonics in (5, 8):
            show(f'{name}, data sheet, {harmonics} harmonics', seeds, data_sheet(name),
                 Task(harmonics=harmonics))
        print(f'{name}, best of the random motions of 10 s: {best_random(data_sheet(name)):.1f}')
    for name in ('panda', 'ur10', 'gluon_6l3'):
        arm, scene = shipped(name)
        show(f'{name} as shipped, defaults', seeds, arm, Task(), scene)
    for period in (5.0, 10.0, 20.0):
        for harmonics in (3, 5, 8, 12):
            show(f'panda, {period:g} s, {harmonics} harmonics', seeds, data_sheet('panda'),
                 Task(period, harmonics))
    print()
    heading('arm', 'motion', 'condition number', 'validation', 'parameters', 'spread')
    for name in ('ur10', 'panda'):
        compare(name)


if __name__ == '__main__':
    main()
