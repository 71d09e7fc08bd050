"""
Figures and the table of docs/design_excitation.md on identification from designed motions.

    OPENBLAS_NUM_THREADS=1 python benchmarks/excitation_figures.py docs/figures
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import re
import sys
from time import process_time

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.design import design, validation_motion
from dynid_ros.motion.excitation.design_objective import DesignObjective, Task
from dynid_ros.motion.excitation.prior_information import objective_given
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion
from dynid_ros.motion.feasibility.scene import build_scene, Scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.pages.report.plots import draw_motion
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.progress import listening


def shipped(name: str) -> tuple[ArmModel, Scene | None]:
    arm = load_arm(name)
    return arm, build_scene(arm, load_surroundings(name, arm))


def compare(name: str) -> None:
    """Designed against random motions of 30 s in MuJoCo's physics."""
    arm, scene = shipped(name)
    task = Task()
    unseen = simulate(arm, validation_motion(arm, task, scene).motion, seed=9).log
    motions = {
        'designed': design(arm, task, scene).motion,
        'random': random_motion(arm, 0, harmonics=8, tries=1),
        'best of 200 random': random_motion(arm, 0, harmonics=8),
    }
    grouping = base_parameters(arm).grouping
    for what, motion in motions.items():
        recording = simulate(arm, motion, seed=1)
        result = identify(arm, [recording.log], friction=arm.friction, validation=[unseen])
        truth = grouping @ nominal_parameters(arm)
        wrong = np.linalg.norm(result.theta - truth) / np.linalg.norm(truth)
        assert result.validation is not None
        print(f'| {name} | {what} | {condition_number(arm, motion):.0f} | '
              f'{result.validation.relative_error_percent:.2f} % | {100 * wrong:.2f} % | '
              f'{np.median(result.std / np.maximum(np.abs(truth), 1e-3)):.3f} |', flush=True)


def lazy(arm: ArmModel) -> FourierMotion:
    """Motion in which the wrist hardly moves."""
    motion = random_motion(arm, 3, periods=1)
    share = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])[:, None]
    return replace(motion, sine=share * motion.sine, cosine=share * motion.cosine)


def draw_sequence(folder: Path) -> None:
    """Draw standard deviations after one recording, and after a second one each way."""
    arm, scene = shipped('ur10')
    first = simulate(arm, lazy(arm), seed=1).log
    begun = identify(arm, [first], friction=arm.friction, holdout=0.0)
    task = Task(periods=1)
    objective = objective_given(DesignObjective('volume'), arm, [begun], task.period)
    curves = {'first recording (wrist hardly moves)': begun.std}
    for label, chosen in (('second one designed alone', DesignObjective('volume')),
                          ('second one designed with --given', objective)):
        motion = design(arm, replace(task, objective=chosen), scene).motion
        curves[f'both, {label}'] = after(arm, [first, simulate(arm, motion, seed=2).log])
    order = np.argsort(-begun.std / curves['both, second one designed with --given'])
    figure = Figure(figsize=(9, 3.6), layout='constrained')
    axis = figure.add_subplot()
    for (label, std), mark in zip(curves.items(), 'ox.', strict=True):
        axis.semilogy(std[order], mark, markersize=5, label=label)
        print(label, 'geometric mean', float(np.exp(np.log(std).mean())), 'of the 20 weakest',
              float(np.exp(np.log(std[order][:20]).mean())))
    names = np.array(base_parameters(arm).names)[order]
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axis.set_ylabel('standard deviation, SI')
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    figure.savefig(folder / 'design_given.png', dpi=90)


def after(arm: ArmModel, logs: list[Recording]) -> np.ndarray:
    return identify(arm, logs, friction=arm.friction, holdout=0.0).std


def course(arm: ArmModel, task: Task, scene: Scene | None) -> list[tuple[float, float]]:
    """Processor time and best condition number at each stage of a search."""
    found: list[tuple[float, float]] = []
    begin = process_time()

    def listen(stage: str, _share: float) -> None:
        best = re.search(r'best ([\d.]+)$', stage)
        if best:
            found.append((process_time() - begin, float(best[1])))

    with listening(listen):
        design(arm, task, scene)
    return found


def draw_course(folder: Path) -> None:
    """Best condition number over time, from several seeds."""
    figure = Figure(figsize=(6, 3), layout='constrained')
    axis = figure.add_subplot()
    for name, colour in (('panda', 'tab:blue'), ('ur10', 'tab:orange')):
        arm, scene = shipped(name)
        for seed in range(4):
            axis.step(*zip(*course(arm, Task(seed=seed), scene), strict=True), where='post',
                      color=colour, linewidth=1, label=name if seed == 0 else None)
    axis.set_yscale('log')
    axis.set_xlabel('processor time, s')
    axis.set_ylabel('condition number')
    axis.legend()
    axis.grid(alpha=0.3, which='both')
    figure.savefig(folder / 'design_course.png', dpi=90)


def main() -> None:
    folder = Path(sys.argv[1])
    print('| arm | motion | condition number | validation | parameters | spread |')
    for name in ('ur10', 'panda'):
        compare(name)
    draw_sequence(folder)
    draw_course(folder)
    arm, scene = shipped('two_axis')
    draw_motion(folder / 'design_two_axis', design(arm, Task(harmonics=4), scene).motion, arm)


if __name__ == '__main__':
    main()
