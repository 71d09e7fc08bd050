"""Sampled motions for other programs: a JointTrajectory message as YAML, or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import InputError
from dynid_ros.trajectory.fourier import FourierMotion
from dynid_ros.trajectory.trajectory_file import Trajectory, write_trajectory
from dynid_ros.whole_file import write_whole

Array = NDArray[np.float64]

FORMATS = ('.csv', '.yaml', '.yml')


def check_formats(paths: Sequence[Path]) -> None:
    """Refuse files of unknown suffix before the work begins."""
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise InputError(f'{path}: a motion is exported as {" or ".join(FORMATS)}')


def export_motion(
    path: Path, motion: FourierMotion, joint_names: tuple[str, ...], rate_hz: float,
) -> None:
    """
    Write a motion as samples from its start to its end.

    Parameters
    ----------
    path : Path
        ``.yaml`` for a ``trajectory_msgs/msg/JointTrajectory`` as ``ros2 topic pub`` and the
        controllers read it, ``.csv`` for the columns t, q, qd and qdd of each joint.
    motion : FourierMotion
        The motion.
    joint_names : tuple of str
        Names of its joints.
    rate_hz : float
        Samples a second; the end is always one of them.

    Raises
    ------
    InputError
        The suffix is unknown, or the file cannot be written.

    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f'{path} can be written as {", ".join(FORMATS)} only; choose one of these suffixes')
    t = sample_times(motion, rate_hz)
    states = motion.evaluate(t)
    if path.suffix.lower() == '.csv':
        write_whole(path, ('\n'.join(_csv(t, states, joint_names)) + '\n').encode())
    else:
        write_trajectory(path, Trajectory(joint_names, t, *states))


def sample_times(motion: FourierMotion, rate_hz: float) -> Array:
    """Return times from the start of a motion to its end, which is always one of them, s."""
    return np.append(np.arange(0, motion.duration - 0.5 / rate_hz, 1 / rate_hz), motion.duration)


def _csv(t: Array, states: tuple[Array, Array, Array], names: tuple[str, ...]) -> Iterable[str]:
    yield ','.join(['t', *(f'{kind}_{name}' for kind in ('q', 'qd', 'qdd') for name in names)])
    for row in np.column_stack([t, *states]):
        yield ','.join(f'{value:.9g}' for value in row)
