"""
Condition numbers that designs reach, and how long they take.

Prints the figures of docs/design_excitation.md: both targets (Panda on its data sheet, UR10
within ±2.5 rad, its data-sheet velocities and 6 rad/s²), then harmonics against period, then the
shipped arms with all their limits, clearances too.

    OPENBLAS_NUM_THREADS=1 python benchmarks/excitation_design.py
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from dynid_ros.arm import ArmModel, JointLimits, LimitMargins, load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion
from dynid_ros.motion.feasibility.scene import build_scene

SEEDS = 5


def data_sheet(name: str) -> ArmModel:
    arm = replace(load_arm(name), margins=LimitMargins())
    if name == 'panda':
        return arm
    bound = np.full(6, 2.5)
    limits = JointLimits(
        -bound, bound, arm.limits.velocity, np.full(6, 6.0), np.full(6, np.inf))
    return replace(arm, limits=limits)


def show(what: str, arm: ArmModel, task: Task, scene: object = None, target: float = 0.0) -> None:
    reached, seconds, until = [], [], []
    for seed in range(SEEDS):
        first: list[float] = []

        def tell(_start: int, gone: float, best: float, first: list[float] = first) -> None:
            if best < target and not first:
                first.append(gone)

        designed = design(arm, replace(task, seed=seed), scene, tell)  # type: ignore[arg-type]
        reached.append(designed.condition_number)
        seconds.append(designed.seconds)
        until += first
    line = (f'{what:<44} {np.median(reached):6.1f} ({min(reached):.1f} to {max(reached):.1f})  '
            f'{np.median(seconds):5.1f} s')
    if target:
        line += f'  below {target:g} after {np.median(until):.1f} s in {len(until)} of {SEEDS}'
    print(line, flush=True)


def crude(arm: ArmModel, seconds: float = 10.0) -> float:
    begin, best, seed = perf_counter(), np.inf, 0
    while perf_counter() - begin < seconds:
        motion = random_motion(arm, seed, harmonics=5, tries=50)
        best, seed = min(best, condition_number(arm, motion)), seed + 1
    return best


def main() -> None:
    design(load_arm('two_axis'), Task(starts=1, harmonics=2))
    print('condition number: median (best to worst) of 5 seeds, time of a design')
    for name, target in (('panda', 40.0), ('ur10', 38.0)):
        arm = data_sheet(name)
        task = Task(harmonics=5, starts=100, seconds=10.0)
        show(f'{name}, data sheet, 5 harmonics, 10 s', arm, task, target=target)
        print(f'{name}, best of the random motions of 10 s: {crude(arm):.1f}')
    for period in (5.0, 10.0, 20.0):
        for harmonics in (3, 5, 8, 12):
            show(f'panda, {period:g} s, {harmonics} harmonics, 2 starts', data_sheet('panda'),
                 Task(period, harmonics, starts=2, seconds=60.0))
    for name in ('panda', 'ur10', 'gluon_6l3'):
        arm = load_arm(name)
        scene = build_scene(arm, load_surroundings(name, arm))
        show(f'{name} as shipped, defaults', arm, Task(), scene)


if __name__ == '__main__':
    main()
