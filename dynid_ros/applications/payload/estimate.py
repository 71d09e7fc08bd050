# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The load that an arm carries: mass, centre of mass and inertia from recordings with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynid_ros.applications.payload.body import load_body, LoadBody
from dynid_ros.applications.payload.change import Change, largest_change
from dynid_ros.applications.payload.findings import Evidence, judge_payload, outside_range
from dynid_ros.applications.payload.fit import finite_numbers, LoadFit, LoadRegression
from dynid_ros.applications.payload.rest_fit import fit_rests
from dynid_ros.arm.description.tree import Placement
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.rests import find_rests, Rests
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recordings,
    settings_for,
)
from dynid_ros.estimation.blocks.qr_factors import stack
from dynid_ros.estimation.estimate.weights import LOAD_PASSES
from dynid_ros.estimation.model.friction_curve import INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.model.verdict_words import refusal
from dynid_ros.utilities.arrays import joined
from dynid_ros.utilities.summarised import Summarised
from dynid_ros.utilities.text import plain, within

#: Rests from which on they may determine the load.
FEWEST_RESTS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Payload(Summarised):
    """
    The load of an arm.

    Attributes
    ----------
    model : IdentifiedModel
        The arm without it.
    frame : Placement
        Frame of its parameters, in the link that carries the tool.
    method : str
        ``motion`` or ``rests``: the rows that determine its mass better.
    body : LoadBody
        Its parameters.
    masses : dict of str to (float, float)
        Mass and its standard deviation by each method that the recordings allow, whether or not a
        body can have it, kg.
    present : bool
        Whether there is a load.
    evidence : Evidence
        Torque error without and with it, joint by joint.
    change : Change or None
        The largest change within the recordings.
    rests : Rests
        Positions at rest.
    findings : tuple of Finding
        Reasons against the estimate; empty for a good one.
    remarks : tuple of str
        What a user should know besides, a sentence each.
    samples : int
        Rows of the regression in which the arm moves.
    sources : tuple of str
        Recordings.

    """

    model: IdentifiedModel
    frame: Placement
    method: str
    body: LoadBody
    masses: dict[str, tuple[float, float]]
    present: bool
    evidence: Evidence
    change: Change | None
    rests: Rests
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    samples: int
    sources: tuple[str, ...]

    def facts(self) -> list[tuple[str, str]]:
        """Return the answer and what is known besides, for a console or a notebook."""
        return [('Payload', f'of {self.model.arm.name} from {", ".join(self.sources)}'),
                ('load', self.headline), *(('remark', each) for each in self.remarks)]

    @property
    def headline(self) -> str:
        """Answer in a line whether the arm carries a load, and which."""
        if not self.trustworthy:
            return refusal(self.findings[0])
        mass, std = self.mass
        stated = within(mass, INTERVAL * std, 'kg')
        if not self.present:
            return f'No load: {stated}.'
        if not self.ready:
            return f'A load of {stated}; this motion does not determine its centre, send nothing.'
        center = ', '.join(plain(1e3 * value) for value in self.body.center)
        return f'A load of {stated}, its centre at {center} mm; ready to send.'

    @property
    def mass(self) -> tuple[float, float]:
        """Return the mass that is stated, and its standard deviation, kg: a load is a body."""
        return (self.body.mass, self.body.mass_std) if self.present else self.masses[self.method]

    @property
    def carrier(self) -> str:
        """Return the joint that moves the link of the tool."""
        arm = self.model.arm
        return arm.tree.link_names[arm.tool_link]

    @property
    def trustworthy(self) -> bool:
        """Whether nothing speaks against the estimate."""
        return not self.findings

    @property
    def ready(self) -> bool:
        """Whether a controller may take the load: it is trusted, with its mass and centre."""
        return self.trustworthy and self.present and bool(self.body.from_data[:4].all())


