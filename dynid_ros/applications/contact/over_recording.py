"""The monitor over a whole recording: its contacts, and curves for a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.contact.alarm_levels import AlarmLevels
from dynid_ros.applications.contact.model_age import Aged
from dynid_ros.applications.contact.monitor import Monitor, MonitoredSamples
from dynid_ros.applications.contact.tool_wrench import tool_wrench, ToolWrench
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.in_blocks import blocks
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.progress import progress

#: Time for which samples of a recording are collected, s: none waits for the answer.
PORTION = 0.2
#: Rate of the curves that are kept, Hz; the observer has no more to tell.
CURVE_HZ = 50.0


@dataclass(frozen=True, eq=False)
class Contact:
    """
    One contact.

    Attributes
    ----------
    start, stop : float
        From when to when a joint felt it, s since the start of the recording.
    joints : tuple of str
        Joints that felt it, the clearest one first.
    torque, threshold : (n,) ndarray
        External torque where it was clearest, and its threshold, Nm.
    at : float
        When that was, s.
    wrench : ToolWrench
        On the tool, if it was there.

    """

    start: float
    stop: float
    joints: tuple[str, ...]
    torque: Array
    threshold: Array
    at: float
    wrench: ToolWrench


@dataclass(frozen=True, eq=False)
class MonitoredRecording:
    """
    Findings of the monitor in a recording.

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
        Whether the model fitted no more, at any time.

    """

    t: Array
    torque: Array
    threshold: Array
    contact: NDArray[np.bool_]
    contacts: list[Contact]
    seconds: float
    levels: AlarmLevels
    bandwidth_hz: float
    aged: Aged | None


@dataclass
class _Course:
    """Curves and contacts so far."""

    model: IdentifiedModel
    parts: list[MonitoredSamples] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    going: list[MonitoredSamples] = field(default_factory=list)
    samples: int = 0

    def add(self, new: MonitoredSamples, step: int) -> None:
        """Take in samples; one in so many is kept."""
        every = slice(-self.samples % step, None, step)
        self.samples += len(new.t)
        self.parts.append(new.at(every))
        touched = np.asarray(new.contact.any(axis=1))
        edges = np.flatnonzero(np.diff(touched)) + 1
        for part in np.split(np.arange(len(touched)), edges):
            if touched[part[0]]:
                self.going.append(new.at(part))
            else:
                self.close()

    def close(self) -> None:
        """End the contact that goes on, if one does."""
        if self.going:
            self.contacts.append(_contact(self.model, self.going))
        self.going = []


def monitor_recording(
    model: IdentifiedModel, recording: Recording, alarms_per_hour: float,
) -> MonitoredRecording:
    """
    Run the monitor over a recording, once to learn its noise and once to find its contacts.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        As it was recorded; its faults go through the rules of the stream.
    alarms_per_hour : float
        False alarms of the whole arm, 1/h.

    Raises
    ------
    RecordingError
        The recording is too short to learn its noise.

    """
    steady = with_one_clock(recording)
    learned = Monitor(model, alarms_per_hour=alarms_per_hour, portion=PORTION)
    for _ in _pushed(learned, steady):
        pass
    monitor = Monitor(
        model, alarms_per_hour=alarms_per_hour, portion=PORTION, noise=learned.noise)
    course, aged = _Course(model), None
    for new in _pushed(monitor, steady):
        course.add(new, max(1, round(monitor.rate_hz / CURVE_HZ)))
        aged = monitor.age.finding or aged
    course.close()
    curves = _joined(course.parts, model.arm.n)
    if not np.isfinite(curves.threshold).any():
        raise RecordingError(
            f'{recording.source}: {steady.seconds:.3g} s are too short to tell contact from '
            'noise; the monitor needs five seconds of motion, or of rest')
    return MonitoredRecording(
        curves.t, curves.torque, curves.threshold, curves.contact, course.contacts,
        course.samples / monitor.rate_hz, monitor.levels, monitor.bandwidth_hz, aged)


def _pushed(monitor: Monitor, recording: Recording) -> Iterator[MonitoredSamples]:
    """Feed a recording to a monitor."""
    for part in blocks(len(recording.t)):
        progress('monitor', part.start / len(recording.t))
        yield from monitor.push(
            recording.t[part] - recording.t[0], recording.q[part], recording.u[part])


def _joined(parts: list[MonitoredSamples], n: int) -> MonitoredSamples:
    still = np.empty((0, n))
    none = MonitoredSamples(np.empty(0), 0.0, *(still,) * 5, still.astype(np.bool_))
    t, known, *rest = zip(none, *parts, strict=True)
    return MonitoredSamples(np.concatenate(t), known[-1], *map(np.concatenate, rest))


def _contact(model: IdentifiedModel, parts: list[MonitoredSamples]) -> Contact:
    whole = _joined(parts, model.arm.n)
    t, torque, threshold = whole.t, whole.torque, whole.threshold
    share = np.abs(torque) / threshold
    felt = np.asarray(whole.contact.any(axis=0))
    order = np.argsort(-share.max(axis=0))
    k = int(np.argmax(share.max(axis=1)))
    names = model.arm.joint_names
    return Contact(
        float(t[0]), float(t[-1]), tuple(names[j] for j in order if felt[j]), torque[k],
        threshold[k], float(t[k]), tool_wrench(model.arm, whole.q[k], torque[k], whole.std[k]))
