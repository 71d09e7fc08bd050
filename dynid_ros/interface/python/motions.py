# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions and simulated recordings, each in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_model,
    as_models,
    as_simulated_arm,
    Model,
)
from dynid_ros.utilities.inputs import (
    as_flag,
    as_numbers,
    as_path,
    as_text,
    COUNT,
    Count,
    Finite,
    NOT_NEGATIVE,
    NotNegative,
    POSITIVE,
    Positive,
    SEED,
    Seed,
    wrong_type,
)
from dynid_ros.utilities.one_thread import one_thread

if TYPE_CHECKING:
    from dynid_ros.motion.excitation.design_objective import Task
    from dynid_ros.motion.excitation.search import Design
    from dynid_ros.motion.trajectory.motion_pair import Motion
    from dynid_ros.motion.trajectory.trajectory_file import Trajectory
    from dynid_ros.simulation.session import SimulatedRecording

#: Arms swing of themselves above this, Hz.
HIGHEST_HZ = 20.0
#: What may be known of a load.
KNOWN_PARTS = ('mass', 'com')
#: Most points of a trajectory for a controller.
CONTROLLER_POINTS = 100_000


@one_thread()
def design_excitation(
    arm: Arm, *, surroundings: str | Path | None = None, period: Positive = 10.0,
    harmonics: Count = 8, periods: Count | None = None, ramp: NotNegative = 0.0,
    criterion: Literal['condition', 'volume'] = 'condition', scale_columns: bool = False,
    parameters: Sequence[str] = (), load: Sequence[Finite] | None = None,
    known: Sequence[Literal['mass', 'com']] = (), link: str | None = None, starts: Count = 4,
    seconds: Positive = 120.0, seed: Seed = 0, given: Model | Iterable[Model] = (),
) -> Design:
    """
    Design an exciting motion and another one for validation, as ``dynid design`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm with the friction terms that will be identified.
    surroundings : str or Path, optional
        Shipped arm or arm.yaml whose capsules, walls and floor the arm keeps clear of; by default
        the file of an arm given by name or path. Without it collisions are not checked.
    period : float
        Period of the fundamental, s.
    harmonics : int
        Number of harmonics.
    periods : int, optional
        Repetitions of the motion; by default 3, or 1 for a load.
    ramp : float
        Time in which the amplitude grows and shrinks, s.
    criterion : str
        Condition number, or volume of the confidence ellipsoid (D-optimality).
    scale_columns : bool
        Scale the columns to unit length first.
    parameters : sequence of str
        Base parameters whose variance is minimised instead, such as ``Izz6``.
    load : (1,) or (4,) sequence of float, optional
        For a load instead of the arm: mass of the heaviest one, with which all limits hold, kg,
        and its centre X Y Z in the frame of the tool, m, or its origin. No other motion follows.
    known : sequence of str
        For a load: what will be known of it, ``mass``, ``com`` (the centre of `load`) or both; the
        motion determines the rest.
    link : str, optional
        For a load: joint that moves the link with it, if not the tool.
    starts : int
        Random motions to start from.
    seconds : float
        End the search, which begins once the arm and its meshes are read, after this time, s; one
        that ends earlier depends on the seed alone.
    seed : int
        Of the random motions.
    given : str, Path, IdentifiedModel, or iterable of these
        Results of earlier recordings; improve their weakest parameters.

    Returns
    -------
    Design
        With ``motion``, ``condition_number`` and ``margins``, with ``pair``, both motions one
        after the other, and with ``save``.

    Raises
    ------
    InputError
        The limits leave no motion, or a model in `given` is of another arm.

    """
    from dynid_ros.applications.payload.design import PayloadDesign
    from dynid_ros.arm.surroundings import load_surroundings
    from dynid_ros.motion.excitation.design import design, design_both
    from dynid_ros.motion.excitation.design_objective import (
        CRITERIA,
        DesignObjective,
        parameters_sought,
        Task,
    )
    from dynid_ros.motion.excitation.prior_information import objective_given
    from dynid_ros.motion.feasibility.scene import build_scene

    if surroundings is None and isinstance(arm, (str, Path)):
        surroundings = arm
    if periods is None:
        periods = 3 if load is None else 1
    task = Task(
        POSITIVE.take('period', period), COUNT.take('harmonics', harmonics),
        COUNT.take('periods', periods), NOT_NEGATIVE.take('ramp', ramp),
        starts=COUNT.take('starts', starts), seconds=POSITIVE.take('seconds', seconds),
        seed=SEED.take('seed', seed))
    length = _length(task)
    arm, earlier = as_arm(arm), as_models(given, 'given')
    as_flag('scale_columns', scale_columns)
    scene = None if surroundings is None else build_scene(
        arm, load_surroundings(as_path('surroundings', surroundings), arm))
    parameters = (parameters,) if isinstance(parameters, str) else parameters
    if not isinstance(parameters, Sequence) or not all(isinstance(x, str) for x in parameters):
        raise wrong_type('parameters', 'a sequence of names such as Izz6', parameters)
    if as_text('criterion', criterion) not in CRITERIA:
        raise InputError(f'criterion must be {" or ".join(CRITERIA)}, not {criterion}')
    if not isinstance(known, Sequence) or isinstance(known, str) or not {*known} <= {*KNOWN_PARTS}:
        raise InputError(
            f'known must list {" and ".join(KNOWN_PARTS)}, or one of them, not {known!r}')
    if load is None and (known or link is not None):
        raise InputError('known and link are for a load only')
    if load is not None:
        mass, *center = as_numbers('load', load, 1).tolist() or [0.0]
        if not mass > 0 or len(center) not in (0, 3) or parameters:
            raise InputError('load must be a mass above zero, kg, alone or with x, y and z of its '
                             f'centre, m, and without parameters; it is {load!r}')
        own = PayloadDesign(arm, length, mass, center or (0.0, 0.0, 0.0), earlier, known, link)
        designed = design(own.arm, replace(task, objective=own.objective), scene)
        return replace(designed, notes=designed.notes | own.notes(designed.motion))
    objective = DesignObjective(
        criterion, scale_columns, parameters_sought(arm, parameters) if parameters else None)
    if earlier:
        objective = objective_given(objective, arm, earlier, length)
    return design_both(arm, replace(task, objective=objective), scene)


