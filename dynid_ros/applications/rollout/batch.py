# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Many simulations of an exported MJCF at once, in MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from typing import Any

import numpy as np

from dynid_ros.applications.rollout.restarts import Restarts
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.simulation.mjcf import joint_order
from dynid_ros.utilities.arrays import Array

#: Version of MuJoCo that takes one MjData for each thread of a rollout.
OLDEST = (3, 3)


def loaded(text: str) -> Any:
    """
    Load an MJCF without its end stops, and without a file of warnings.

    Raises
    ------
    InputError
        MuJoCo is not installed, too old, or refuses the arm.

    """
    remedy = 'install it (pip install "mujoco>=3.3")'
    try:
        import mujoco
        import mujoco.rollout
    except ImportError as error:
        raise InputError(f'rollouts need MuJoCo, which is not installed; {remedy}') from error
    if tuple(map(int, mujoco.__version__.split('.')[:2])) < OLDEST:
        raise InputError(f'rollouts need MuJoCo 3.3, and {mujoco.__version__} is installed; '
                         f'{remedy}')
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        raise InputError(f'MuJoCo refuses the arm: {error}') from error
    # An arm was recorded within its limits; a simulation beyond them is lost with stops, too.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    return model


def simulated(
    models: Any, arm: ArmModel, restarts: Restarts, *, commands: bool = False,
    extra: Array | None = None,
) -> Array:
    """
    Simulate an arm from every restart to the horizon.

    Parameters
    ----------
    models : mujoco.MjModel or list of mujoco.MjModel
        The arm, from `loaded`, or one for each of the M·B simulations.
    arm : ArmModel
        The arm, for the order of its joints and their followers.
    restarts : Restarts
        B states, and torque or commands after them.
    commands : bool
        Whether position actuators follow the drive signal; else it is the torque.
    extra : (M·B, K, n) ndarray, optional
        Torque added to that of the drives, Nm; the restarts are repeated for each of its rows.

    Returns
    -------
    (M·B, K, n) ndarray
        Positions after each step, rad or m; not finite where the simulation has no state.

    """
    import mujoco
    from mujoco import rollout

    model = models[0] if isinstance(models, list) else models
    order = joint_order(model, arm)
    full, count = mujoco.mjtState.mjSTATE_FULLPHYSICS, len(restarts.start)
    data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    places = _places(model, data[0])[order[:arm.n]]
    state = np.empty((count, mujoco.mj_stateSize(model, full)))
    for row, q, qd in zip(state, restarts.q[:, 0], restarts.qd, strict=True):
        data[0].qpos[order], data[0].qvel[order] = arm.tree.positions(q), arm.tree.rates(qd)
        mujoco.mj_getState(model, data[0], row, full)
    given = restarts.drive
    times = 1 if extra is None else len(extra) // count
    state, given = np.tile(state, (times, 1)), np.tile(given, (times, 1, 1))
    torque = np.zeros((*given.shape[:2], model.nv))
    kind = mujoco.mjtState.mjSTATE_QFRC_APPLIED
    if not commands:
        torque[..., order[:arm.n]] = given
    if extra is not None:
        torque[..., order[:arm.n]] += extra
    control = torque
    if commands:
        # Actuators are in the order of the arm's joints.
        kind |= mujoco.mjtState.mjSTATE_CTRL
        control = np.concatenate([given, torque], axis=-1)
    with _no_warnings(mujoco):
        reached, _ = rollout.rollout(
            models, data, state, np.ascontiguousarray(control), control_spec=int(kind))
    return np.asarray(reached[..., places])


def _places(model: Any, data: Any) -> Array:
    """Places of the positions in the vector of a state, by degree of freedom."""
    import mujoco

    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    row = np.zeros(mujoco.mj_stateSize(model, full))
    mujoco.mj_resetData(model, data)
    data.qpos[:] = 1.0 + np.arange(model.nq)
    mujoco.mj_getState(model, data, row, full)
    return np.array([int(np.flatnonzero(row == 1.0 + k)[0]) for k in range(model.nq)])


@contextmanager
def _no_warnings(mujoco: Any) -> Iterator[None]:
    """Keep MuJoCo from writing a file of warnings; positions show a lost simulation."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
