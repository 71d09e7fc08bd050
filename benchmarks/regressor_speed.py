"""
Speed of the regressor beside Pinocchio's and FIGAROH's, in one run on one thread.

Each takes the same 20 000 samples of a 7-joint arm. dynid_ros is measured as `dynid identify`
uses it, in blocks that stay in the processor's cache, and also as one array.

    pip install --editable . figaroh     # FIGAROH is left out where it cannot be imported
    python benchmarks/regressor_speed.py
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Callable
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.dynamics.regressor import regressor

SAMPLES = 20_000
BLOCK = 256
ROUNDS = 7

PINOCCHIO = 'Pinocchio, Python loop, rigid'
RIGID = 'dynid_ros, blocks, rigid'
FULL = 'dynid_ros, blocks, rotor inertia and friction'
FIGAROH = 'FIGAROH, rotor inertia and friction'


def best_microseconds(work: Callable[[], object]) -> float:
    """Least time of several rounds by sample: what the machine can do undisturbed."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return 1e6 * min(times) / SAMPLES


def main() -> None:
    arm = load_arm('panda')
    rigid = arm.rigid()
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, size=(3, SAMPLES, arm.n))
    model = pin.Model()
    for j in range(arm.n):
        placement = pin.SE3(arm.rotation[j], arm.translation[j])
        model.addJoint(j, pin.JointModelRZ(), placement, arm.joint_names[j])
    data = model.createData()

    def pinocchio_loop() -> None:
        for k in range(SAMPLES):
            pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k])

    def blocks(which: ArmModel) -> None:
        for k in range(0, SAMPLES - BLOCK + 1, BLOCK):
            part = slice(k, k + BLOCK)
            regressor(which, q[part], qd[part], qdd[part])

    regressor(rigid, q, qd, qdd)
    rows = {
        PINOCCHIO: best_microseconds(pinocchio_loop),
        RIGID: best_microseconds(lambda: blocks(rigid)),
        'dynid_ros, one array, rigid': best_microseconds(lambda: regressor(rigid, q, qd, qdd)),
        FULL: best_microseconds(lambda: blocks(arm)),
    }
    try:
        from figaroh.tools.regressor import build_regressor_basic
    except ImportError:
        print('FIGAROH is not installed here: left out')
    else:
        robot = SimpleNamespace(model=model, data=data)
        settings = {
            'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True,
            'is_joint_torques': True, 'act_idxv': list(range(arm.n)),
        }
        rows[FIGAROH] = best_microseconds(
            lambda: build_regressor_basic(robot, q, qd, qdd, settings))
    print(f'{"what":<48} µs a sample')
    for name, value in rows.items():
        print(f'{name:<48} {value:7.2f}')
    print(f'faster than the Pinocchio loop: {rows[PINOCCHIO] / rows[RIGID]:.1f} times')
    if FIGAROH in rows:
        print(f'faster than FIGAROH: {rows[FIGAROH] / rows[FULL]:.1f} times')


if __name__ == '__main__':
    main()
