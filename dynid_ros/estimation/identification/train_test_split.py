# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Divide recordings into a training set and a held-out set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.motion_checks import CONSTANT
from dynid_ros.data.recordings.recording import Defect, Recording, SampleClock
from dynid_ros.data.signals.standstill import motion_windows, time_in_motion, time_within
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.leakage_check import KnownSamples, marked_repeat
from dynid_ros.estimation.model.metrics import ANOTHER_MOTION, FITTED_AGAIN
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Clocks whose times are kept for plots: the times of more recordings would dominate a result.
DRAWN_CLOCKS = 3
#: Default share to hold out, and its shortest duration, s: the low-pass keeps a few rows of it.
HOLDOUT, SHORTEST_HELD_OUT_SECONDS = 0.33, 2.0
#: Numbers of parts to try for a recording in which joints move in turn.
TRIED_PARTS = (2, 4, 8, 16)
#: Least share of the motion of a joint in the training and in the held-out set, relative to that
#: of a joint that moves throughout.
FAIR = 0.5


def split(recording: Recording, holdout: float) -> tuple[Recording, Recording | None]:
    """
    Split a recording in time.

    Parameters
    ----------
    recording : Recording
        Recording.
    holdout : float
        Share to hold out, of the time in which any joint moves: the arm may rest for long before
        the recording ends.

    Returns
    -------
    first : Recording
        Training set.
    last : Recording or None
        Held-out set.

    Raises
    ------
    RecordingError
        One of them is too short.

    """
    if holdout == 0:
        return recording, None
    return _cut(recording, holdout, time_in_motion(recording.t, recording.q))


def _cut(recording: Recording, holdout: float, clock: Array) -> tuple[Recording, Recording]:
    """Split a recording, given its time in motion (N,)."""
    seconds = float(clock[-1])
    shortest = min(holdout, 1 - holdout) * seconds
    if shortest < quality.SHORTEST_RECORDING_SECONDS:
        raise RecordingError(
            f'{recording.source}: to hold out a share of {holdout:g} of its {seconds:.3g} s of '
            f'motion leaves a part of only {shortest:.3g} s; choose another share')
    cut = int(np.searchsorted(clock, (1 - holdout) * seconds))
    return recording.part(0, cut), recording.part(cut, len(recording.t))


def split_for_all_joints(
    recording: Recording, holdout: float | None,
) -> tuple[float, list[Recording], list[Recording]]:
    """
    Split a recording in time so that each moving joint moves in the training set.

    If a joint moves only at the end, the recording is cut into 2, 4, 8 or 16 parts with equal
    amounts of motion, and the end of each part is held out.

    Parameters
    ----------
    recording, holdout
        As for `split`; by default `HOLDOUT`, or zero if `SHORTEST_HELD_OUT_SECONDS` would not be
        held out.

    Returns
    -------
    holdout : float
        The share that is held out.
    train, unseen : list of Recording
        Parts of the training set and of the held-out set, in the order of time.

    Raises
    ------
    RecordingError
        As `split`.

    """
    if holdout == 0:
        return 0.0, [recording], []
    motion = motion_windows(recording.t, recording.q)
    clock = time_within(motion, recording.t)
    seconds = float(clock[-1])
    if holdout is None:
        holdout = HOLDOUT
        if holdout * seconds < SHORTEST_HELD_OUT_SECONDS:
            return 0.0, [recording], []
    first, rest = _cut(recording, holdout, clock)
    span = [float(first.t[0]), float(first.t[-1])]
    if motion is None or _motion_in_both(motion, span, holdout)[0]:
        return holdout, [first], [rest]
    result = [first], [rest]
    for count in TRIED_PARTS:
        if min(holdout, 1 - holdout) * seconds / count < quality.SHORTEST_RECORDING_SECONDS:
            break
        ends = (np.arange(count)[:, None] + [1 - holdout, 1.0]).ravel() * seconds / count
        cuts = [0, *np.searchsorted(clock, ends).tolist()]
        parts = [recording.part(a, b) for a, b in pairwise([*cuts[:-1], len(recording.t)])]
        spans = np.array([(part.t[0], part.t[-1]) for part in parts[::2]]).ravel()
        fitted, validated = _motion_in_both(motion, spans, holdout)
        if fitted:
            result = parts[::2], parts[1::2]
        if fitted and validated:
            break
    return holdout, *result


