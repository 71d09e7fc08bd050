"""
What a collision does to the parameters, with and without leaving it out.

    python benchmarks/collisions.py

A joint of a simulated arm is hit for a tenth of a second in 30 s of motion. Printed is how far the
base parameters differ from the simulation, of the norm.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import replace
from typing import Any

import numpy as np

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.diagnosis import outliers
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online import innovation_statistics
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

CASES = (('panda', 1, 20.0), ('panda', 1, 100.0), ('panda', 1, 10000.0), ('ur10', 2, 300.0),
         ('two_axis', 1, 50.0))
#: Standard deviations that nothing is away.
NEVER = 1e12


def main() -> None:
    """Print a Markdown table."""
    print('| arm | joint | torque added | batch: no hit | fitted | left out '
          '| online: no hit | learned | left out |')
    print('|---|---|---|---|---|---|---|---|---|')
    for name, joint, torque in CASES:
        arm = load_arm(name)
        log = simulate(arm, random_motion(arm, 3, period=10.0, periods=3), seed=3).log
        u = log.u.copy()
        u[(log.t >= 10.3) & (log.t < 10.4), joint] += torque
        cells = [f'{each:.1f} %' for each in _off(arm, log, replace(log, u=u))]
        print(f'| {name} | {joint + 1} | {torque:g} | {" | ".join(cells)} |')


def _off(arm: ArmModel, good: Recording, hit: Recording) -> list[float]:
    """Batch and online: without a hit, with it, and with it left out, %."""
    modules: tuple[Any, ...] = outliers, innovation_statistics
    limits = outliers.OUTLIER_DEVIATIONS, innovation_statistics.WILD_DEVIATIONS
    result = []
    for way in (_batch, _online):
        result.append(way(arm, good))
        modules[0].OUTLIER_DEVIATIONS = modules[1].WILD_DEVIATIONS = NEVER
        result.append(way(arm, hit))
        modules[0].OUTLIER_DEVIATIONS, modules[1].WILD_DEVIATIONS = limits
        result.append(way(arm, hit))
    return result


def _batch(arm: ArmModel, log: Recording) -> float:
    return _distance(arm, identify(arm, [log], friction=arm.friction).theta)


def _online(arm: ArmModel, log: Recording) -> float:
    return _distance(arm, replay(arm, log)[0].theta)


def _distance(arm: ArmModel, theta: np.ndarray) -> float:
    true = base_parameters(arm).grouping @ nominal_parameters(arm)
    return 100 * float(np.linalg.norm(theta - true) / np.linalg.norm(true))


if __name__ == '__main__':
    main()
