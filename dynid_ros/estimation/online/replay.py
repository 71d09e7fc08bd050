# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Run the online estimator on a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    data_hash,
)
from dynid_ros.estimation.estimate.possible_parameters import source_of
from dynid_ros.estimation.identification.train_test_split import at_marks
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.online_result import online_result
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.progress import progress

#: Points of the history.
HISTORY_POINTS = 200
#: Values, their standard deviations, and masks of the determined values and of those that the data
#: determine rather than the prior, (p,) each.
Snapshot = tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class History:
    """
    Estimates in the course of a recording.

    Attributes
    ----------
    names : tuple of str
        Base parameters, or the values of a load.
    t : (K,) ndarray
        Time since the start of the recording, s.
    theta, std : (K, b) ndarray
        Estimates and their standard deviations. For an arm they are unconstrained; only the
        result has possible parameters.
    determined : (K, b) ndarray of bool
        Whether the rows so far determine each; see `LiveEstimate`.
    source : (K, b) ndarray of str
        ``data`` or ``prior``, as in a result.

    """

    names: tuple[str, ...]
    t: Array
    theta: Array
    std: Array
    determined: NDArray[np.bool_]
    source: NDArray[np.str_]


def replay(
    arm: ArmModel, recording: Recording, *, cutoff_hz: float | None = None,
    delay: float | None = None, memory: float = np.inf, start: IdentifiedModel | None = None,
) -> tuple[IdentifiedModel, History]:
    """
    Feed a recording to the online estimator as it was recorded.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recording : Recording
        Recording; the rules of the stream handle its faults, except for faults of the clock
        (`with_one_clock`), which only later stamps reveal.
    cutoff_hz, delay : float, optional
        As for `OnlineIdentifier`.
    memory : float
        Memory of the estimator, s; infinite for no forgetting.
    start : IdentifiedModel, optional
        Result of this arm, as for `OnlineIdentifier`.

    Returns
    -------
    result : IdentifiedModel
        The last estimate, as from `online_result`.
    history : History
        The history of the estimates.

    Raises
    ------
    RecordingError
        A defect makes the recording unusable, or it is too short.

    """
    begin = perf_counter()
    clean, defects = checked_recording(recording, arm)
    session = OnlineIdentifier(
        arm, recording.source, cutoff_hz=cutoff_hz, delay=delay, memory=memory, start=start)
    condition = perf_counter()
    steady = with_one_clock(recording)
    if at_marks(clean)[1]:
        session.validation = np.array(recording.validation)
    names = base_parameters(session.arm).names
    history = feed(session, steady, names, lambda: _snapshot(session.estimate()))
    if not len(session.history.rows):
        raise RecordingError(
            f'{recording.source}: {steady.seconds:.3g} s are too short for a cut-off of '
            f'{session.pipeline.cutoff_hz:.3g} Hz; record longer, or raise the cut-off')
    result = online_result(session, Path(recording.source).name, defects)
    timing = {'condition': condition - begin, 'estimate': perf_counter() - condition}
    return replace(
        result, samples=len(recording.t), seconds=steady.seconds,
        data_hash=data_hash([recording]), timing=timing), history


def feed(
    session: OnlineIdentifier, recording: Recording, names: tuple[str, ...],
    snapshot: Callable[[], Snapshot | None],
) -> History:
    """
    Feed a recording to a session in portions, and take a snapshot after each.

    Parameters
    ----------
    session : OnlineIdentifier
        The session.
    recording : Recording
        The recording.
    names : tuple of str
        Names of the p values.
    snapshot : callable
        Returns the values; None while there are none.

    """
    times: list[float] = []
    course: list[Snapshot] = []
    portion = max(1, -(-len(recording.t) // HISTORY_POINTS))
    for first in range(0, len(recording.t), portion):
        progress('replay', first / len(recording.t))
        part = slice(first, first + portion)
        new = session.take(recording.t[part], recording.q[part], recording.u[part])
        if first + portion >= len(recording.t):
            new += session.flush()
        found = snapshot() if new else None
        if found is not None:
            times.append(float(recording.t[part][-1] - recording.t[0]))
            course.append(found)
    theta, std, determined, from_data = (
        np.array([each[k] for each in course]).reshape(-1, len(names)) for k in range(4))
    return History(names, np.array(times), theta, std, determined.astype(np.bool_),
                   np.where(from_data, source_of(True), source_of(False)))


def _snapshot(estimate: LiveEstimate) -> Snapshot:
    return estimate.theta, estimate.std, estimate.determined, estimate.from_data
