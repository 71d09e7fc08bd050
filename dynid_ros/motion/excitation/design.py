# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Optimal exciting motions within all limits, and validation motions, with their metadata.

The stages from a task to the file of a motion, each with its input and output;
`motion/execution/motion_control.py` continues from the file:

1. `build_scene`: links and objects around the arm → `Scene`, with the pairs that need clearance
2. `initial_guess`: `Task` and random numbers → coordinates of a motion within all limits
3. `Descent`: coordinates → coordinates of more information, kept within the limits by barriers
4. `Search`: coordinates of several starts → `Design`, the best motion that keeps all limits
   between samples too
5. `with_validation`: `Design` → `MotionPair`, with another motion behind it
6. `write_motion`: `MotionPair` → excitation.yaml
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.search import Design, Search, WAY_SPEED
from dynid_ros.motion.feasibility.planning_limits import move_duration, planning_limits
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.motion_pair import MotionPair
from dynid_ros.utilities.arrays import Array

#: Period of a validation motion relative to the optimised one: their multiples never stay close.
OTHER_PERIOD = 0.77
#: Periods of the exciting motion for each of the validation motion, which need not repeat.
FEWER_PERIODS = 3
#: Seed of the random amplitudes of a validation motion, beside the seed of the task.
OTHER_SEED = 1973
#: Digits of the numbers of the metadata, which nobody reads back.
METADATA_DIGITS = 6


def design(
    arm: ArmModel, task: Task | None = None, scene: Scene | None = None,
) -> Design:
    """
    Design an exciting motion.

    Parameters
    ----------
    arm : ArmModel
        The arm with the columns that will be identified; its motion limits are kept, and its
        effort limits where its nominal inertias are known.
    task : Task, optional
        Requested motion.
    scene : Scene, optional
        Obstacles.

    Returns
    -------
    Design
        The best motion that keeps all limits between samples too. An interrupt (Ctrl-C) after
        the first step ends the design early.

    Raises
    ------
    ArmError
        A joint has no drive.
    InputError
        The limits leave no motion, or there is no time for one iteration.

    References
    ----------
    Swevers, Ganseman, Tükel, de Schutter and van Brussel 1997, Optimal robot excitation and
    identification, IEEE T-RA 13(5).

    """
    arm.drive.check_driven(arm.joint_names)
    task = task or Task()
    designed = Search(arm, task, scene).run()
    return replace(designed, notes=design_metadata(designed, task, scene))


def design_both(arm: ArmModel, task: Task, scene: Scene | None) -> Design:
    """Design an exciting motion and, if the limits leave one, a validation motion, with notes."""
    designed = design(arm, task, scene)
    try:
        pair, found = with_validation(designed, task, scene)
    except InputError as error:
        designed.notes['notes'].append(f'without another motion for validation: {error}')
        return designed
    return replace(designed, pair=pair, notes=designed.notes | {'validation': {
        'seconds': found.motion.duration, 'way_seconds': pair.way,
        'margins': margins_as_dict(found)}})


def with_validation(
    designed: Design, task: Task, scene: Scene | None,
) -> tuple[MotionPair, Design]:
    """
    Append a validation motion, and the way to it, to an exciting one.

    Parameters
    ----------
    designed : Design
        The exciting motion.
    task, scene
        As for `design`.

    Returns
    -------
    motion : MotionPair
        Both, one after the other.
    validation : Design
        The validation motion alone.

    Raises
    ------
    InputError
        The limits leave no motion, or no way to one.

    """
    arm, first = designed.arm, designed.motion
    found = validation_motion(
        arm, replace(task, periods=-(-task.periods // FEWER_PERIODS)), scene, first.start)
    way = move_duration(found.motion.start - first.start, planning_limits(arm), WAY_SPEED)
    return MotionPair(first, found.motion, way), found


def validation_motion(
    arm: ArmModel, task: Task | None = None, scene: Scene | None = None,
    begin: Array | None = None,
) -> Design:
    """
    Make a validation motion: other frequencies and amplitudes, not optimised.

    Parameters
    ----------
    arm : ArmModel
        The arm; all limits are kept as by `design`.
    task : Task, optional
        The motion to validate; its seed, length and number of harmonics count.
    scene : Scene, optional
        Obstacles.
    begin : (n,) ndarray, optional
        Position of rest from which the straight way to the motion must be free, rad or m.

    Returns
    -------
    Design
        A random motion.

    Raises
    ------
    InputError
        The limits leave no motion.

    """
    task = task or Task()
    seed = int(f'{OTHER_SEED}{task.seed}')
    other = replace(task, period=OTHER_PERIOD * task.period, seed=seed)
    return Search(arm, other, scene).random(begin)


def design_metadata(designed: Design, task: Task, scene: Scene | None) -> dict[str, Any]:
    """
    Criterion, margins and course of a design, for the file of the motion and for scripts.

    Parameters
    ----------
    designed : Design
        The design.
    task : Task
        Requested motion.
    scene : Scene or None
        Obstacles.

    """
    objective = task.objective
    return {
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
        'margins': margins_as_dict(designed),
        'clearance': None if scene is None else scene.clearance,
        'pairs_not_checked': [] if scene is None else list(scene.ignored),
        'less_clearance': {} if scene is None else _less_clearance(scene),
        'hull_gaps': {} if scene is None else {
            name: _short(value) for name, value in scene.gaps.items()},
        'notes': [] if scene is None else list(scene.notes),
    }


def _less_clearance(scene: Scene) -> dict[str, float]:
    """Distances of pairs that never reach the clearance, m."""
    return {name: _short(value) for name, value in zip(scene.names, scene.kept, strict=True)
            if value < scene.clearance}


def margins_as_dict(designed: Design) -> dict[str, Any]:
    """Margins by quantity and joint, and the clearances by pair of bodies."""
    named = {quantity: dict(zip(designed.arm.joint_names, values, strict=True))
             for quantity, values in designed.margins.joints.items()}
    return {quantity: {name: _short(value) for name, value in own.items()}
            for quantity, own in {**named, 'clearance': designed.margins.clearance}.items()}


def _short(value: float) -> float:
    return float(f'{value:.{METADATA_DIGITS}g}')
