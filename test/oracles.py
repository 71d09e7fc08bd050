# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Independent truth for tests: an arm rebuilt in Pinocchio, and random arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from dynid_ros.arm.description.tree import JointLimits, KinematicTree
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com
from dynid_ros.dynamics.base import base_parameters, random_regressor


def pinocchio_model(arm: ArmModel) -> Any:
    """Pinocchio model of an arm, one Pinocchio joint a joint, in the same order and frames."""
    model = pin.Model()
    model.name = arm.name
    ids: list[int] = []
    for i in range(arm.n):
        kind = pin.JointModelPrismaticUnaligned if arm.prismatic[i] else (
            pin.JointModelRevoluteUnaligned)
        parent = 0 if arm.parent[i] < 0 else ids[arm.parent[i]]
        placement = pin.SE3(arm.rotation[i], arm.translation[i])
        ids.append(model.addJoint(parent, kind(arm.axis[i]), placement, arm.joint_names[i]))
        if arm.inertial is not None:
            model.appendBodyToJoint(ids[-1], _inertia(arm.inertial[i]), pin.SE3.Identity())
    model.gravity.linear = np.asarray(arm.gravity)
    return model


def link_poses(arm: ArmModel | KinematicTree, q: np.ndarray) -> list[Any]:
    """Poses of all link frames in the base frame, (n,) of pinocchio.SE3."""
    poses: list[Any] = []
    for i, value in enumerate(q):
        motion = pin.SE3.Identity()
        if arm.prismatic[i]:
            motion.translation = value * arm.axis[i]
        else:
            motion.rotation = pin.AngleAxis(float(value), arm.axis[i]).toRotationMatrix()
        base = pin.SE3.Identity() if arm.parent[i] < 0 else poses[arm.parent[i]]
        poses.append(base * pin.SE3(arm.rotation[i], arm.translation[i]) * motion)
    return poses


def random_arm(
    rng: np.random.Generator, n: int, prismatic: bool = True, branched: bool = True,
) -> ArmModel:
    """Random tree with random placements, axes, gravity and physical links."""
    parent = [int(rng.integers(-1, i)) if branched else i - 1 for i in range(n)]
    axis = rng.normal(size=(n, 3))
    return ArmModel(
        name='random',
        tree=KinematicTree(
            joint_names=tuple(f'j{i + 1}' for i in range(n)),
            parent=np.array(parent, dtype=np.int64),
            rotation=np.array([random_rotation(rng) for _ in range(n)]),
            translation=rng.uniform(-0.5, 0.5, (n, 3)),
            prismatic=rng.random(n) < 0.3 if prismatic else np.zeros(n, dtype=np.bool_),
            axis=axis / np.linalg.norm(axis, axis=1, keepdims=True)),
        gravity=rng.normal(scale=6.0, size=3),
        limits=JointLimits.unknown(n),
        drive=Drive.joint_torque(n),
        inertial=np.array([random_link(rng) for _ in range(n)]),
    )


def is_clear(arm: ArmModel) -> bool:
    """
    Whether each column depends exactly or not at all, by the rank of the regressor.

    One random arm of 200 has a column that all but depends by chance, of which the base
    parameters leave out up to 7e-5 of the torque.
    """
    W = random_regressor(arm, states=100, seed=3)
    lengths = np.linalg.norm(W, axis=0)
    rank = np.linalg.matrix_rank(W / np.where(lengths > 0, lengths, 1.0), tol=1e-9)
    return bool(rank == base_parameters(arm).count)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Rotation matrix, uniform over all orientations."""
    w, x, y, z = rng.normal(size=4)
    return np.asarray(pin.Quaternion(w, x, y, z).normalized().toRotationMatrix())


def random_link(rng: np.random.Generator) -> np.ndarray:
    """Inertial parameters of a body made of ten positive point masses, so surely physical."""
    masses = rng.uniform(0.05, 1.0, 10)
    points = rng.uniform(-0.3, 0.3, (10, 3))
    return sum(
        (inertial_from_com(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)),
        start=np.zeros(10),
    )


def _inertia(parameters: np.ndarray) -> Any:
    """Pinocchio's body of ten inertial parameters; a massless one where there is no mass."""
    if parameters[0] == 0:
        return pin.Inertia.Zero()
    return pin.Inertia(*inertial_to_com(parameters))
