# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sampled motions as files: ``trajectory_msgs/msg/JointTrajectory`` as YAML, and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.schema import read_yaml, Section
from dynid_ros.errors import InputError
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import write_whole

_TOP = ('header', 'joint_names', 'points')
_POINT = ('positions', 'velocities', 'accelerations', 'effort', 'time_from_start')
_TIME = ('sec', 'nanosec')
NANO = 10**9
TRAJECTORY_SUFFIXES = ('.csv', '.yaml', '.yml')
#: Samples of an exported motion, some 1 GB of text for an arm of seven joints.
MOST_SAMPLES = 5_000_000


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    Points of a joint trajectory.

    Attributes
    ----------
    joint_names : tuple of str
        Joints in the order of the columns.
    t : (N,) ndarray
        Times since the start, s.
    q, qd, qdd : (N, n) ndarray
        rad, rad/s, rad/s² (m for prismatic joints).
    effort : (N, n) ndarray or None
        Torque, Nm (N for prismatic joints).

    """

    joint_names: tuple[str, ...]
    t: Array
    q: Array
    qd: Array
    qdd: Array
    effort: Array | None = None


def write_trajectory(path: Path, trajectory: Trajectory) -> None:
    """
    Write points as ``ros2 topic pub`` and the controllers read them.

    Raises
    ------
    InputError
        The file cannot be written.

    """
    write_whole(path, ('\n'.join(_lines(trajectory)) + '\n').encode())


def _lines(trajectory: Trajectory) -> Iterator[str]:
    yield '# Written by dynid_ros.'
    yield f'joint_names: [{", ".join(trajectory.joint_names)}]'
    yield 'points:'
    columns = {'positions': trajectory.q, 'velocities': trajectory.qd,
               'accelerations': trajectory.qdd}
    if trajectory.effort is not None:
        columns['effort'] = trajectory.effort
    nanoseconds = np.round(trajectory.t * NANO).astype(np.int64)
    for time, *rows in zip(nanoseconds, *columns.values(), strict=True):
        for k, (key, row) in enumerate(zip(columns, rows, strict=True)):
            yield f'{" " if k else "-"} {key}: [{", ".join(f"{value:.9f}" for value in row)}]'
        yield f'  time_from_start: {{sec: {time // NANO}, nanosec: {time % NANO}}}'


def read_trajectory(path: Path) -> Trajectory:
    """
    Read points with positions, velocities and accelerations.

    Raises
    ------
    InputError
        The file cannot be read, or a point is incomplete; names the point and the key.

    """
    top = Section(read_yaml(path), path, _TOP)
    names, points = top.names('joint_names'), top.raw('points')
    if not names:
        raise top.error('joint_names', 'must list the names of the joints')
    if not isinstance(points, list) or len(points) < 2:
        raise top.error('points', 'must list two points or more')
    read = [_point(Section(each, path, _POINT, f'points[{k}]'), len(names))
            for k, each in enumerate(points)]
    t, q, qd, qdd = (np.array(column) for column in zip(*read, strict=True))
    late = np.flatnonzero(np.diff(t) <= 0)
    if len(late):
        k = int(late[0])
        raise InputError(
            f'{path}: the time_from_start of points[{k + 1}] ({t[k + 1]:g} s) is not after that '
            f'of the point before ({t[k]:g} s)')
    return Trajectory(names, t, q, qd, qdd)


def _point(section: Section, joints: int) -> tuple[float, Array, Array, Array]:
    time = section.section('time_from_start', _TIME)
    seconds = (time.number('sec') or 0.0) + (time.number('nanosec') or 0.0) / NANO
    q, qd, qdd = (_numbers(section, key, joints)
                  for key in ('positions', 'velocities', 'accelerations'))
    return seconds, q, qd, qdd


def _numbers(section: Section, key: str, joints: int) -> Array:
    found = section.vector(key, joints) if section.raw(key) != [] else None
    if found is None:
        raise section.error(
            key, 'are missing: torque needs positions, velocities and accelerations, which a '
                 'time parameterisation such as the one of MoveIt writes')
    return found


def check_formats(paths: Sequence[Path], seconds: float = 0.0, rate_hz: float = 0.0) -> None:
    """Refuse files of unknown suffix, or too many samples, before the work begins."""
    if paths and seconds * rate_hz > MOST_SAMPLES:
        raise InputError(f'--export would write {seconds * rate_hz:.3g} samples; lower --rate '
                         f'to {MOST_SAMPLES / seconds:g} Hz or less')
    for path in paths:
        if path.suffix.lower() not in TRAJECTORY_SUFFIXES:
            raise InputError(f'{path}: a motion is exported as {" or ".join(TRAJECTORY_SUFFIXES)}')


def export_motion(
    path: Path, motion: Motion, joint_names: tuple[str, ...], rate_hz: float,
) -> None:
    """
    Write a motion as samples from its start to its end.

    Parameters
    ----------
    path : Path
        ``.yaml`` for a ``trajectory_msgs/msg/JointTrajectory`` as ``ros2 topic pub`` and the
        controllers read it, ``.csv`` for the columns t, q, qd and qdd of each joint.
    motion : Motion
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
    check_formats([path])
    t = sample_times(motion, rate_hz)
    states = motion.evaluate(t)
    if path.suffix.lower() == '.csv':
        columns = [f'{kind}_{name}' for kind in ('q', 'qd', 'qdd') for name in joint_names]
        text = StringIO()
        np.savetxt(text, np.column_stack([t, *states]), '%.9g', ',',
                   header=','.join(['t', *columns]), comments='')
        write_whole(path, text.getvalue().encode())
    else:
        write_trajectory(path, Trajectory(joint_names, t, *states))


def sample_times(motion: Motion, rate_hz: float) -> Array:
    """Return times from the start of a motion to its end, which is always one of them, s."""
    return np.append(np.arange(0, motion.duration - 0.5 / rate_hz, 1 / rate_hz), motion.duration)
