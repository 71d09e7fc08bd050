# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Speed of the regressor beside Pinocchio's and FIGAROH's, in one run on one thread.

Each takes the same 20 000 samples of a 7-joint arm. dynid_ros is measured as `dynid identify`
uses it, tile by tile in blocks that stay in the processor's cache, and as arrays of rows. All take
turns, and the least time of each counts. The last line compares the operations a second of the
tiles with those of a product of large matrices, which is near the peak of the processor.

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

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.kernel_arrays import pairs, tree
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.dynamics.regressor import fill_tiles, regressor

SAMPLES = 20_000
BLOCK = 128
ROUNDS = 15
#: Additions and multiplications of a sample: of `project` for each pair of a joint and a link that
#: it carries, of each screw that `to_child_frame` transforms, and of each link (`accelerate`,
#: `pose_in_parent` with 30 for sine and cosine).
OPERATIONS = 28 * 86 + 21 * 42 + 7 * (126 + 72)
#: Rows of a square matrix.
SQUARE = 512

PINOCCHIO = 'Pinocchio, Python loop, rigid'
TILES = 'dynid_ros, tiles, rigid'
RIGID = 'dynid_ros, rows, rigid'
FULL = 'dynid_ros, rows, rotor inertia and friction'
MOMENTUM = 'dynid_ros, rows of momentum and force, rigid'
FIGAROH = 'FIGAROH, rotor inertia and friction'
MATRICES = 'product of matrices'


def best_microseconds(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Least time of several rounds by sample: what the machine can do undisturbed."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            start = perf_counter()
            work()
            times[name].append(perf_counter() - start)
    return {name: 1e6 * min(each) / SAMPLES for name, each in times.items()}


def main() -> None:
    arm = load_arm('panda')
    rigid = arm.rigid
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, size=(3, SAMPLES, arm.n))
    model = pin.Model()
    for j in range(arm.n):
        placement = pin.SE3(arm.rotation[j], arm.translation[j])
        model.addJoint(j, pin.JointModelRZ(), placement, arm.joint_names[j])
    data = model.createData()

    def pinocchio_loop() -> None:
        for k in range(SAMPLES):
            pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k])

    def blocks(work: Callable[..., object]) -> None:
        for k in range(0, SAMPLES, BLOCK):
            part = slice(k, k + BLOCK)
            work(q[part], qd[part], qdd[part])

    tiles, matrix = pairs(rigid).tiles(BLOCK), np.ones((SQUARE, SQUARE))
    works: dict[str, Callable[[], object]] = {
        PINOCCHIO: pinocchio_loop,
        TILES: lambda: blocks(lambda *state: fill_tiles(rigid, tree(rigid), state, tiles)),
        RIGID: lambda: blocks(lambda *state: regressor(rigid, *state)),
        'dynid_ros, one array, rigid': lambda: regressor(rigid, q, qd, qdd),
        FULL: lambda: blocks(lambda *state: regressor(arm, *state)),
        MOMENTUM: lambda: blocks(lambda q, qd, _: momentum_regressors(rigid, q, qd)),
        MATRICES: lambda: matrix @ matrix,
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
        works[FIGAROH] = lambda: build_regressor_basic(robot, q, qd, qdd, settings)
    rows = best_microseconds(works)
    peak = 2 * SQUARE**3 / (SAMPLES * rows.pop(MATRICES))
    print(f'{"what":<48} µs a sample')
    for name, value in rows.items():
        print(f'{name:<48} {value:7.2f}')
    for name in (TILES, RIGID, MOMENTUM):
        print(f'{name}: {rows[PINOCCHIO] / rows[name]:.1f} times as fast as the Pinocchio loop')
    if FIGAROH in rows:
        print(f'{FULL}: {rows[FIGAROH] / rows[FULL]:.1f} times as fast as FIGAROH')
    rate = OPERATIONS / rows[TILES]
    print(f'{TILES}: {rate / 1e3:.1f} GFLOP/s, {100 * rate / peak:.0f} % of the {MATRICES}')


if __name__ == '__main__':
    main()
