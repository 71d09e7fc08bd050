# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A session: recordings with and without a load in the order of time, and their repeatability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dynid_ros.applications.payload.fit import LoadRegression
from dynid_ros.applications.payload.load_estimate import LoadFit, Part
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recordings,
    settings_for,
)
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.estimate.weights import LOAD_PASSES
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import within

#: Standard deviations by which repeats may differ: by chance one pair in 370 does.
APART = 3.0


@dataclass(frozen=True)
class Repeat:
    """
    Estimate from a single recording of a session.

    Attributes
    ----------
    source : str
        The recording.
    loaded : bool
        Whether the arm carries the load in it.
    mass, mass_std : float
        Mass and its standard deviation, kg; zero is expected without the load.

    """

    source: str
    loaded: bool
    mass: float
    mass_std: float

    @property
    def stated(self) -> str:
        """Return the mass with its interval."""
        return within(self.mass, INTERVAL * self.mass_std, 'kg')


def in_order(
    loaded: Sequence[Recording], unloaded: Sequence[Recording],
) -> list[tuple[Recording, bool]]:
    """
    Put the recordings of a session in the order of time.

    Returns
    -------
    list of (Recording, bool)
        With the load or not. If the stamps of one do not show when it began, all keep the order
        given, those without the load first.

    """
    every = [*((each, False) for each in unloaded), *((each, True) for each in loaded)]
    if any(each.began is None for each, _ in every):
        return every
    return sorted(every, key=lambda entry: entry[0].began or 0.0)


def before_the_load(
    loaded: Sequence[Recording], unloaded: Sequence[Recording],
) -> tuple[list[Recording], list[Recording]]:
    """
    Divide the recordings without the load into those of a model, and those that come later.

    The model uses those before the first recording with the load, if there are any and the times
    are known; otherwise all.
    """
    order = in_order(loaded, unloaded)
    first = next((k for k, (_, carries) in enumerate(order) if carries), len(order))
    before = [each for each, _ in order[:first]]
    return (before, [each for each, carries in order[first:] if not carries]) if before else (
        list(unloaded), [])


def repeats_of(
    regression: LoadRegression, parts: Sequence[Part], sources: Sequence[str],
) -> tuple[Repeat, ...]:
    """Estimate the mass from each recording alone, as if the arm carried the load in all."""
    if len(parts) < 2:
        return ()
    fits = [regression.fit([Part(part.rows)]) for part in parts]
    return tuple(
        Repeat(source, part.loaded, float(fit.load[0]), float(fit.std[0]))
        for source, part, fit in zip(sources, parts, fits, strict=True))


def drift_findings(repeats: Sequence[Repeat]) -> Iterator[Finding]:
    """Name repeats that differ by more than their error bars."""
    for each in repeats:
        if not each.loaded and abs(each.mass) > APART * each.mass_std:
            yield Finding(
                'payload_drifted',
                f'{each.source}, without the load, looks like one of {each.stated}: the arm has '
                'changed since its model by more than the intervals allow, or it carried '
                'something',
                'let it warm up, and record all again')
    for one, other in combinations([each for each in repeats if each.loaded], 2):
        if abs(one.mass - other.mass) > APART * np.hypot(one.mass_std, other.mass_std):
            yield Finding(
                'payload_drifted',
                f'{one.source} gives {one.stated} and {other.source} {other.stated}: the load or '
                'the arm has changed between them by more than the intervals allow',
                'let it warm up, and record all again')


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


def prepared(regression: LoadRegression, recording: Recording) -> KeptRows:
    """Condition a recording as the recordings of the model were."""
    check_signal(regression.model, recording)
    arm = regression.arm
    recording, _ = checked_recording(recording, arm)
    settings = settings_for(regression.model.treatment, recording, identified=True)
    return KeptRows(arm, condition_recordings(arm, [recording], settings), settings, arm.friction)


def compressed_parts(
    regression: LoadRegression, session: Sequence[tuple[KeptRows, str, bool]],
    thetas: Array | None = None,
) -> list[Part]:
    """Compress the rows, with the torque that loads each joint by parameters (K, b)."""
    every = [regression.theta] * len(session) if thetas is None else thetas
    return [Part(rows.compressed(regression.arm, theta), carries)
            for (rows, _, carries), theta in zip(session, every, strict=True)]


def fit_motion(
    regression: LoadRegression, session: Sequence[tuple[KeptRows, str, bool]], parts: list[Part],
) -> tuple[LoadFit, list[Part]]:
    """Fit the rows in which joints move; return these rows, too."""
    fit = regression.fit(parts)
    for _ in range(LOAD_PASSES - 1 if regression.arm.needs_load else 0):
        # The load on the joints follows from inertial parameters, which friction does not change.
        parts = compressed_parts(regression, session, fit.thetas)
        fit = regression.fit(parts)
    if regression.arm.needs_load:
        parts = compressed_parts(regression, session, fit.thetas)
    return fit, parts
