"""The online estimator over a recording, as fast as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.batch import Solution
from dynid_ros.estimation.estimate import Estimate
from dynid_ros.estimation.figures import figures
from dynid_ros.estimation.online import OnlineIdentifier
from dynid_ros.estimation.preparation import checked, data_hash, decide_treatment
from dynid_ros.estimation.result import Figures, Identification, JointFigures, Prediction
from dynid_ros.estimation.rows import Block
from dynid_ros.estimation.stream import treatment_of
from dynid_ros.estimation.verdict import judge
from dynid_ros.signals.log import Defect, JointLog

Array = NDArray[np.float64]

#: Points of the history.
POINTS = 200
#: Share of the rows, at the end, on which the a-priori predictions are judged.
LAST = 1 / 3


@dataclass(frozen=True, eq=False)
class History:
    """
    Estimates over the time of a recording.

    Attributes
    ----------
    names : tuple of str
        Base parameters.
    t : (K,) ndarray
        Time since the start of the recording, s.
    theta, std : (K, b) ndarray
        Estimates and their standard deviations; infinite where nothing is known yet.
    determined : (K, b) ndarray of bool
        As in `Estimate`.

    """

    names: tuple[str, ...]
    t: Array
    theta: Array
    std: Array
    determined: NDArray[np.bool_]


def replay(
    arm: ArmModel, log: JointLog, *, cutoff_hz: float | None = None, memory: float = np.inf,
    progress: Callable[[float], None] | None = None,
) -> tuple[Identification, History]:
    """
    Feed a recording to the online estimator, sample by sample as it was recorded.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    log : JointLog
        Recording; its faults go through the rules of the stream.
    cutoff_hz : float, optional
        Cut-off of all filters; decided as for the batch if not given, as is the delay.
    memory : float
        Memory of the estimator, s; infinite for no forgetting.
    progress : callable, optional
        Told the share that is done, 0 to 1.

    Returns
    -------
    result : Identification
        The last estimate. Its held-out figures are those of the last third of the rows, each
        predicted before it was used.
    history : History
        All estimates on the way.

    Raises
    ------
    RecordingError
        Nothing that is fitted to this recording could be trusted, or it is too short.

    """
    start = perf_counter()
    clean, defects = checked(log, arm)
    treatment = decide_treatment(arm, [clean])
    online = OnlineIdentifier(
        arm, cutoff_hz=cutoff_hz or treatment.cutoff_hz, delay=treatment.delay, memory=memory)
    condition = perf_counter()
    rows, history = _feed(online, log, progress)
    if not rows:
        raise RecordingError(
            f'{log.source}: {log.seconds:.3g} s are too short for a cut-off of '
            f'{cutoff_hz or treatment.cutoff_hz:.3g} Hz; record longer, or raise the cut-off')
    result = _result(online, log, rows, defects)
    timing = {'condition': condition - start, 'estimate': perf_counter() - condition}
    return replace(result, timing=timing), history


def _feed(
    online: OnlineIdentifier, log: JointLog, progress: Callable[[float], None] | None
) -> tuple[list[tuple[Block, Array]], History]:
    rows: list[tuple[Block, Array]] = []
    times: list[float] = []
    estimates: list[Estimate] = []
    names = base_parameters(online.stream.arm).names
    portion = max(1, -(-len(log.t) // POINTS))
    for first in range(0, len(log.t), portion):
        part = slice(first, first + portion)
        new = online.push(log.t[part], log.q[part], log.u[part])
        if first + portion >= len(log.t):
            new += online.flush()
        rows += new
        if new:
            times.append(float(log.t[part][-1] - log.t[0]))
            estimates.append(online.estimate())
        if progress:
            progress(min(1.0, (first + portion) / len(log.t)))
    shape = (-1, len(names))
    return rows, History(
        names, np.array(times),
        np.array([e.theta for e in estimates]).reshape(shape),
        np.array([e.std for e in estimates]).reshape(shape),
        np.array([e.determined for e in estimates], dtype=np.bool_).reshape(shape))


def _result(
    online: OnlineIdentifier, log: JointLog, rows: list[tuple[Block, Array]],
    defects: tuple[Defect, ...],
) -> Identification:
    arm, estimate = online.stream.arm, online.estimate()
    source = f'{Path(log.source).name}, each sample predicted before it was used'
    predictions = _predictions(rows, source)
    last = f'last third of {source}'
    validation = figures(last, True, arm.joint_names, _last_share(predictions))
    fit = _in_sample(online, Path(log.source).name, predictions)
    solution = Solution(
        estimate.theta, estimate.sigma, np.diag(estimate.std_white**2), np.isinf(estimate.std),
        estimate.condition_number)
    acceleration = np.max([_steepest(part) for part in predictions], axis=0)
    verdict = judge(
        arm, solution, estimate.covariance, predictions, acceleration, fit, validation)
    return Identification(
        arm=arm, theta=estimate.theta, covariance=estimate.covariance,
        std_white=estimate.std_white, sigma=estimate.sigma,
        condition_number=estimate.condition_number, samples=len(log.t), seconds=log.seconds,
        sources=(log.source,), data_hash=data_hash([log]),
        treatment=treatment_of(online.stream), fit=fit, validation=validation, verdict=verdict,
        defects=(*defects, *online.stream.counters.defects()), predictions=predictions)


def _predictions(rows: list[tuple[Block, Array]], source: str) -> tuple[Prediction, ...]:
    result = []
    for _, group in groupby(rows, key=lambda pair: pair[0].segment):
        parts = [
            (b.t, b.q, b.qd, *(np.where(b.moving, x, np.nan) for x in (b.tau, tau_hat)))
            for b, tau_hat in group
        ]
        arrays = (np.concatenate(column) for column in zip(*parts, strict=True))
        result.append(Prediction(source, True, *arrays))
    return tuple(result)


def _last_share(predictions: tuple[Prediction, ...]) -> list[Prediction]:
    total = sum(len(part.t) for part in predictions)
    skip = int((1 - LAST) * total)
    result = []
    for part in predictions:
        kept = slice(min(skip, len(part.t)), None)
        skip = max(0, skip - len(part.t))
        arrays = (x[kept] for x in (part.t, part.q, part.qd, part.tau, part.tau_hat))
        result.append(Prediction(part.source, part.held_out, *arrays))
    return [part for part in result if len(part.t)]


def _steepest(part: Prediction) -> Array:
    """Largest acceleration of each joint between rows, (n,), rad/s²."""
    if len(part.t) < 2:
        return np.zeros(part.qd.shape[1])
    slope = np.diff(part.qd, axis=0) / np.diff(part.t)[:, None]
    return np.asarray(np.abs(slope).max(axis=0))


def _in_sample(
    online: OnlineIdentifier, source: str, predictions: tuple[Prediction, ...]
) -> Figures:
    """Figures of the last estimate on the rows that it was learned from, from their triangles."""
    factors = online.estimator.factors
    residual = factors[:, :, -1] - factors[:, :, :-1] @ online.estimator.theta
    squares = (residual**2).sum(axis=1)
    torque = np.maximum((factors[:, :, -1] ** 2).sum(axis=1), np.finfo(float).tiny)
    tau = np.concatenate([part.tau for part in predictions])
    power = np.nanmean(tau**2, axis=0)
    share = squares / torque
    r2 = 1 - share * power / np.maximum(np.nanvar(tau, axis=0), np.finfo(float).tiny)
    joints = tuple(
        JointFigures(name, float(np.sqrt(s * p)), float(100 * np.sqrt(s)), float(r))
        for name, s, p, r in zip(online.stream.arm.joint_names, share, power, r2, strict=True))
    overall = float(100 * np.sqrt(squares.sum() / torque.sum()))
    return Figures(source, False, len(tau), overall, joints)
