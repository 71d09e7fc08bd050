"""Drawings of a motion: joints against their limits, and the path of the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.feasibility.planning_limits import planning_limits
from dynid_ros.kinematics.forward import forward_kinematics
from dynid_ros.trajectory.fourier import FourierMotion

Array = NDArray[np.float64]

#: Points of a drawing.
POINTS = 1000


def draw_motion(folder: Path, motion: FourierMotion, arm: ArmModel, suffix: str = 'png') -> None:
    """
    Draw position, velocity, acceleration and torque with their limits, and the tool's path.

    Parameters
    ----------
    folder : Path
        Gets ``joints`` and ``path``; made where it is missing.
    motion : FourierMotion
        The motion.
    arm : ArmModel
        The arm; torque is drawn where its nominal inertias are known.
    suffix : str
        ``png``, ``svg`` or ``pdf``.

    Raises
    ------
    InputError
        The folder cannot be written.

    """
    from matplotlib.figure import Figure

    t = np.linspace(0, motion.ramp + motion.period, POINTS)
    joints = Figure(figsize=(9, 1.5 * arm.n), layout='constrained')
    _draw_joints(joints, t, motion, arm)
    path = Figure(figsize=(5, 5), layout='constrained')
    _draw_path(path, forward_kinematics(arm, motion.evaluate(t)[0]).translation)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        joints.savefig(folder / f'joints.{suffix}', dpi=80)
        path.savefig(folder / f'path.{suffix}', dpi=80)
    except OSError as error:
        raise InputError(f'cannot write drawings into {folder}: {error.strerror}') from error


def _draw_joints(figure: Any, t: Array, motion: FourierMotion, arm: ArmModel) -> None:
    allowed, limits = planning_limits(arm), arm.motion_limits
    q, qd, qdd = motion.evaluate(t)
    rows = [
        ('q', q, allowed.lower, allowed.upper), ('qd', qd, -allowed.velocity, allowed.velocity),
        ('qdd', qdd, -allowed.acceleration, allowed.acceleration)]
    if arm.inertial is not None:
        known = arm.without_load
        torque = regressor(known, q, qd, qdd) @ nominal_parameters(known)
        rows.append(('torque', torque, -limits.effort, limits.effort))
    axes = figure.subplots(arm.n, len(rows), sharex=True, squeeze=False)
    for column, (title, values, lower, upper) in enumerate(rows):
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel('t, s')
        for joint in range(arm.n):
            axis = axes[joint, column]
            axis.plot(t, values[:, joint], linewidth=1)
            for limit in (lower[joint], upper[joint]):
                if np.isfinite(limit):
                    axis.axhline(limit, color='tab:red', linewidth=0.7, linestyle='--')
            axis.tick_params(labelsize=6)
    for joint, name in enumerate(arm.joint_names):
        axes[joint, 0].set_ylabel(name, fontsize=6)


def _draw_path(figure: Any, points: Array) -> None:
    axis = figure.add_subplot(projection='3d')
    axis.plot(*points.T, linewidth=1)
    axis.scatter(*points[0], color='tab:red', label='rest')
    axis.set_xlabel('x, m')
    axis.set_ylabel('y, m')
    axis.set_zlabel('z, m')
    axis.set_aspect('equal')
    axis.legend()
