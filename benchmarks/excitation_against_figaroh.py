"""
Time that FIGAROH's optimiser needs for its own condition number, and that ours needs for it.

UR10 of 58 columns (rotor inertia, viscous, Coulomb, offset), 10 s, position, velocity and torque
limits of its URDF; ours keeps 5 rad/s² too, which FIGAROH cannot. FIGAROH moves along cubic
splines from rest to rest through random waypoints that Ipopt shifts.

    apt install coinor-libipopt-dev liblapack-dev libblas-dev
    pip install --editable . figaroh cyipopt
    OPENBLAS_NUM_THREADS=1 python benchmarks/excitation_against_figaroh.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from excitation_figures import course
import numpy as np

from dynid_ros.arm import LimitMargins, load_arm
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task

URDF = Path(__file__).parents[1] / 'config' / 'arms' / 'ur10' / 'ur10.urdf'
ITERATIONS = (10, 30)
SEEDS = 3


def figaroh(seed: int, iterations: int) -> tuple[float, float, int]:
    """Condition number, seconds, and number of columns of one run."""
    from figaroh.optimal.base_optimal_trajectory import (
        BaseOptimalTrajectory,
        BaseTrajectoryIPOPTProblem,
    )
    from figaroh.tools.robot import Robot

    class Trajectory(BaseOptimalTrajectory):  # type: ignore[misc]

        def __init__(self, robot: Any) -> None:
            import logging

            self.robot, self.model = robot, robot.model
            self.active_joints = list(robot.model.names)[1:]
            self.logger = logging.getLogger('figaroh')
            self.trajectory_config = {
                'n_wps': 11, 'freq': 20, 't_s': 1.0, 'soft_lim': 0.05, 'max_attempts': 1000,
                'max_iterations': iterations}
            joints = list(range(len(self.active_joints)))
            self.identif_config = {
                'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True,
                'is_joint_torques': True, 'is_external_wrench': False, 'force_torque': None,
                'act_idxq': joints, 'act_idxv': joints}
            self.results: dict[str, Any] = {
                key: [] for key in ('T_F', 'P_F', 'V_F', 'A_F', 'iteration_data')}

        def create_ipopt_problem(self, *parts: Any) -> Any:
            return BaseTrajectoryIPOPTProblem(self, *parts)

    np.random.seed(seed)  # noqa: NPY002 (FIGAROH draws from the global generator)
    trajectory = Trajectory(Robot(str(URDF), str(URDF.parent)))
    trajectory.initialize()
    begin = perf_counter()
    trajectory.solve(stack_reps=1)
    seconds = perf_counter() - begin
    if not trajectory.results['P_F']:
        return np.inf, seconds, len(trajectory.idx_b)
    last = [trajectory.results[key][0] for key in ('P_F', 'V_F', 'A_F')]
    return float(np.linalg.cond(trajectory._stack_base_regressors(*last))), seconds, len(
        trajectory.idx_b)


def ours(objective: float, seed: int) -> float:
    """Processor time until a verified motion is as good, s; infinite if none is."""
    arm = replace(load_arm('ur10'), margins=LimitMargins())
    return next((seconds for seconds, best in course(arm, Task(seed=seed), None)
                 if best <= objective), np.inf)


def main() -> None:
    design(load_arm('two_axis'), Task(starts=1, harmonics=2))
    for iterations in ITERATIONS:
        for seed in range(SEEDS):
            condition, seconds, columns = figaroh(seed, iterations)
            own = ours(condition, seed)
            print(f'FIGAROH, {iterations} iterations, {columns} columns: {condition:.1f} after '
                  f'{seconds:.1f} s; ours as good after {own:.1f} s: ratio {seconds / own:.0f}',
                  flush=True)


if __name__ == '__main__':
    main()
