# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Figures of Matplotlib; a notebook shows them, and ``savefig`` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.interface.python.boundary import Arm, as_arm, as_model, as_recording, Log, Model
from dynid_ros.pages.report import figures
from dynid_ros.pages.report.plots import evolution_figure, motion_figure
from dynid_ros.utilities.inputs import wrong_type

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dynid_ros.applications.contact.over_recording import MonitoredRecording
    from dynid_ros.applications.rollout.rollout import Rollouts
    from dynid_ros.interface.python.live import Replay
    from dynid_ros.interface.python.validation import Validation
    from dynid_ros.motion.excitation.search import Design


def plot_recording(recording: Log, arm: Arm | None = None) -> Figure:
    """
    Draw positions and drive signals as recorded; a motion for validation has a grey background.

    Parameters
    ----------
    recording : str, Path or Recording
        The recording.
    arm : str, Path or ArmModel, optional
        Its arm, which a path needs.

    """
    if arm is not None:
        recording = as_recording(recording, as_arm(arm))
    if not isinstance(recording, Recording):
        raise InputError('arm must be given with the path of a recording')
    return figures.recording_figure(recording)


def plot_torque(result: Model | Validation) -> Figure:
    """
    Draw measured and predicted torque over time, and their difference.

    Parameters
    ----------
    result : str, Path, IdentifiedModel or Validation
        A model, whose samples are all drawn, or its validation.

    """
    from dynid_ros.interface.python.validation import Validation

    if isinstance(result, Validation):
        return result.plot()
    model = as_model(result, 'result')
    return figures.torque_figure(model.arm, model.predictions)


def plot_friction(model: Model) -> Figure:
    """
    Draw the friction of each joint over its speed, with its 95 % band.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model.

    """
    return figures.friction_figure(as_model(model))


def plot_motion(design: Design) -> Figure:
    """
    Draw position, velocity, acceleration and torque of a designed motion with their limits.

    Parameters
    ----------
    design : Design
        From `design_excitation`.

    """
    from dynid_ros.motion.excitation.search import Design as Designed

    if not isinstance(design, Designed):
        raise wrong_type('design', 'the result of design_excitation', design)
    return motion_figure(design.motion, design.arm)


def plot_contacts(model: Model, found: MonitoredRecording) -> Figure:
    """
    Draw external torque, its band without contact, and the contacts.

    Parameters
    ----------
    model : str, Path or IdentifiedModel
        The model.
    found : MonitoredRecording
        From `monitor`.

    """
    from dynid_ros.applications.contact.over_recording import MonitoredRecording as Monitored

    known = as_model(model)
    if not isinstance(found, Monitored):
        raise wrong_type('found', 'the result of monitor', found)
    return figures.contact_figure(known.arm, found)


def plot_rollouts(found: Rollouts) -> Figure:
    """
    Draw the distance of simulated arms from the recorded one, over the time since a restart.

    Parameters
    ----------
    found : Rollouts
        From `IdentifiedModel.rollout`.

    """
    from dynid_ros.applications.rollout.rollout import Rollouts as Found

    if not isinstance(found, Found):
        raise wrong_type('found', 'the result of IdentifiedModel.rollout', found)
    return figures.rollout_figure(found)


def plot_estimates(replayed: Replay) -> Figure:
    """
    Draw the history of every estimate with its 95 % band.

    Parameters
    ----------
    replayed : Replay
        From `replay`.

    """
    from dynid_ros.interface.python.live import Replay as Replayed

    if not isinstance(replayed, Replayed):
        raise wrong_type('replayed', 'the result of replay', replayed)
    return evolution_figure(replayed.history, replayed.model.units)