def at_marks(recording: Recording) -> tuple[list[Recording], list[Recording]]:
    """
    Split a recording at its marked validation motions.

    Parameters
    ----------
    recording : Recording
        Recording.

    Returns
    -------
    train, unseen : list of Recording
        Parts outside and inside the marks that contain at least `SHORTEST_HELD_OUT_SECONDS` of
        motion; both are empty if one of them is.

    """
    if not recording.validation:
        return [], []
    edges = np.maximum.accumulate(np.searchsorted(recording.t, np.ravel(recording.validation)))
    parts = [recording.part(a, b) for a, b in pairwise([0, *edges, len(recording.t)])]
    train, unseen = (list(filter(_moves, several)) for several in (parts[::2], parts[1::2]))
    return (train, unseen) if train and unseen else ([], [])


def _moves(recording: Recording) -> bool:
    found = motion_windows(recording.t, recording.q) if len(recording.t) else None
    return (found is not None and bool(found[1].any())
            and time_in_motion(recording.t, recording.q)[-1] >= SHORTEST_HELD_OUT_SECONDS)


def _motion_in_both(
    motion: tuple[Array, NDArray[np.bool_]], spans: Sequence[float] | Array, holdout: float,
) -> tuple[bool, bool]:
    """Whether each moving joint moves long enough inside spans of time, and outside them."""
    edges, moves = motion
    middle = (edges[1:] + edges[:-1]) / 2
    # Between the first and the second, the third and the fourth, and so on.
    inside = np.searchsorted(spans, middle) % 2 == 1
    seconds = moves * np.diff(edges)[:, None]
    moved = seconds.any(axis=0)
    total = seconds.sum(axis=0)[moved]
    fitted = seconds[inside].sum(axis=0)[moved] / total
    return (bool((fitted >= FAIR * (1 - holdout)).all()),
            bool((1 - fitted >= FAIR * holdout).all()))


def motion_span(recording: Recording) -> tuple[float, float]:
    """Return begin and end of the motion in a recording, s since its start."""
    clock = time_in_motion(recording.t, recording.q)
    begin = np.searchsorted(clock, 0.0, side='right') - 1
    return float(recording.t[begin]), float(recording.t[np.searchsorted(clock, clock[-1])])


@dataclass(frozen=True)
class Division:
    """
    Recordings, divided into a training set and a held-out set.

    Attributes
    ----------
    arm : ArmModel
        The arm as measured, with the requested friction terms.
    train : list of Recording
        Training set.
    unseen : list of (str, Recording)
        Held-out set, each recording with a name.
    held_out : str
        Description of the held-out set, as in `IdentifiedModel`.
    source : str
        Name of the training set.
    paths : tuple of str
        Files of the training set.
    defects : tuple of Defect
        Of all recordings; their messages name the file where there are several.
    repeats : bool
        Whether all of the held-out set repeats the training set, so that no other motion
        validates the model.
    notes : tuple of str
        On recordings that are too short, or held out in several parts.
    clocks : tuple of SampleClock
        Of all recordings whose stamps were replaced, each file once; the first `DRAWN_CLOCKS` have
        times for a drawing.
    findings : tuple of Finding
        Warnings of the drive, for the verdict.

    """

    arm: ArmModel
    train: list[Recording]
    unseen: list[tuple[str, Recording]]
    held_out: str
    source: str
    paths: tuple[str, ...]
    defects: tuple[Defect, ...]
    repeats: bool = False
    notes: tuple[str, ...] = ()
    clocks: tuple[SampleClock, ...] = ()
    findings: tuple[Finding, ...] = ()


