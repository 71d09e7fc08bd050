# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Functions from recordings to models, which take names, paths or objects."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TYPE_CHECKING

from dynid_ros.arm.load import is_robot_file, stated_arm
from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_friction,
    as_model,
    as_recording,
    as_recordings,
    check_once,
    Cutoff,
    Friction,
    Log,
    Logs,
    Model,
    with_cutoff,
)
from dynid_ros.interface.python.results import IdentifiedModel
from dynid_ros.interface.python.validation import Validation
from dynid_ros.utilities.inputs import (
    as_flag,
    as_path,
    as_text,
    POSITIVE,
    Positive,
    Share,
)
from dynid_ros.utilities.one_thread import one_thread

if TYPE_CHECKING:
    from dynid_ros.estimation.calibration.gain_verdict import DriveGains


def read_recording(
    path: str | Path, arm: Arm, *, topic: str = 'joint_states', rate_hz: Positive | None = None,
    received: bool = False,
) -> Recording:
    """
    Read a bag, printed messages or a table.

    Parameters
    ----------
    path : str or Path
        The recording.
    arm : str, Path or ArmModel
        Its arm.
    topic : str
        JointState topic in bags.
    rate_hz : float, optional
        Sample rate of a table without a time column, Hz.
    received : bool
        Use the times of reception in a bag, for drivers that set no stamps.

    Raises
    ------
    RecordingError
        The recording cannot be read or does not fit the arm.

    """
    from dynid_ros.data.files import recording_reader

    return recording_reader.read_recording(
        as_path('path', path), as_arm(arm), topic=as_text('topic', topic),
        rate_hz=POSITIVE.take_given('rate_hz', rate_hz),
        received=as_flag('received', received))


@one_thread()
def check_recording(recording: Log, arm: Arm) -> tuple[Defect, ...]:
    """
    Find the defects of a recording, a delay, its unit and gains among them, as ``dynid check``.

    Parameters
    ----------
    recording : str, Path or Recording
        The recording.
    arm : str, Path or ArmModel
        Its arm.

    Returns
    -------
    tuple of Defect
        Each with its ``severity``, ``message`` and ``joint``; empty for a good recording.

    """
    from dynid_ros.estimation.identification.gain_check import drive_defects

    arm = as_arm(arm)
    log = as_recording(recording, arm)
    defects = quality.check_recording(log, arm)
    if any(defect.severity == 'error' for defect in defects):
        return defects
    return (*defects, *drive_defects(arm, log))


@one_thread()
def identify(
    arm: Arm, recordings: Logs, *, friction: Friction = None, holdout: Share | None = None,
    validation: Logs = (),
    method: Literal['differentiated', 'filtered', 'power'] = 'differentiated',
    cutoff_hz: Cutoff | None = None, joint_offsets: bool = False, stated: Arm | None = None,
    topic: str = 'joint_states', received: bool = False,
) -> IdentifiedModel:
    """
    Identify the dynamics of an arm, as ``dynid identify`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm.
    recordings : str, Path, Recording, or iterable of these
        Recordings to fit: bags, printed messages or tables.
    friction : str or sequence of str, optional
        ``auto`` (all, as strong as they predict in cross-validation on the fitted samples), or
        names joined by commas, such as ``viscous,coulomb,offset``; ``auto`` by default.
    holdout : float, optional
        Share at the end of each recording that is held out for validation, 0 to below 1; 0.33 by
        default, and nothing of a recording of less than 6 s.
    validation : str, Path, Recording, or iterable of these
        Recordings to validate with instead.
    method : str
        Fit torque with accelerations (``differentiated``), or torque (``filtered``) or power
        (``power``) after a first-order filter without them.
    cutoff_hz : float, optional
        Cut-off of the low-pass filters, Hz; by default the one in arm.yaml, else from the data.
    joint_offsets : bool
        Estimate the zero of each joint, too, and report which ones are identifiable.
    stated : str, Path or ArmModel, optional
        Another description of the arm, whose parameters are compared on the held-out set.
    topic, received
        As for `read_recording`.

    Returns
    -------
    IdentifiedModel
        Parameters with error bars, figures and verdict.

    Raises
    ------
    DynidError
        An argument is wrong, or a recording is unusable; the message names it.

    """
    from dynid_ros.estimation.identification import identify as batch

    arm = with_cutoff(as_arm(arm), cutoff_hz)
    if isinstance(stated, (str, Path)) and is_robot_file(as_path('stated', stated)):
        stated = stated_arm(Path(stated), arm.joint_names)
    check_once(recordings, validation)
    # One by one: raw samples of a long recording are released before its rows are made.
    fitted, others = (as_recordings(logs, arm, name, topic=topic, received=received)
                      for logs, name in ((recordings, 'recordings'), (validation, 'validation')))
    return IdentifiedModel.of(batch.identify(
        arm, fitted, friction=as_friction(friction),
        holdout=holdout, validation=others, method=as_text('method', method),
        joint_offsets=as_flag('joint_offsets', joint_offsets),
        stated=None if stated is None else as_arm(stated, 'stated')))


def load_model(folder: str | Path) -> IdentifiedModel:
    """
    Read a model from the folder that ``save`` or ``dynid identify -o`` wrote.

    Parameters
    ----------
    folder : str or Path
        The folder, or the ``result.yaml`` in it.

    Returns
    -------
    IdentifiedModel
        Equal to the written one, bit for bit.

    Raises
    ------
    ResultError
        The file is missing, damaged or of another version.

    """
    return IdentifiedModel.of(as_model(folder, 'folder'))


def validate(
    model: Model, recording: Log, *, topic: str = 'joint_states', received: bool = False,
) -> Validation:
    """
    Predict the torque of a recording that was not used for fitting, as ``dynid validate``.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model, or the folder of its result.
    recording : str, Path or Recording
        The recording.
    topic, received
        As for `read_recording`.

    Returns
    -------
    Validation
        Errors joint by joint, torque over time, and the verdict.

    """
    known = IdentifiedModel.of(as_model(model))
    return known.validate(recording, topic=topic, received=received)


@one_thread()
def gains(
    arm: Arm, recordings: Logs, *, loaded: Logs = (), mass: Positive | None = None,
    friction: Friction = None, topic: str = 'joint_states', received: bool = False,
) -> DriveGains:
    """
    Find the drive gains of an arm, as ``dynid gains`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm, with its stated gains.
    recordings : str, Path, Recording, or iterable of these
        Recordings without the load.
    loaded : str, Path, Recording, or iterable of these
        Recordings with a weighed load on the tool. If the arm mostly rests in them and in those
        without the load, its weight gives the gains.
    mass : float, optional
        Mass of that load with its mounting, kg; without it, only ratios of gains are found.
    friction : str or sequence of str, optional
        As for `identify`.
    topic, received
        As for `read_recording`.

    Returns
    -------
    DriveGains
        Gains with error bars, and which of those stated the data refute.

    """
    from dynid_ros.estimation.identification.gain_recordings import recorded_gains

    arm = as_arm(arm)
    check_once(recordings, loaded, 'is given twice; give the one with the load as loaded alone')
    free, held = (as_recordings(logs, arm, name, topic=topic, received=received)
                  for logs, name in ((recordings, 'recordings'), (loaded, 'loaded')))
    return recorded_gains(
        arm, free, loaded=held, mass=mass,
        friction=as_friction(friction))
