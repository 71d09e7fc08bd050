"""
Condition numbers that designs reach, and how long they take.

Prints the figures of docs/design_excitation.md: both targets (Panda on its data sheet, UR10
within ±2.5 rad, its data-sheet velocities and 6 rad/s²), then harmonics against period, then the
shipped arms with all their limits, clearances too.

    OPENBLAS_NUM_THREADS=1 python benchmarks/excitation_design.py
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import numpy as np

from dynid_ros.arm import ArmModel, JointLimits, LimitMargins, load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion
from dynid_ros.motion.feasibility.scene import build_scene, Scene

SEEDS = 5


def data_sheet(name: str) -> ArmModel:
    arm = replace(load_arm(name), margins=LimitMargins())
    if name == 'panda':
        return arm
    bound = np.full(6, 2.5)
    limits = JointLimits(
        -bound, bound, arm.limits.velocity, np.full(6, 6.0), np.full(6, np.inf))
    return replace(arm, limits=limits)


def show(what: str, arm: ArmModel, task: Task, scene: Scene | None = None) -> None:
    reached, spent = [], []
    for seed in range(SEEDS):
        begin = process_time()
        reached.append(design(arm, replace(task, seed=seed), scene).condition_number)
        spent.append(process_time() - begin)
    print(f'{what:<44} {np.median(reached):6.1f} ({min(reached):.1f} to {max(reached):.1f})  '
          f'{np.median(spent):5.1f} s', flush=True)


def crude(arm: ArmModel, seconds: float = 10.0) -> float:
    begin, best, seed = process_time(), np.inf, 0
    while process_time() - begin < seconds:
        motion = random_motion(arm, seed, harmonics=5, tries=50)
        best, seed = min(best, condition_number(arm, motion)), seed + 1
    return best


def main() -> None:
    design(load_arm('two_axis'), Task(starts=1, harmonics=2))
    print('condition number: median (best to worst) of 5 seeds; processor time of a design')
    for name in ('panda', 'ur10'):
        arm = data_sheet(name)
        for harmonics in (5, 8):
            show(f'{name}, data sheet, {harmonics} harmonics', arm, Task(harmonics=harmonics))
        print(f'{name}, best of the random motions of 10 s: {crude(arm):.1f}')
    for name in ('panda', 'ur10', 'gluon_6l3'):
        arm = load_arm(name)
        scene = build_scene(arm, load_surroundings(name, arm))
        show(f'{name} as shipped, defaults', arm, Task(), scene)
    for period in (5.0, 10.0, 20.0):
        for harmonics in (3, 5, 8, 12):
            show(f'panda, {period:g} s, {harmonics} harmonics', data_sheet('panda'),
                 Task(period, harmonics))


if __name__ == '__main__':
    main()
