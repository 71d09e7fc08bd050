"""Metadata of a design, in plain values."""

from __future__ import annotations

from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.excitation.design_objective import Task
from dynid_ros.excitation.search import Design
from dynid_ros.feasibility.margins import MotionMargins
from dynid_ros.feasibility.scene import Scene

#: Digits of the numbers, none of which is read back.
DIGITS = 6


def design_metadata(
    designed: Design, task: Task, arm: ArmModel, scene: Scene | None, *, optimised: bool,
) -> dict[str, Any]:
    """
    Criterion, margins and course of a design, for the file of the motion and for scripts.

    Parameters
    ----------
    designed : Design
        The design.
    task : Task
        Requested motion.
    arm : ArmModel
        The arm.
    scene : Scene or None
        Obstacles.
    optimised : bool
        False for a validation motion.

    """
    objective = task.objective
    return {
        'optimised': optimised,
        'criterion': objective.name,
        'scaled_columns': objective.scale_columns,
        'regards_earlier_results': objective.prior is not None,
        'score': _short(designed.score),
        'condition_number': _short(designed.condition_number),
        'seed': task.seed,
        'starts': designed.starts,
        'complete': designed.complete,
        'seconds': round(designed.seconds, 2),
        'limits_kept': designed.margins.kept,
        'margins': margins_as_dict(designed.margins, arm),
        'clearance': None if scene is None else scene.clearance,
        'pairs_not_checked': [] if scene is None else list(scene.ignored),
        'less_clearance': {} if scene is None else _less_clearance(scene),
        'mesh_distances': {name: _short(value) for name, value in designed.meshes.items()},
        'hull_gaps': {} if scene is None else {
            name: _short(value) for name, value in scene.gaps.items()},
        'notes': [] if scene is None else list(scene.notes),
    }


def _less_clearance(scene: Scene) -> dict[str, float]:
    """Distances that pairs keep which are never as far apart as the clearance, m."""
    return {name: _short(value) for name, value in zip(scene.names, scene.kept, strict=True)
            if value < scene.clearance}


def margins_as_dict(margins: MotionMargins, arm: ArmModel) -> dict[str, Any]:
    """Margins by quantity and joint, and the clearances by pair of bodies."""
    result: dict[str, Any] = {}
    for quantity in ('position', 'velocity', 'acceleration', 'torque'):
        values = getattr(margins, quantity)
        if values is not None:
            result[quantity] = {
                name: _short(value) for name, value in zip(arm.joint_names, values, strict=True)}
    result['clearance'] = {name: _short(value) for name, value in margins.clearance.items()}
    return result


def _short(value: float) -> float:
    return float(f'{value:.{DIGITS}g}')