def estimate_payload(
    model: IdentifiedModel, recordings: Sequence[Recording], frame: Placement | None = None,
) -> Payload:
    """
    Estimate the load that an arm carries.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    recordings : sequence of Recording
        Recordings with it: motions, or rests at some positions.
    frame : Placement, optional
        Frame of the result in the link that carries the tool; by default the tool.

    Returns
    -------
    Payload
        Mass, centre of mass and inertia, as far as the recordings determine them.

    Raises
    ------
    InputError
        The model lacks the information that is needed.
    RecordingError
        A recording is unusable, of another arm, or has no information on the mass.

    """
    with finite_numbers(model, [recording.source for recording in recordings]):
        return _estimate(model, recordings, frame)


def _estimate(
    model: IdentifiedModel, recordings: Sequence[Recording], frame: Placement | None,
) -> Payload:
    """Estimate the load where all numbers are finite and no sum of squares overflows."""
    regression = LoadRegression(model, frame)
    if not recordings:
        raise RecordingError('a payload needs at least one recording with it')
    loaded = [_prepared(regression, recording) for recording in recordings]
    rests = joined([find_rests(rows.motions, rows.settings.rate_hz) for rows in loaded])
    fits = {}
    moving = sum(int(motion.moving.any(axis=1).sum()) for rows in loaded
                 for motion in rows.motions)
    if moving:
        fits['motion'] = _fit_motion(regression, loaded)
    if len(rests.q) >= FEWEST_RESTS:
        fits['rests'] = fit_rests(regression, rests)
    stds = {method: float(fit.std[0]) for method, fit in fits.items()}
    method = min(stds, key=lambda name: stds[name], default='')
    if method not in fits or not fits[method].tells_mass:
        raise RecordingError(
            f'{", ".join(recording.source for recording in recordings)}: the mass of the load is '
            f'not determined by {moving} moving samples and {len(rests.q)} rests; record a motion '
            'in which gravity turns in the frame of the tool, or rests at four positions or more')
    fit, body = fits[method], load_body(fits[method])
    rows = stack([each.compressed(regression.arm, fit.theta) for each in loaded])
    evidence = (Evidence.of_rows(regression, rows, fit, body) if method == 'motion'
                else Evidence.of_rests(regression, rests, fit, body))
    change = None
    if 'motion' in fits:
        change = largest_change(regression.columns, fits['motion'], (
            (recording.source, each.blocks(regression.arm, fits['motion'].theta))
            for recording, each in zip(recordings, loaded, strict=True)))
    present, findings, remarks = judge_payload(regression, rows, fit, body, evidence, change)
    return Payload(
        model, frame or model.arm.tool.placement, method, body,
        {name: (float(each.load[0]), stds[name]) for name, each in fits.items()}, present,
        evidence, change, rests, findings,
        (*regression.remarks, *remarks,
         *outside_range(model, [m for rows in loaded for m in rows.motions])),
        moving // max(loaded[0].settings.decimation, 1),
        tuple(recording.source for recording in recordings))


def check_signal(model: IdentifiedModel, recording: Recording) -> None:
    """
    Make sure that a recording holds the drive signal of a model.

    Raises
    ------
    RecordingError
        It does not.

    """
    if recording.signal != model.arm.drive.signal:
        raise RecordingError(
            f'{recording.source} holds {recording.signal}, and the model of {model.arm.name} was '
            f'identified from {model.arm.drive.signal}; give a recording of the same drive signal')


def _prepared(regression: LoadRegression, recording: Recording) -> KeptRows:
    """Condition a recording as the recordings of the model were."""
    check_signal(regression.model, recording)
    arm = regression.arm
    recording, _ = checked_recording(recording, arm)
    settings = settings_for(regression.model.treatment, recording, identified=True)
    return KeptRows(arm, condition_recordings(arm, [recording], settings), settings, arm.friction)


def _fit_motion(regression: LoadRegression, loaded: Sequence[KeptRows]) -> LoadFit:
    """Fit the rows in which joints move."""
    arm, theta = regression.arm, regression.theta
    for _ in range(LOAD_PASSES if arm.needs_load else 1):
        # The load on the joints follows from inertial parameters, which friction does not change.
        fit = regression.fit(stack([rows.compressed(arm, theta) for rows in loaded]))
        theta = fit.theta
    return fit
