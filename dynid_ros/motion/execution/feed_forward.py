# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The effort of a trajectory's points, for controllers that add it to their feedback."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.parameters import torque_units
from dynid_ros.data.recordings.history import history_of
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.trajectory.trajectory_file import Trajectory

#: Share of the recorded range of positions, and of the recorded speed, beyond which the model
#: extrapolates.
EXTRAPOLATION = 0.1


def with_effort(model: IdentifiedModel, trajectory: Trajectory) -> Trajectory:
    """
    Fill in the torque that a trajectory needs.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    trajectory : Trajectory
        Points of all joints of its arm, in any order.

    Returns
    -------
    Trajectory
        The same points with their effort, friction included.

    Raises
    ------
    InputError
        The joints are not the joints of the model, or the effort exceeds the limit of one.

    """
    arm, given = model.arm, trajectory.joint_names
    if sorted(given) != sorted(arm.joint_names):
        raise InputError(
            f'the joints of the trajectory ({", ".join(given)}) are not the joints of the model '
            f'({", ".join(arm.joint_names)})')
    ours = _order(model, trajectory)
    states = [x[:, ours] for x in (trajectory.q, trajectory.qd, trajectory.qdd)]
    tau = model.predict_torque(*states, history=history_of(trajectory.t, states[0]))
    limit = np.where(arm.limits.effort > 0, arm.limits.effort, np.inf)
    excess = np.abs(tau) / limit
    if (excess > 1).any():
        k, joint = np.unravel_index(int(np.argmax(excess)), excess.shape)
        raise InputError(
            f"joint '{arm.joint_names[joint]}' would need {abs(tau[k, joint]):.3g} "
            f'{torque_units(arm)[joint]} at {trajectory.t[k]:.3g} s, but its limit is '
            f'{limit[joint]:.3g}; slow the motion down')
    return replace(trajectory, effort=tau[:, np.argsort(ours)])


def extrapolation(model: IdentifiedModel, trajectory: Trajectory) -> tuple[str, ...]:
    """List joints that leave the range in which the model was identified; a sentence each."""
    known = model.recorded_range()
    if known is None:
        return ()
    low, high, fast = known
    ours = _order(model, trajectory)
    q, qd = trajectory.q[:, ours], np.abs(trajectory.qd[:, ours]).max(axis=0)
    room = EXTRAPOLATION * (high - low)
    found = []
    units = joint_units('rad', model.arm.prismatic)
    for joint, (name, unit) in enumerate(zip(model.arm.joint_names, units, strict=True)):
        first, last = q[:, joint].min(), q[:, joint].max()
        if first < low[joint] - room[joint] or last > high[joint] + room[joint]:
            found.append(
                f'{name} moves from {first:.2f} to {last:.2f} {unit}, but was identified from '
                f'{low[joint]:.2f} to {high[joint]:.2f} {unit}')
        if qd[joint] > (1 + EXTRAPOLATION) * fast[joint]:
            found.append(
                f'{name} reaches {qd[joint]:.2f} {unit}/s, but was identified up to '
                f'{fast[joint]:.2f} {unit}/s: its friction is uncertain above')
    return tuple(found)


def _order(model: IdentifiedModel, trajectory: Trajectory) -> NDArray[np.intp]:
    """Columns of the trajectory in the order of the model's joints."""
    return np.array([trajectory.joint_names.index(name) for name in model.arm.joint_names])
