# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Mass, biases and orientation of a force-torque sensor from a recording, with a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.applications.payload.body import load_body, LoadBody
from dynid_ros.applications.payload.findings import ERROR_BAR
from dynid_ros.applications.payload.load_estimate import LoadEstimate
from dynid_ros.applications.sensor.findings import judge_sensor
from dynid_ros.applications.sensor.wrench_fit import (
    BIAS,
    DRIFT,
    fit_wrenches,
    LOAD_VALUES,
    TURN_VALUES,
    WrenchFit,
)
from dynid_ros.applications.sensor.wrist_stream import (
    LONG_HALF_WINDOW_SECONDS,
    WristSamples,
    WristStream,
)
from dynid_ros.arm.bodies import find_body, TOOL
from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.wrench_reader import WrenchRecording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.model.verdict_words import refusal
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.summarised import Summarised
from dynid_ros.utilities.text import plain, within

#: Least length of a recording, s: each of the ten parts of the jackknife lasts a second.
SHORTEST = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class WristSensor(Summarised):
    """
    A force-torque sensor, and the load behind it.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    joint : int
        Joint that moves the link with the sensor.
    place : Placement
        Stated frame of the sensor in the frame of that link.
    frame : str
        Name of the frame in the messages.
    source : str
        The recording.
    seconds : float
        Its length, s.
    samples : int
        Rows of the fit.
    fit : WrenchFit
        Biases, orientation and load, with their covariance.
    body : LoadBody
        The load, in the stated frame.
    held_out : float
        Mean square of the residual of the held-out last part, relative to its expectation.
    findings : tuple of Finding
        Reasons against the estimate; empty for a good one.
    remarks : tuple of str
        Further remarks for the user, a sentence each.

    """

    arm: ArmModel
    joint: int
    place: Placement
    frame: str
    source: str
    seconds: float
    samples: int
    fit: WrenchFit
    body: LoadBody
    held_out: float
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def trustworthy(self) -> bool:
        """Whether nothing speaks against the estimate."""
        return not self.findings

    @property
    def std(self) -> Array:
        """Return the standard deviations of the values of the fit, (25,)."""
        return np.asarray(np.sqrt(np.diag(self.fit.covariance)))

    @property
    def mass(self) -> tuple[float, float]:
        """Return the mass and its standard deviation, kg."""
        return self.body.mass, self.body.mass_std

    @property
    def felt(self) -> bool:
        """Whether the sensor measures what the load exerts on it, rather than what moves it."""
        return bool(self.fit.values[LOAD_VALUES][0] < 0)

    @property
    def bias(self) -> tuple[Array, Array]:
        """Return the biases (6,) in the middle of the recording, and their deviations, Nm, N."""
        return self.fit.values[BIAS], self.std[BIAS]

    @property
    def drift(self) -> tuple[Array, Array]:
        """Return the drift of the biases (6,), and its deviation, Nm and N a minute."""
        scale = 120 / self.seconds
        return scale * self.fit.values[DRIFT], scale * self.std[DRIFT]

    @property
    def turn(self) -> tuple[Array, Array]:
        """Return the rotation vector of the sensor in its stated frame, its deviation, degrees."""
        return np.degrees(self.fit.values[TURN_VALUES]), np.degrees(self.std[TURN_VALUES])

    @property
    def headline(self) -> str:
        """State the load behind the sensor in a line."""
        if not self.trustworthy:
            return refusal(self.findings[0])
        mass, std = self.mass
        stated = within(mass, INTERVAL * std, 'kg')
        if mass <= ERROR_BAR * std:
            return f'No load behind the sensor: {stated}.'
        center = ', '.join(plain(1e3 * value) for value in self.body.center)
        angle = plain(float(np.linalg.norm(self.turn[0])), 2)
        return (f'{stated} behind the sensor, the centre at {center} mm; the sensor is turned by '
                f'{angle}° from its frame.')

    def facts(self) -> list[tuple[str, str]]:
        """Return the answer and further facts, for a console or a notebook."""
        return [('Wrist sensor', f'of {self.arm.name} from {self.source}'),
                ('answer', self.headline), *(('remark', each) for each in self.remarks)]


def estimate_sensor(
    arm: ArmModel, recording: WrenchRecording, link: str = TOOL, frame: Placement | None = None,
) -> WristSensor:
    """
    Estimate the load behind a sensor, and the errors of the sensor.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recording : WrenchRecording
        Joint states and wrenches.
    link : str
        Body that carries the sensor: ``tool``, or the joint that moves the link.
    frame : Placement, optional
        Frame of the sensor in the frame of that link; by default the frame of the body.

    Returns
    -------
    WristSensor
        Mass, centre and inertia, as far as the recording determines them, biases with their
        drift, orientation, and a verdict.

    Raises
    ------
    InputError
        There is no such body.
    RecordingError
        The recording is too short.

    """
    joint, place = find_body(arm, link)
    place = place if frame is None else frame
    rows = _rows(arm, joint, place, recording)
    u = course(rows.t, recording)
    fit = fit_wrenches(rows.columns, rows.wrench, u)
    body = load_body(_load(fit))
    held_out, findings, remarks = judge_sensor(rows.columns, rows.wrench, u, fit, body)
    return WristSensor(
        arm, joint, place, recording.frame, recording.source, _seconds(recording), len(rows.t),
        fit, body, held_out, findings, remarks)


def course(t: Array, recording: WrenchRecording) -> Array:
    """Map times of a recording to -1 to 1."""
    return np.asarray(2 * (t - recording.t[0]) / _seconds(recording) - 1)


def _seconds(recording: WrenchRecording) -> float:
    return float(recording.t[-1] - recording.t[0])


def _rows(
    arm: ArmModel, joint: int, place: Placement, recording: WrenchRecording,
) -> WristSamples:
    """Filter a recording, and keep a sample of each half of the window."""
    seconds = _seconds(recording)
    if not seconds >= SHORTEST:
        raise RecordingError(
            f'{recording.source}: {plain(seconds)} s with wrenches are too short to separate '
            f'biases from a load; record {SHORTEST:g} s or more in which the sensor turns')
    rows = WristStream(arm, joint, place).push(recording.t, recording.q, recording.wrench)
    step = max(1, round(LONG_HALF_WINDOW_SECONDS * len(recording.t) / seconds))
    kept = WristSamples(*(each[::step] for each in rows))
    if len(kept.t) * LONG_HALF_WINDOW_SECONDS < SHORTEST / 2:
        raise RecordingError(
            f'{recording.source}: gaps leave {plain(len(kept.t) * LONG_HALF_WINDOW_SECONDS)} s of '
            f'{plain(seconds)} s; record without losses')
    return kept


def _load(fit: WrenchFit) -> LoadEstimate:
    """Return the load of a fit, with a mass above zero."""
    load = fit.values[LOAD_VALUES] * (-1.0 if fit.values[LOAD_VALUES][0] < 0 else 1.0)
    information = fit.factor.T @ fit.factor
    return LoadEstimate(
        load, fit.factor, information @ fit.covariance[LOAD_VALUES, LOAD_VALUES] @ information)
