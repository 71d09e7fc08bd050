"""Optimal exciting motions within all limits of an arm, and validation motions."""

from __future__ import annotations

from dataclasses import replace

from dynid_ros.arm.model import ArmModel
from dynid_ros.excitation.search import Design, Progress, Search, Task
from dynid_ros.feasibility.scene import Scene

#: Period of a validation motion by that of the motion that is optimised: no multiple of either
#: is near the other for long.
OTHER_PERIOD = 0.77
#: Seed of the random amplitudes of a validation motion, beside that of the task.
OTHER_SEED = 1973


def design(
    arm: ArmModel, task: Task | None = None, scene: Scene | None = None,
    progress: Progress | None = None,
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
    progress : callable, optional
        Called with the progress.

    Returns
    -------
    Design
        The best motion that keeps all limits between samples too. An interrupt (Ctrl-C) after
        the first step ends the design early.

    Raises
    ------
    InputError
        The limits leave no motion, or there is no time for one iteration.

    References
    ----------
    Swevers, Ganseman, Tükel, de Schutter and van Brussel 1997, Optimal robot excitation and
    identification, IEEE T-RA 13(5).

    """
    return Search(arm, task or Task(), scene, progress).run()


def validation_motion(
    arm: ArmModel, task: Task | None = None, scene: Scene | None = None,
) -> Design:
    """
    Make a validation motion: other frequencies and amplitudes, not optimised.

    Parameters
    ----------
    arm : ArmModel
        The arm; all limits are kept as by `design`.
    task : Task, optional
        The motion that is to be validated; its seed, length and number of harmonics count.
    scene : Scene, optional
        Obstacles.

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
    return Search(arm, other, scene, None).random()
