# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uses of a model, each in one call: loads, contacts, export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TYPE_CHECKING

import numpy as np

from dynid_ros.applications.rollout.posterior import SAMPLE_FILES, SampleFiles
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_arm_or_model,
    as_model,
    as_recording,
    as_recordings,
    check_once,
    Log,
    Logs,
    Model,
)
from dynid_ros.interface.python.identification import identify
from dynid_ros.utilities.inputs import (
    as_flag,
    as_numbers,
    as_path,
    as_text,
    Finite,
    POSITIVE,
    Positive,
    SEED,
    Seed,
)
from dynid_ros.utilities.one_thread import one_thread

if TYPE_CHECKING:
    from dynid_ros.applications.contact.over_recording import MonitoredRecording
    from dynid_ros.applications.payload.estimate import Payload
    from dynid_ros.applications.sensor.estimate import WristSensor
    from dynid_ros.arm.description.tree import Placement
    from dynid_ros.data.files.wrench_reader import WrenchRecording
    from dynid_ros.data.recordings.recording import Recording


@one_thread()
def payload(
    model: Arm | Model, recordings: Logs, *, unloaded: Logs = (), mass: Positive | None = None,
    center: Sequence[Finite] | None = None, link: str | None = None,
    flange: Sequence[Finite] | None = None, topic: str = 'joint_states', received: bool = False,
) -> Payload:
    """
    Estimate mass, centre of mass and inertia of a load, as ``dynid payload`` does.

    Parameters
    ----------
    model : str, Path, ArmModel or IdentifiedModel
        The arm without the load; of an arm that is not identified yet, the `unloaded` recordings
        before the first one with the load make the model.
    recordings : str, Path, Recording, or iterable of these
        Recordings with the load: motions, or rests at some positions.
    unloaded : str, Path, Recording, or iterable of these
        Recordings of the same session without the load, other than those of the model.
    mass : float, optional
        Mass of the load, if it was weighed, kg.
    center : (3,) sequence of float, optional
        Centre of mass of the load, if it is known, in the frame of the result, m.
    link : str, optional
        Joint that moves the link with the load, if that is not the tool; the frame of the result
        is the frame of the link then.
    flange : (6,) sequence of float, optional
        Placement ``x y z roll pitch yaw`` of the flange in the frame of the last joint (of
        `link`), m and rad (as in a URDF); by default the tool of arm.yaml.
    topic, received
        As for `read_recording`.

    Returns
    -------
    Payload
        Mass, centre of mass and inertia, as far as the recordings determine them.

    """
    from dynid_ros.applications.payload.estimate import estimate_payload
    from dynid_ros.applications.payload.load_estimate import KnownLoad
    from dynid_ros.applications.payload.session import before_the_load

    known = as_arm_or_model(model, 'model')
    check_once(recordings)
    check_once(unloaded, recordings, 'is given with the load and without it')
    if isinstance(known, IdentifiedModel):
        for given, state in ((recordings, 'with'), (unloaded, 'without')):
            check_once(known.sources, given, 'is a recording that the model was fitted to; give '
                       f'another one {state} the load')
    arm = known if isinstance(known, ArmModel) else known.arm
    loaded, free = (list(as_recordings(
        logs, arm, name, topic=topic, received=received, of_model=arm is not known))
        for logs, name in ((recordings, 'recordings'), (unloaded, 'unloaded')))
    if isinstance(known, ArmModel):
        if not free:
            raise InputError('unloaded must hold recordings of the arm without the load, or model '
                             'be an identified one')
        before, free = before_the_load(loaded, free)
        known = identify(known, before, holdout=0.0)
    return estimate_payload(
        known, loaded, None if flange is None else _placement('flange', flange),
        unloaded=free, link=None if link is None else as_text('link', link), known=KnownLoad(
            POSITIVE.take_given('mass', mass),
            None if center is None else as_numbers('center', center, 1, 3)))


def _placement(name: str, pose: Sequence[float]) -> Placement:
    """Take ``x y z roll pitch yaw``, m and rad, as a placement."""
    from dynid_ros.arm.description.tree import Placement as Placed
    from dynid_ros.arm.description.tree import rotation_rpy

    at = as_numbers(name, pose, 1, 6)
    return Placed(rotation_rpy(at[3:]), np.array(at[:3]))


