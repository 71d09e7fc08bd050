"""Optimal exciting motions within all limits of an arm, and validation motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.excitation.design_objective import DesignObjective, Task
from dynid_ros.excitation.prior_information import objective_given
from dynid_ros.excitation.search import Design, Progress, Search
from dynid_ros.feasibility.scene import build_scene, Scene
from dynid_ros.model.identified_model import IdentifiedModel

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


def design_excitation(
    arm: ArmModel, *, surroundings: str | Path | None = None, period: float = 10.0,
    harmonics: int = 8, periods: int = 3, starts: int = 3, seconds: float = 20.0, seed: int = 0,
    given: Sequence[IdentifiedModel] = (),
) -> Design:
    """
    Design an exciting motion, as ``dynid design`` does.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that will be identified.
    surroundings : str or Path, optional
        Shipped arm or arm.yaml whose capsules, walls and floor the arm keeps clear of; without
        it collisions are not checked.
    period, harmonics, periods
        Period of the fundamental, s, number of harmonics, and repetitions.
    starts : int
        Random motions to start from.
    seconds : float
        Time after which the best motion so far is taken, s; where it does not cut in, the seed
        alone decides.
    seed : int
        Of the random motions.
    given : sequence of IdentifiedModel
        Models of earlier recordings; the design determines what these leave uncertain.

    Returns
    -------
    Design
        With ``motion``, ``condition_number`` and ``margins``; see `design`.

    Raises
    ------
    InputError
        The limits leave no motion, or a model in `given` is of another arm.

    """
    scene = None
    if surroundings is not None:
        scene = build_scene(arm, load_surroundings(str(surroundings), arm))
    objective = DesignObjective()
    if given:
        objective = objective_given(objective, arm, given, period * periods)
    return design(arm, Task(
        period, harmonics, periods, objective=objective, starts=starts, seconds=seconds,
        seed=seed), scene)


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
