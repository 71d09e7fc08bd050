# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Run the monitor over a recording: contacts, and curves for a plot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dynid_ros.applications.contact.model_age import Aged
from dynid_ros.applications.contact.monitor import Monitor, MonitoredSamples
from dynid_ros.applications.contact.tool_wrench import tool_wrench
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import listed, RecordingError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.outside_range import elsewhere
from dynid_ros.utilities.arrays import runs_of
from dynid_ros.utilities.in_blocks import blocks
from dynid_ros.utilities.progress import progress
from dynid_ros.utilities.summarised import Summarised

#: Time for which samples of a recording are collected, s: nobody waits for the result.
RECORDED_PORTION_SECONDS = 0.2
#: Rate of the curves that are kept, Hz; the observer has no more information.
CURVE_HZ = 50.0


class Contact:
    """
    One contact.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    samples : MonitoredSamples
        Samples of the recording.
    part : slice
        Its samples of the contact.

    Attributes
    ----------
    start, stop : float
        Begin and end of it, s since the start of the recording.
    joints : tuple of str
        Joints that felt it, the clearest one first.
    torque, threshold : (n,) ndarray
        External torque where it was clearest, and its threshold, Nm.
    at : float
        When that was, s.
    wrench : ToolWrench
        On the tool, if it was there.

    """

    def __init__(self, model: IdentifiedModel, samples: MonitoredSamples, part: slice) -> None:
        arm, t = model.arm, samples.t[part]
        share = np.abs(samples.torque[part]) / samples.threshold[part]
        felt = np.asarray(samples.contact[part].any(axis=0))
        k = int(np.argmax(share.max(axis=1)))
        self.start, self.stop = float(t[0]), float(t[-1])
        self.joints = tuple(
            arm.joint_names[j] for j in np.argsort(-share.max(axis=0)) if felt[j])
        self.torque, self.threshold = samples.torque[part][k], samples.threshold[part][k]
        self.at = float(t[k])
        self.wrench = tool_wrench(arm, samples.q[part][k], self.torque, samples.std[part][k])


class MonitoredRecording(Summarised):
    """
    Run the monitor over a recording twice: first to learn its noise.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        As it was recorded; the rules of the stream handle its faults.
    alarms_per_hour : float
        False alarms of all joints together, 1/h.

    Attributes
    ----------
    t : (M,) ndarray
        Times of the curves, s since the start of the recording.
    torque, threshold : (M, n) ndarray
        External torque and its threshold, Nm.
    contact : (M, n) ndarray of bool
        Joints that felt a contact.
    contacts : list of Contact
        All contacts.
    seconds : float
        Time that was monitored, s.
    levels : AlarmLevels
        Levels of the residual.
    bandwidth_hz : float
        Of the observer, Hz.
    aged : Aged or None
        Whether the model no longer fitted, at any time.
    remarks : tuple of str
        Where it is extrapolated.

    Raises
    ------
    RecordingError
        The recording is too short to measure its noise.

    """

    def __init__(
        self, model: IdentifiedModel, recording: Recording, alarms_per_hour: float,
    ) -> None:
        steady = with_one_clock(recording)
        monitor = Monitor(model, alarms_per_hour=alarms_per_hour, portion=RECORDED_PORTION_SECONDS)
        for _ in _pushed(monitor, steady):
            pass
        monitor = Monitor(
            model, alarms_per_hour=alarms_per_hour, portion=RECORDED_PORTION_SECONDS,
            noise=monitor.noise)
        self.aged: Aged | None = None
        parts = []
        for new in _pushed(monitor, steady):
            parts.append(new)
            self.aged = monitor.age.finding or self.aged
        if not any(np.isfinite(part.threshold).any() for part in parts):
            raise RecordingError(
                f'{recording.source}: {steady.seconds:.3g} s are too short to separate '
                'contact from noise; the monitor needs five seconds of motion, or of rest')
        t, known, *curves = zip(*parts, strict=True)
        every = MonitoredSamples(np.concatenate(t), known[-1], *map(np.concatenate, curves))
        shown = slice(None, None, max(1, round(monitor.rate_hz / CURVE_HZ)))
        self.t, self.torque = every.t[shown], every.torque[shown]
        self.threshold, self.contact = every.threshold[shown], every.contact[shown]
        self.contacts = [
            Contact(model, every, slice(*run)) for run in runs_of(every.contact.any(axis=1))]
        self.seconds = len(every.t) / monitor.rate_hz
        # Its velocities are too noisy for a largest one.
        self.remarks = elsewhere(model, every.q.min(axis=0), every.q.max(axis=0))
        self.levels, self.bandwidth_hz = monitor.levels, monitor.bandwidth_hz

    def facts(self) -> list[tuple[str, str]]:
        """Return the contacts, for a console or a notebook."""
        found = [f'{each.start:.3f} to {each.stop:.3f} s ({each.joints[0]})'
                 for each in self.contacts]
        return [
            ('MonitoredRecording', f'of {self.seconds:.4g} s'),
            ('contacts', listed(found) or 'none'),
            ('model', 'fits' if self.aged is None else self.aged.sentence)]


def _pushed(monitor: Monitor, recording: Recording) -> Iterator[MonitoredSamples]:
    """Feed a recording to a monitor."""
    for part in blocks(len(recording.t)):
        progress('monitor', part.start / len(recording.t))
        yield from monitor.push(
            recording.t[part] - recording.t[0], recording.q[part], recording.u[part])
