# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Errors of a pose, to first order and exactly.

A pose error is ``[rx ry rz x y z]``: rotation vector (rad) and shift (m) from the nominal to the
real pose, along the axes of the world; rotation first, as in wrenches and Jacobians.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import find_body, TOOL
from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.error_sources import (
    error_sources,
    ErrorSource,
    SCREWS,
    X,
)
from dynid_ros.dynamics.kinematics.forward import forward_kinematics, frames
from dynid_ros.dynamics.kinematics.rotations import rotation_vectors, turned
from dynid_ros.dynamics.rigid_body import jacobians
from dynid_ros.dynamics.state import as_states
from dynid_ros.utilities.arrays import Array

BODY_FRAME, FOOT = 0, 1


def error_jacobian(
    arm: ArmModel, q: ArrayLike, body: str = TOOL, sources: Sequence[ErrorSource] | None = None,
) -> Array:
    """
    Jacobian of the pose error of a body with respect to each source.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) or (N, n) array_like
        Positions, rad or m.
    body : str
        ``tool``, or the joint that moves the link.
    sources : sequence of ErrorSource, optional
        Sources; all of ``error_sources(arm, body)`` if not given.

    Returns
    -------
    (6, S) or (N, 6, S) ndarray
        To first order the pose error is this matrix times the errors.

    Raises
    ------
    InputError
        A shape is wrong or there is no such body.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    Notes
    -----
    A rotation source about an axis z through a point c rotates the body by z and shifts it by
    ``z x (p - c)``; a shift source along z shifts it by z. For the parameters of a DH table:
    Wu 1984, A kinematic CAD tool for the design and control of a robot manipulator, IJRR 3(1).

    """
    sources = error_sources(arm, body) if sources is None else sources
    states = as_states(arm, q)
    all_frames = frames(arm, states.q)
    target = _body(arm, all_frames, body).translation
    result = np.zeros((len(states.q), 6, len(sources)))
    base = all_frames.rotation[:, FOOT]
    moved = jacobians(arm, states.q, body).reshape(len(states.q), 2, 3, arm.n)
    readings = (base[:, None] @ moved).reshape(len(states.q), 6, arm.n)
    for k, source in enumerate(sources):
        if source.group == 'reading':
            result[:, :, k] = readings[:, :, source.joint]
            continue
        direction, point = _axis(arm, all_frames, target, source)
        if source.turning:
            result[:, :3, k] = direction
            result[:, 3:, k] = np.cross(direction, target - point)
        else:
            result[:, 3:, k] = direction
    return states.shaped(result)


def perturbed_kinematics(
    arm: ArmModel, q: ArrayLike, sources: Sequence[ErrorSource], errors: ArrayLike,
    body: str = TOOL,
) -> Placement:
    """
    Pose of a body in the world, with errors of any size.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (..., n) array_like
        Measured positions, rad or m.
    sources : sequence of ErrorSource
        Sources of the columns of `errors`.
    errors : (..., S) array_like
        Errors, rad or m; real minus nominal. The leading axes of `q` and `errors` broadcast.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    Placement
        For each set of errors.

    Raises
    ------
    InputError
        There is no such body.

    """
    given, every_error = np.asarray(q, dtype=float), np.asarray(errors, dtype=float)
    shape = np.broadcast_shapes(given.shape[:-1], every_error.shape[:-1])
    real = np.broadcast_to(given, (*shape, arm.n)).reshape(-1, arm.n).copy()
    by_source = dict(zip(sources, np.broadcast_to(
        every_error, (*shape, len(sources))).reshape(-1, len(sources)).T, strict=True))
    for source, error in by_source.items():
        if source.group == 'reading':
            real[:, source.joint] += error
    all_frames = frames(arm, real)
    pose = _body(arm, all_frames, body)
    target = pose.translation
    # From the tool inwards, so that each source moves the body as placed by the sources outside
    # it.
    placing = [each for each in reversed(error_sources(arm, body)) if each.group != 'reading']
    for _, together in groupby(placing, key=lambda each: (
            each.joint, each.group if each.joint < 0 else each.group in SCREWS and each.axis)):
        motion = np.zeros((2, len(real), 3))
        for source in together:
            direction, point = _axis(arm, all_frames, target, source)
            motion[0 if source.turning else 1] += (
                by_source.get(source, np.zeros(len(real)))[:, None] * direction)
        turn = turned(motion[0])
        pose = Placement(turn, motion[1] + point).then(
            Placement(pose.rotation, pose.translation - point))
    return Placement(pose.rotation.reshape(*shape, 3, 3), pose.translation.reshape(*shape, 3))


def exact_pose_error(
    arm: ArmModel, q: ArrayLike, errors: ArrayLike, body: str = TOOL,
    sources: Sequence[ErrorSource] | None = None,
) -> Array:
    """Pose error (..., 6) due to errors (..., S) of any size at one position (n,)."""
    sources = error_sources(arm, body) if sources is None else sources
    real = perturbed_kinematics(arm, q, sources, errors, body)
    return pose_difference(real, forward_kinematics(arm, q, body))


def pose_difference(real: Placement, nominal: Placement) -> Array:
    """Pose error (..., 6) from a nominal pose to a real one."""
    turn = real.rotation @ np.swapaxes(nominal.rotation, -1, -2)
    return np.concatenate(
        [rotation_vectors(turn), real.translation - nominal.translation], axis=-1)


def _body(arm: ArmModel, all_frames: Placement, body: str) -> Placement:
    """Poses (N,) of a body, from the poses of all frames."""
    joint, placement = find_body(arm, body)
    return Placement(
        all_frames.rotation[:, joint + 2], all_frames.translation[:, joint + 2]).then(placement)


def _axis(
    arm: ArmModel, all_frames: Placement, target: Array, source: ErrorSource,
) -> tuple[Array, Array]:
    """Direction and point through which a source acts, (N, 3) each, in the world."""
    own, carrier = source.joint + 2, int(arm.parent[source.joint]) + 2
    if source.group == 'base':
        origin = all_frames.translation[:, BODY_FRAME]
        return np.broadcast_to(np.eye(3)[source.axis], origin.shape), origin
    if source.group == 'mounting':
        return all_frames.rotation[:, BODY_FRAME, :, source.axis], all_frames.translation[:, FOOT]
    if source.group == 'tool':
        return all_frames.rotation[:, arm.tool_link + 2, :, source.axis], target
    if source.group in SCREWS:
        frame = carrier if arm.dh == 'mdh' and source.axis == X else own
        return all_frames.rotation[:, frame, :, source.axis], all_frames.translation[:, frame]
    # The placement of the joint, without the travel of a prismatic one.
    carried = all_frames.rotation[:, carrier]
    return carried[:, :, source.axis], (
        all_frames.translation[:, carrier] + carried @ arm.translation[source.joint])