@one_thread()
def wrist_sensor(
    arm: Arm, recording: str | Path | WrenchRecording, *, link: str = 'tool',
    frame: Sequence[Finite] | None = None, topic: str = 'joint_states',
    wrench_topic: str | None = None, received: bool = False,
) -> WristSensor:
    """
    Estimate the load behind a force-torque sensor, and its errors, as ``dynid sensor`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm.
    recording : str, Path or WrenchRecording
        Bag with joint states and the wrenches, in which the sensor turns.
    link : str
        Joint that moves the link with the sensor, or ``tool`` for the link of the tool.
    frame : (6,) sequence of float, optional
        Placement ``x y z roll pitch yaw`` of the frame of the sensor in the frame of that link, m
        and rad (as in a URDF); by default the tool of arm.yaml, or the frame of `link`.
    topic, received
        As for `read_recording`.
    wrench_topic : str, optional
        Topic of the sensor; by default that in ``recording.yaml``, or the only one.

    Returns
    -------
    WristSensor
        Mass, centre and inertia as far as they are determined, biases with their drift,
        orientation, and the verdict.

    """
    from dynid_ros.applications.sensor.estimate import estimate_sensor
    from dynid_ros.data.files.wrench_reader import read_wrenches
    from dynid_ros.data.files.wrench_reader import WrenchRecording as Read

    known = as_arm(arm)
    if not isinstance(recording, Read):
        recording = read_wrenches(
            as_path('recording', recording), known, topic=as_text('topic', topic),
            wrench_topic=None if wrench_topic is None else as_text('wrench_topic', wrench_topic),
            received=as_flag('received', received))
    return estimate_sensor(known, recording, as_text('link', link),
                           None if frame is None else _placement('frame', frame))


@one_thread()
def monitor(
    model: Model, recording: Log, *, alarms_per_hour: Positive = 1.0, topic: str = 'joint_states',
    received: bool = False,
) -> MonitoredRecording:
    """
    Find the contacts in a recording by a model, as ``dynid monitor`` does.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model.
    recording : str, Path or Recording
        The recording.
    alarms_per_hour : float
        False alarms of all joints together, 1/h.
    topic, received
        As for `read_recording`.

    Returns
    -------
    MonitoredRecording
        Contacts, and external torque over time with its threshold.

    """
    from dynid_ros.applications.contact.over_recording import MonitoredRecording

    known = as_model(model)
    rate = POSITIVE.take('alarms_per_hour', alarms_per_hour)
    return MonitoredRecording(known, as_recording(
        recording, known.arm, topic=topic, received=received, of_model=True), rate)


def export(
    model: Model, out: str | Path, *, robot: str | Path | None = None,
    form: Literal['urdf', 'mjcf', 'yaml', 'python', 'c'] | None = None,
    samples: SampleFiles | None = None, seed: Seed = 0,
) -> tuple[str, ...]:
    """
    Write a model for simulators, controllers and notebooks, as ``dynid export`` does.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model.
    out : str or Path
        File to write; its name decides the format: ``.urdf``, ``.xml`` (MJCF), ``.yaml``,
        ``.py`` or ``.h`` (C).
    robot : str or Path, optional
        Your URDF, of which inertias and friction are replaced and all else is kept; with the
        format ``yaml`` the physical_parameters.yaml of ur_description or the inertials.yaml of
        franka_description; without it, a URDF of joints and links alone, or a table.
    form : str, optional
        Format; by default by the suffix of the file, .urdf, .xml, .yaml, .py, .h.
    samples : int, optional
        Write a folder with as many models drawn from the posterior of data and prior, in the
        format ``mjcf`` (default), ``urdf``, or ``yaml`` for the table alone; a table and ranges
        of their parameters, and torque that the model leaves unexplained.
    seed : int
        Of the samples.

    Returns
    -------
    tuple of str
        What was changed, the torque error of the file, and the parts that it cannot hold, a
        sentence each.

    Raises
    ------
    InputError
        The name has no known suffix, or the robot has other joints than the arm.
    ResultError
        The file cannot be written.

    """
    from dynid_ros.applications.export.formats import export_model

    path, chosen = as_path('out', out), None if form is None else as_text('form', form)
    source = None if robot is None else as_path('robot', robot)
    if samples is not None:
        from dynid_ros.applications.rollout.sample_files import export_samples

        return export_samples(
            as_model(model), path, SAMPLE_FILES.take('samples', samples), chosen or 'mjcf', source,
            SEED.take('seed', seed))
    return export_model(as_model(model), path, source, chosen)


def convert(
    recording: str | Path, out: str | Path, *, arm: Arm | None = None,
    topic: str = 'joint_states', received: bool = False,
) -> Recording:
    """
    Write any recording as a rosbag2, as ``dynid convert`` does.

    Parameters
    ----------
    recording : str or Path
        A bag, or a table of any form.
    out : str or Path
        Folder of the bag.
    arm : str, Path or ArmModel, optional
        Arm whose joints and table settings apply, instead of the joints of the recording.
    topic, received
        As for `read_recording`.

    Returns
    -------
    Recording
        What was written, with its defects.

    Raises
    ------
    RecordingError, ResultError
        The recording cannot be read, or the bag cannot be written.

    """
    from dynid_ros.data.files import conversion

    return conversion.convert(
        as_path('recording', recording), as_path('out', out),
        None if arm is None else as_arm(arm), topic=as_text('topic', topic),
        received=as_flag('received', received))