def divide(
    arm: ArmModel, recordings: Iterable[Recording], validation: Iterable[Recording],
    holdout: float | None, friction: Sequence[str] | None = None,
) -> Division:
    """
    Hold out the end of each recording, or nothing if there are recordings for validation.

    Without a stated share, the marked validation motions of a recording are held out; nothing is
    held out of a recording that is too short for `HOLDOUT`.
    """
    others = [checked_recording(recording, arm) for recording in validation]
    stated = 0.0 if others else holdout
    share, train = '', list[Recording]()
    checked: list[tuple[str, tuple[Defect, ...]]] = []
    clocks: list[SampleClock | None] = []
    notes: list[str] = []
    unseen = [(Path(recording.source).name, recording) for recording, _ in others]
    kinds = [ANOTHER_MOTION] * len(unseen)
    known = KnownSamples(recording for recording, _ in others)
    for recording, found in (checked_recording(recording, arm) for recording in recordings):
        checked.append((recording.source, (*found, *known.add(recording))))
        clocks.append(recording.clock)
        first, rest = at_marks(recording) if stated is None else ([], [])
        if rest:
            train += first
            share = 'all but the validation motion of '
            unseen += [(f'validation motion of {_place(part)}', part) for part in rest]
            kinds += [ANOTHER_MOTION] * len(rest)
            continue
        holdout, first, rest = split_for_all_joints(recording, stated)
        share = f'first {100 * (1 - holdout):.0f} % of ' if holdout else ''
        if stated is None and not rest:
            notes.append(f'{recording.source} is too short to hold out a part: not validated')
        train += first
        held = _share_of(holdout, len(rest))
        unseen += [(held + (Path(part.source).name if len(rest) > 1 else _place(part)), part)
                   for part in rest]
        kinds += [f'the {held}'] * len(rest)
        if len(rest) > 1:
            notes.append(
                f'{recording.source}: single joints move in a part of the time only, so that the '
                f'last {100 * holdout:.0f} % of each of {len(rest)} parts are held out')
    if not train:
        raise RecordingError('recordings must hold at least one Recording, but holds none')
    paths = tuple(dict.fromkeys(recording.source for recording in train))
    names = share + ', '.join(Path(path).name for path in paths)
    marked = [(marked_repeat(name, train, part), part) for name, part in unseen]
    again = [new != old for (new, _), (old, _) in zip(marked, unseen, strict=True)]
    arm = arm.as_measured
    return Division(
        arm if friction is None else arm.with_friction(tuple(friction)), train, marked,
        _in_words(kinds, again, len(checked)), names, paths,
        _named(checked, [(other.source, found) for other, found in others]),
        bool(again) and all(again), tuple(notes),
        _clocks([*clocks, *(other.clock for other, _ in others)]))


def _named(
    fitted: Sequence[tuple[str, tuple[Defect, ...]]],
    unseen: Sequence[tuple[str, tuple[Defect, ...]]],
) -> tuple[Defect, ...]:
    """
    Join the defects of recordings; their messages name the file where there are several.

    A joint at rest is reported once, and only if it rests in all recordings that are fitted.
    """
    resting = set.intersection(*(
        {each.joint for each in defects if each.code == CONSTANT} for _, defects in fitted))
    result, files = list[Defect](), [*fitted, *unseen]
    for source, defects in files:
        for each in defects:
            if each.code != CONSTANT:
                result.append(replace(each, message=f'{Path(source).name}: {each.message}')
                              if len(files) > 1 else each)
            elif each.joint in resting:
                resting.remove(each.joint)
                result.append(each)
    return tuple(result)


def _clocks(found: Iterable[SampleClock | None]) -> tuple[SampleClock, ...]:
    """Return the clock of each file once; only the first ones keep their times."""
    first: dict[str, SampleClock] = {}
    for clock in filter(None, found):
        first.setdefault(clock.source, clock)
    return tuple(clock if k < DRAWN_CLOCKS else replace(clock, t=(), late=())
                 for k, clock in enumerate(first.values()))


def _share_of(holdout: float, parts: int) -> str:
    return f'last {100 * holdout:.0f} % of ' + (f'each of {parts} parts of ' * (parts > 1))


def _in_words(kinds: Sequence[str], repeated: Sequence[bool], recordings: int) -> str:
    """Describe the parts of a held-out set; name those that repeat the fitted motion."""
    of_same = f'the same recording{"s" * (recordings > 1)}'
    descriptions = dict.fromkeys(
        FITTED_AGAIN if repeats else kind if kind == ANOTHER_MOTION else f'{kind}{of_same}'
        for kind, repeats in zip(kinds, repeated, strict=True))
    return several(descriptions) if descriptions else ''


def _place(part: Recording) -> str:
    begin, end = motion_span(part)
    return f'{Path(part.source).name} ({begin:.1f} to {end:.1f} s)'
