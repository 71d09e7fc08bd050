# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The load that an arm carries: mass, centre of mass and inertia from recordings with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dynid_ros.applications.payload.body import load_body, LoadBody
from dynid_ros.applications.payload.change import Change, largest_change
from dynid_ros.applications.payload.findings import (
    contradiction,
    Evidence,
    judge_payload,
)
from dynid_ros.applications.payload.fit import finite_numbers, LoadRegression
from dynid_ros.applications.payload.load_estimate import KnownLoad
from dynid_ros.applications.payload.rest_fit import fit_rests
from dynid_ros.applications.payload.session import (
    compressed_parts,
    drift_findings,
    fit_motion,
    in_order,
    prepared,
    Repeat,
    repeats_of,
)
from dynid_ros.arm.bodies import with_tool_on
from dynid_ros.arm.description.tree import Placement
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.rests import find_rests, Rests
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.outside_range import outside_range
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.model.verdict_words import refusal
from dynid_ros.utilities.arrays import joined
from dynid_ros.utilities.summarised import Summarised
from dynid_ros.utilities.text import plain, within

#: Fewest rests that may determine the load.
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
        Mass and its standard deviation by each method that the recordings allow, possible or not,
        kg.
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
        Further remarks for the user, a sentence each.
    samples : int
        Rows of the regression in which the arm moves.
    sources : tuple of str
        Recordings with the load.
    known : KnownLoad
        What was known of it.
    free : LoadBody or None
        The body without that knowledge; None if nothing was known.
    repeats : tuple of Repeat
        Estimates from each single recording of a session, in the order of time.
    link : str or None
        Joint that moves the link with the load, where that was given; makers' payloads are at the
        tool.

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
    known: KnownLoad = field(default_factory=KnownLoad)
    free: LoadBody | None = None
    repeats: tuple[Repeat, ...] = ()
    link: str | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Return the answer and further facts, for a console or a notebook."""
        return [('Payload', f'of {self.model.arm.name} from {", ".join(self.sources)}'),
                ('load', self.headline), *(('remark', each) for each in self.remarks)]

    @property
    def headline(self) -> str:
        """Answer in a line whether the arm carries a load, and which."""
        if not self.trustworthy:
            return refusal(self.findings[0])
        mass, std = self.mass
        stated = f'{within(mass, INTERVAL * std, "kg")}' if std else f'{plain(mass)} kg, as stated'
        if self.link is not None:
            stated += f' on the link of {self.link}'
        if not self.present:
            return f'No load: {stated}.'
        if not self.body.from_data[:4].all():
            return f'A load of {stated}; this motion does not determine its centre, send nothing.'
        center = ', '.join(plain(1e3 * value) for value in self.body.center)
        sent = '; ready to send' if self.ready else ''
        return f'A load of {stated}, its centre at {center} mm{sent}.'

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
    def gain(self) -> tuple[str, str, float, float] | None:
        """
        Return the benefit of a known mass or centre, or None if nothing was known.

        Returns
        -------
        str, str
            Quantity that it improves: the centre, the mass or the inertia; and its unit.
        float, float
            Half of its 95 % interval without the knowledge and with it; of several coordinates,
            the root of the mean square.

        """
        if self.free is None:
            return None
        what, unit, place = (
            ('mass', 'kg', slice(1)) if self.known.mass is None else
            ('centre', 'm', slice(1, 4)) if self.known.center is None else
            ('inertia', 'kg m²', slice(4, None)))
        before, after = (
            INTERVAL * float((body.fields_std[place]**2).mean())**0.5
            for body in (self.free, self.body))
        return what, unit, before, after

    @property
    def trustworthy(self) -> bool:
        """Whether nothing speaks against the estimate."""
        return not self.findings

    @property
    def ready(self) -> bool:
        """Whether to send the load to a controller: it is trusted, on the tool, and complete."""
        return (self.trustworthy and self.present and self.link is None
                and bool(self.body.from_data[:4].all()))


def estimate_payload(
    model: IdentifiedModel, recordings: Sequence[Recording], frame: Placement | None = None, *,
    unloaded: Sequence[Recording] = (), known: KnownLoad | None = None, link: str | None = None,
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
        Frame of the result in the link that carries the load; by default the tool, or the frame
        of `link`.
    unloaded : sequence of Recording
        Recordings of the same session without the load, which the model was not fitted to.
    known : KnownLoad, optional
        What is known of the load.
    link : str, optional
        Joint that moves the link that carries the load; by default the link of the tool.

    Returns
    -------
    Payload
        Mass, centre of mass and inertia, as far as the recordings determine them.

    Raises
    ------
    InputError
        The model lacks the information that is needed, or there is no such link.
    RecordingError
        A recording is unusable, of another arm, or has no information on the mass.

    """
    if link is not None:
        model = replace(model, arm=with_tool_on(model.arm, link))
    with finite_numbers(model, [recording.source for recording in recordings]):
        found = _estimate(model, recordings, unloaded, frame, known or KnownLoad())
    return replace(found, link=link)


