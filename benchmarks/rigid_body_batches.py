"""
Time of mass matrices and of Jacobians of 100 000 states, beside a Python loop over Pinocchio.

Prints the ratio of the time of the loop to that of one call, the median of five runs each in turn,
on one thread.
"""

from collections.abc import Callable
import statistics
import time

import numpy as np
import pinocchio

from dynid_ros.applications.export.urdf import urdf_of
from dynid_ros.arm import load_arm
from dynid_ros.dynamics.rigid_body import geometric_jacobian, mass_matrix

STATES = 100_000
RUNS = 5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name: str, ours: Callable[[], object], loop: Callable[[], object]) -> None:
    ours()
    pairs = [(seconds(ours), seconds(loop)) for _ in range(RUNS)]
    own, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f'{name:24} {1e6 * own / STATES:6.2f} us  {1e6 * peer / STATES:6.2f} us  '
          f'{peer / own:6.1f} times as fast')


def main() -> None:
    arm = load_arm('panda')
    rng = np.random.default_rng(0)
    q = rng.uniform(arm.limits.lower, arm.limits.upper, (STATES, arm.n))
    model = pinocchio.buildModelFromXML(urdf_of(arm))
    data = model.createData()
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def masses() -> list[object]:
        return [pinocchio.crba(model, data, state) for state in q]

    def jacobians() -> list[object]:
        result = []
        for state in q:
            pinocchio.computeJointJacobians(model, data, state)
            result.append(pinocchio.getJointJacobian(model, data, arm.n, axes))
        return result

    print(f'{"":24} {"one call":>9}  {"loop":>9}')
    compare('mass matrix', lambda: mass_matrix(arm, q), masses)
    compare('Jacobian of the last link', lambda: geometric_jacobian(arm, q), jacobians)


if __name__ == '__main__':
    main()
