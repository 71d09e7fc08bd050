# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of a motion, and of the state of an arm, before a start."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.safety_monitor import DEFAULT_THRESHOLDS, SafetyMonitor
from dynid_ros.motion.feasibility.margins import AllLimits, LIMIT_ROUNDING, MotionMargins
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.motion_pair import Motion, MotionPair, parts
from dynid_ros.utilities.arrays import Array


def check_motion(arm: ArmModel, motion: Motion, scene: Scene | None) -> None:
    """
    Make sure that a motion keeps every known limit, between samples too.

    Parameters
    ----------
    arm : ArmModel
        The arm; its motion limits count.
    motion : FourierMotion or MotionPair
        The motion.
    scene : Scene or None
        Bodies that must not touch, where known.

    Raises
    ------
    InputError
        A limit or a clearance is not kept.

    """
    limits = AllLimits(arm, scene)
    for part in parts(motion):
        _check_margins(arm, limits.margins(part))
    if isinstance(motion, MotionPair):
        _check_margins(arm, limits.way(motion.start, motion.validation.start, motion.way))


def _check_margins(arm: ArmModel, margins: MotionMargins) -> None:
    for quantity, values in margins.joints.items():
        if not (values >= -LIMIT_ROUNDING).all():
            joint, limit = int(np.argmin(values)), quantity.replace('torque', 'effort')
            raise InputError(
                f"the motion takes joint '{arm.joint_names[joint]}' of '{arm.name}' "
                f'{-values[joint]:.3g} beyond its {limit} limit; design the motion again')
    for pair, clearance in margins.clearance.items():
        if clearance < 0:
            raise InputError(
                f"the motion brings {pair} of '{arm.name}' {-clearance * 1000:.0f} mm nearer "
                'than the clearance; design the motion again')


def check_start(
    arm: ArmModel, q: Array, qd: Array, start: Array, scene: Scene | None,
) -> None:
    """
    Make sure that an arm is at rest and free to move straight to the start of a motion.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q, qd : (n,) ndarray
        Measured, rad and rad/s.
    start : (n,) ndarray
        Start of the motion, rad or m.
    scene : Scene or None
        Bodies that must not touch, where known.

    Raises
    ------
    InputError
        It moves, is outside its limits, or bodies would touch on the way.

    """
    problem = SafetyMonitor(arm, np.inf).violation(q, qd, None)
    if problem:
        raise InputError(f'{problem}; correct that before a start')
    moving = moving_joint(arm, qd)
    if moving:
        raise InputError(f'{moving}; wait until the arm stands still')
    if scene is None:
        return
    nearest = scene.nearest(q, start)
    if nearest.min() < 0:
        pair = scene.names[int(np.argmin(nearest))]
        raise InputError(
            f"on the straight way to the start {pair} of '{arm.name}' would touch; bring the arm "
            'nearer to the start first')


def moving_joint(arm: ArmModel, qd: Array) -> str:
    """Name the joint that moves most at velocities (n,), rad/s; empty if the arm is at rest."""
    speed = np.abs(qd) / np.where(np.isfinite(arm.limits.velocity), arm.limits.velocity, 1.0)
    joint = int(np.argmax(speed))
    if speed[joint] <= DEFAULT_THRESHOLDS.rest:
        return ''
    return f"joint '{arm.joint_names[joint]}' moves at {abs(qd[joint]):.3g}"