def _estimate(
    model: IdentifiedModel, recordings: Sequence[Recording], unloaded: Sequence[Recording],
    frame: Placement | None, known: KnownLoad,
) -> Payload:
    """Estimate the load where all numbers are finite and no sum of squares overflows."""
    regression = LoadRegression(model, frame, known)
    if not recordings:
        raise RecordingError('a payload needs at least one recording with it')
    session = [(prepared(regression, recording), recording.source, carries)
               for recording, carries in in_order(recordings, unloaded)]
    loaded = [rows for rows, _, carries in session if carries]
    sources = tuple(source for _, source, carries in session if carries)
    rests = joined([find_rests(rows.motions, rows.settings.rate_hz) for rows in loaded])
    fits, parts = {}, compressed_parts(regression, session)
    moving = sum(int(motion.moving.any(axis=1).sum()) for rows in loaded
                 for motion in rows.motions)
    if moving:
        fits['motion'], parts = fit_motion(regression, session, parts)
    if len(rests.q) >= FEWEST_RESTS:
        fits['rests'] = fit_rests(regression, rests)
    # By the mass; if that is known, by the centre.
    method = min(fits, key=lambda name: tuple(fits[name].std), default='')
    if not regression.shows_mass:
        link = regression.arm.tree.link_names[regression.arm.tool_link]
        raise RecordingError(
            f'{", ".join(sources)}: no motion of {regression.arm.name} separates the mass of the '
            f'load on the link of {link} from the place of its centre, so that the mass of the '
            'load is not determined; weigh it, and give --mass (mass in Python)')
    if method not in fits or not fits[method].tells_mass:
        raise RecordingError(
            f'{", ".join(sources)}: the mass of the load is '
            f'not determined by {moving} moving samples and {len(rests.q)} rests; record a motion '
            'in which gravity turns in the frame of the tool, or rests at four positions or more')
    fit, body = fits[method], load_body(fits[method])
    evidence = (Evidence.of_rows(regression, parts, fit, body) if method == 'motion'
                else Evidence.of_rests(regression, rests, fit, body))
    change = None
    if 'motion' in fits:
        change = largest_change(regression.columns, fits['motion'], (
            (source, theta, rows.blocks(regression.arm, theta))
            for (rows, source, carries), theta in zip(session, fits['motion'].thetas, strict=True)
            if carries))
    present, findings, remarks = judge_payload(regression, parts, fit, body, evidence, change)
    free: LoadBody | None = None
    repeats: tuple[Repeat, ...] = ()
    open_regression = regression if known.free else LoadRegression(model, frame)
    if 'motion' in fits:
        repeats = repeats_of(open_regression, parts, [source for _, source, _ in session])
        findings = (*findings, *drift_findings(repeats))
    if not known.free:
        free = load_body(open_regression.fit(parts) if method == 'motion'
                         else fit_rests(open_regression, rests))
        findings = (*contradiction(known, free), *findings)
    return Payload(
        model, frame or model.arm.tool.placement, method, body,
        {name: (float(each.load[0]), float(each.std[0])) for name, each in fits.items()}, present,
        evidence, change, rests, findings,
        (*regression.remarks, *remarks,
         *outside_range(model, [m for rows in loaded for m in rows.motions])),
        moving // max(loaded[0].settings.decimation, 1), sources, known, free, repeats)
