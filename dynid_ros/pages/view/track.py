"""What a page shows over time: positions, torque and the moments that deserve a look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.arm.description.schema import read_yaml
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import history_of
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import check_possible, nominal_parameters
from dynid_ros.errors import ArmError, InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.trajectory.motion_file import read_motion
from dynid_ros.motion.trajectory.trajectory_file import read_trajectory
from dynid_ros.utilities.arrays import Array

#: Frames a second, and most of them: an exported page holds two poses of each link a frame.
FRAMES_HZ, MOST_FRAMES = 30.0, 1500


@dataclass(frozen=True)
class Moment:
    """
    A time that deserves a look.

    Attributes
    ----------
    t : float
        s since the start.
    kind : str
        ``clearance``, ``outlier`` or ``defect``.
    text : str
        What happens then.

    """

    t: float
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Track:
    """
    States of an arm over time, as many as a page shows.

    Attributes
    ----------
    title : str
        What it is.
    arm : ArmModel
        The arm.
    t : (N,) ndarray
        s since the start, increasing.
    q, qd : (N, n) ndarray
        rad and rad/s, or m and m/s.
    tau : (N, n) ndarray or None
        Torque that was measured, or that the motion takes by the nominal or identified
        parameters; Nm or N.
    tau_hat : (N, n) ndarray or None
        Torque that a model predicts, where it was measured.
    heat : (N, n) ndarray or None
        Residual of each joint, from 0 to 1 at the residual of an outlier.
    moments : tuple of Moment
        In the order of time.
    notes : tuple of str
        Lines for the user.

    """

    title: str
    arm: ArmModel
    t: Array
    q: Array
    qd: Array
    tau: Array | None = None
    tau_hat: Array | None = None
    heat: Array | None = None
    moments: tuple[Moment, ...] = ()
    notes: tuple[str, ...] = ()

    def with_moments(self, moments: Iterable[Moment], **more: Any) -> Track:
        """Return the same with further moments, and with other attributes."""
        every = sorted((*self.moments, *moments), key=lambda moment: moment.t)
        return replace(self, moments=tuple(every), **more)

    @property
    def duration(self) -> float:
        """Time of the last state, s."""
        return float(self.t[-1])

    def position(self, t: float) -> Array:
        """Return positions (n,) at a time, between states too."""
        return np.array([np.interp(t, self.t, column) for column in self.q.T])

    def index(self, t: float) -> int:
        """Return the state nearest to a time."""
        k = int(np.clip(np.searchsorted(self.t, t), 1, len(self.t) - 1))
        return k if self.t[k] - t < t - self.t[k - 1] else k - 1


def frame_times(duration: float) -> Array:
    """Return the times of the states of a page, from zero to a duration, s."""
    frames = int(np.clip(np.ceil(duration * FRAMES_HZ), 2, MOST_FRAMES - 1))
    return np.linspace(0.0, duration, frames + 1)


def motion_track(path: Path, arm: ArmModel, model: IdentifiedModel | None = None) -> Track:
    """
    Read a motion.

    Parameters
    ----------
    path : Path
        excitation.yaml of ``dynid design``, or a JointTrajectory as YAML.
    arm : ArmModel
        The arm that is to move.
    model : IdentifiedModel, optional
        Model that predicts the torque; by default the nominal parameters of the arm do.

    Raises
    ------
    InputError
        The file is no motion, or one of another arm.

    """
    content = read_yaml(path)
    if isinstance(content, dict) and 'points' in content:
        t, q, qd, qdd = _points(path, arm)
    else:
        excitation = read_motion(path, arm)
        t = frame_times(excitation.motion.duration)
        q, qd, qdd = excitation.motion.evaluate(t)
    return Track(f'{arm.name}: {path.name}', arm, t, q, qd, _torque(arm, model, t, q, qd, qdd))


def _points(path: Path, arm: ArmModel) -> tuple[Array, Array, Array, Array]:
    """Points of a trajectory, in the order of the arm, at the times of frames."""
    found = read_trajectory(path)
    if sorted(found.joint_names) != sorted(arm.joint_names):
        raise InputError(
            f"{path} moves the joints {', '.join(found.joint_names)}, but the arm "
            f"'{arm.name}' has {', '.join(arm.joint_names)}; choose the arm that it was made for")
    order = [found.joint_names.index(name) for name in arm.joint_names]
    start = found.t[0]
    t = frame_times(float(found.t[-1] - start))
    q, qd, qdd = (at_times(t + start, found.t, x[:, order])
                  for x in (found.q, found.qd, found.qdd))
    return t, q, qd, qdd


def at_times(t: Array, known: Array, values: Array) -> Array:
    """Interpolate columns (K, n) from known times (K,) to others (N,)."""
    return np.column_stack([np.interp(t, known, column) for column in values.T])


def _torque(
    arm: ArmModel, model: IdentifiedModel | None, t: Array, q: Array, qd: Array, qdd: Array,
) -> Array | None:
    """Torque (N, n) by a model, or by nominal parameters where bodies can have them."""
    if model is not None:
        return model.predict_torque(q, qd, qdd, history=history_of(t, q))
    # Friction that depends on load or history needs an estimate.
    plain = arm.memoryless
    try:
        check_possible(plain)
        return np.asarray(regressor(plain, q, qd, qdd) @ nominal_parameters(plain))
    except ArmError:
        return None
