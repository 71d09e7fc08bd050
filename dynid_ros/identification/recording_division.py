"""Recordings, divided in time into what is fitted and what is held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.recordings import quality
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.regression.preparation import checked_recording
from dynid_ros.signals.standstill import time_in_motion


def split(log: Recording, holdout: float) -> tuple[Recording, Recording | None]:
    """
    Split a recording in time.

    Parameters
    ----------
    log : Recording
        Recording.
    holdout : float
        Share to hold out, of the time in which anything moves: nothing can be learned or
        validated while the arm waits for somebody to end the recording.

    Returns
    -------
    first : Recording
        What is fitted.
    last : Recording or None
        What is held out.

    Raises
    ------
    RecordingError
        One of them is too short.

    """
    if holdout == 0:
        return log, None
    clock = time_in_motion(log.t, log.q)
    seconds = float(clock[-1])
    shortest = min(holdout, 1 - holdout) * seconds
    if shortest < quality.THRESHOLDS.shortest:
        raise RecordingError(
            f'{log.source}: to hold out a share of {holdout:g} of its {seconds:.3g} s of motion '
            f'leaves a part of only {shortest:.3g} s; choose another share')
    cut = int(np.searchsorted(clock, (1 - holdout) * seconds))
    return _own(log.part(0, cut)), _own(log.part(cut, len(log.t)))


def _own(log: Recording) -> Recording:
    """Copy the samples, so that the recording they are a part of need not stay in memory."""
    return replace(log, t=log.t.copy(), q=log.q.copy(), u=log.u.copy())


def motion_span(log: Recording) -> tuple[float, float]:
    """From when to when anything moves in a recording, s since its start."""
    clock = time_in_motion(log.t, log.q)
    begin = np.searchsorted(clock, 0.0, side='right') - 1
    return float(log.t[begin]), float(log.t[np.searchsorted(clock, clock[-1])])


@dataclass(frozen=True)
class Division:
    """
    Recordings, divided into what is fitted and what is held out.

    Attributes
    ----------
    train : list of Recording
        What is fitted.
    unseen : list of (str, Recording)
        What is held out, with a name for it.
    source : str
        Name of what is fitted.
    paths : tuple of str
        Where what is fitted was read from.
    defects : tuple of Defect
        Of all recordings.

    """

    train: list[Recording]
    unseen: list[tuple[str, Recording]]
    source: str
    paths: tuple[str, ...]
    defects: tuple[Defect, ...]


def divide(
    arm: ArmModel, recordings: Iterable[Recording], validation: Iterable[Recording], holdout: float
) -> Division:
    """Hold out the end of each recording, or nothing if there are others for validation."""
    others = [checked_recording(log, arm) for log in validation]
    holdout = 0.0 if others else holdout
    train: list[Recording] = []
    defects: list[Defect] = []
    unseen = [(Path(log.source).name, log) for log, _ in others]
    for log, found in (checked_recording(log, arm) for log in recordings):
        first, rest = split(log, holdout)
        train.append(first)
        defects += found
        if rest is not None:
            unseen.append((_last(holdout, rest), rest))
    paths = tuple(log.source for log in train)
    share = f'first {100 * (1 - holdout):.0f} % of ' if holdout else ''
    names = share + ', '.join(Path(path).name for path in paths)
    return Division(
        train, unseen, names, paths, (*defects, *(d for _, found in others for d in found)))


def _last(holdout: float, rest: Recording) -> str:
    begin, end = motion_span(rest)
    name = Path(rest.source).name
    return f'last {100 * holdout:.0f} % of {name} ({begin:.1f} to {end:.1f} s)'