def _length(task: Task) -> float:
    """Return the time that a motion takes, s, if one of that time and frequency can be made."""
    from dynid_ros.motion.trajectory.fourier import LONGEST_MOTION_SECONDS

    length = task.period * task.periods + 2 * task.ramp
    if length > LONGEST_MOTION_SECONDS:
        raise InputError(f'the motion would last {length:g} s; keep period times periods '
                         '(--period, --periods) and twice ramp (--ramp) within '
                         f'{LONGEST_MOTION_SECONDS:g} s')
    if task.harmonics > HIGHEST_HZ * task.period:
        raise InputError(
            f'{task.harmonics} harmonics of a period of {task.period:g} s reach '
            f'{task.harmonics / task.period:.3g} Hz, where an arm is no longer rigid; stay below '
            f'{HIGHEST_HZ:g} Hz')
    return length


@one_thread()
def simulate(
    arm: Arm | Model, motion: Design | Motion | str | Path | None = None, *, seed: Seed = 0,
    out: str | Path | None = None,
) -> SimulatedRecording:
    """
    Record a simulated arm in MuJoCo, as ``dynid simulate`` does.

    Parameters
    ----------
    arm : str, Path, ArmModel or IdentifiedModel
        The arm, or a result with its physically possible parameters.
    motion : Design, FourierMotion, MotionPair, str or Path, optional
        The motion, or its excitation.yaml; by default a random one within the limits.
    seed : int
        Of noise and random motion.
    out : str or Path, optional
        Folder of a bag to write, too; an earlier bag of dynid's own is replaced.

    Returns
    -------
    SimulatedRecording
        A `Recording` that knows its simulated ``arm`` and the ``truth``.

    Raises
    ------
    InputError
        The arm cannot be simulated, or cannot follow the motion.
    ResultError
        Something else stands at the place of the bag.

    """
    from dynid_ros.motion.excitation.search import Design as Designed
    from dynid_ros.motion.trajectory.fourier import FourierMotion
    from dynid_ros.motion.trajectory.motion_pair import MotionPair
    from dynid_ros.simulation.session import simulated_recording

    if isinstance(motion, Designed):
        motion = motion.pair or motion.motion
    if motion is not None and not isinstance(motion, (FourierMotion, MotionPair)):
        motion = as_path('motion', motion)
    return simulated_recording(
        as_simulated_arm(arm), motion, seed=SEED.take('seed', seed),
        out=None if out is None else as_path('out', out))


@one_thread()
def feedforward(
    model: Model, motion: Design | Trajectory | str | Path, *, rate_hz: Positive = 100.0,
    out: str | Path | None = None,
) -> Trajectory:
    """
    Fill in the torque of a motion by a model, as ``dynid feedforward`` does.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model.
    motion : Design, Trajectory, str or Path
        The motion, or its file: excitation.yaml of dynid design, or a JointTrajectory as YAML with
        positions, velocities and accelerations.
    rate_hz : float
        Points a second, of a motion of dynid design; controllers interpolate between them.
    out : str or Path, optional
        JointTrajectory to write, too (YAML).

    Returns
    -------
    Trajectory
        Points with their ``effort``, friction included.

    Raises
    ------
    InputError
        The joints are not the model's, there are too many points, or the effort exceeds
        the limit of a joint.

    """
    from dynid_ros.motion.execution.feed_forward import with_effort
    from dynid_ros.motion.trajectory.trajectory_file import Trajectory, write_trajectory

    known, target = as_model(model), None if out is None else as_path('out', out)
    points = motion if isinstance(motion, Trajectory) else _points(
        motion, POSITIVE.take('rate_hz', rate_hz))
    filled = with_effort(known, points)
    if target is not None:
        write_trajectory(target, filled)
    return filled


def _points(motion: Design | str | Path, rate_hz: float) -> Trajectory:
    """Read the points of a motion, or sample it."""
    from dynid_ros.arm.description.schema import read_yaml
    from dynid_ros.motion.excitation.search import Design as Designed
    from dynid_ros.motion.trajectory.motion_file import read_motion
    from dynid_ros.motion.trajectory.trajectory_file import (
        read_trajectory,
        sample_times,
        Trajectory,
    )

    if isinstance(motion, Designed):
        whole, names = motion.pair or motion.motion, motion.arm.joint_names
    else:
        path = as_path('motion', motion)
        content = read_yaml(path)
        if isinstance(content, dict) and 'points' in content:
            return read_trajectory(path)
        read = read_motion(path)
        whole, names = read.motion, read.joint_names
    wanted = whole.duration * rate_hz
    if wanted > CONTROLLER_POINTS:
        raise InputError(f'{wanted:.3g} points of {whole.duration:g} s are more than the '
                         f'{CONTROLLER_POINTS} that a controller may get; lower the rate')
    t = sample_times(whole, rate_hz)
    return Trajectory(names, t, *whole.evaluate(t))
