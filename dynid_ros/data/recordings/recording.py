# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A recording as measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import DEVIATION
from dynid_ros.arm.settings import DRIVE_SIGNALS
from dynid_ros.data.recordings.warmth import Warmth
from dynid_ros.errors import listed, RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import largest_change, span_and_finite
from dynid_ros.utilities.inputs import as_numbers, as_text
from dynid_ros.utilities.summarised import Summarised


@dataclass(frozen=True)
class Defect:
    """
    Something wrong with a recording.

    Attributes
    ----------
    code : str
        Kind of the defect, such as ``stamps_repeated`` or ``effort_zero``.
    severity : str
        ``info``, ``warning`` (worked around, as the message states) or ``error`` (no trustworthy
        model can be identified).
    message : str
        One sentence for people, with the numbers and the remedy.
    joint : str or None
        Joint concerned, or None for the complete recording.
    count : int
        How many samples are concerned.
    first_stamp : float or None
        Where it first occurs, s since the start of the recording.
    value, threshold : float or None
        The value in the recording, and the acceptable one.

    """

    code: str
    severity: str
    message: str
    joint: str | None = None
    count: int = 1
    first_stamp: float | None = None
    value: float | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class SampleClock:
    """
    Times of measurement that replaced the stamps of a recording.

    Attributes
    ----------
    source : str
        Where the recording was read from.
    kind : str
        ``even`` for stamps that are late by chance, ``newest`` for the newest state of a source.
    rate_hz : float
        Of the measurement.
    jitter : float
        Standard deviation of stamps less times of measurement, s.
    t, late : tuple of float
        Some stamps, relative to the first of them, and their lateness, s; empty in a result of
        many recordings.
    step : float
        Median step of the stamps, s.

    """

    source: str
    kind: str
    rate_hz: float
    jitter: float
    t: tuple[float, ...]
    late: tuple[float, ...]
    step: float


@dataclass(frozen=True, eq=False, repr=False)
class Recording(Summarised):
    """
    One recording of n joints and N samples, never resampled in place.

    Lists become arrays, and shapes are checked. Single NaN among stamps, positions and drive
    signals are allowed, as recordings have them; `check_recording` reports them.

    Attributes
    ----------
    t : (N,) ndarray
        Stamps of the messages, s, counted from the first.
    q : (N, n) ndarray
        Positions as recorded, rad or m.
    u : (N, n) ndarray
        Drive signal as recorded, in the unit of the recording.
    joint_names : tuple of str
        Names in the order of the columns, as the arm calls them.
    signal : str
        Quantity of ``u``: ``effort``, ``current``, ``voltage`` or ``command``, the commanded
        position of a drive; a cleaned recording has the ``deviation`` of the motors from it.
    source : str
        Where it was read from.
    qd : (N, n) ndarray or None
        Velocities as recorded, where there are any.
    defects : tuple of Defect
        Defects found while reading.
    warmth : Warmth or None
        Warmth of the joints, once positions are checked; the warmth of a part follows from all
        samples before it.
    clock : SampleClock or None
        The clock of the measurement, where it replaced the stamps.
    validation : tuple of (float, float)
        Begin and end of each validation motion, in the time of ``t``, s.
    as_logged : bool
        Whether stamps may go back and columns be NaN throughout, as in logs; `check_recording`
        reports that. Recordings derived from a recording have it set.
    began : float or None
        Time zero of ``t`` by a clock that was set, s since 1970; None where nobody set it.

    Raises
    ------
    RecordingError
        Shapes do not fit, the signal is unknown, stamps go back, or all values of a joint are NaN.

    """

    t: Array
    q: Array
    u: Array
    joint_names: tuple[str, ...]
    signal: str = 'effort'
    source: str = 'recording'
    qd: Array | None = None
    defects: tuple[Defect, ...] = ()
    warmth: Warmth | None = None
    clock: SampleClock | None = None
    validation: tuple[tuple[float, float], ...] = ()
    as_logged: bool = False
    began: float | None = None

    def __post_init__(self) -> None:
        """Convert lists, and check shapes against the joints and stamps."""
        given = self.joint_names
        names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        if not all(isinstance(name, str) for name in names) or (
                len(set(names)) < len(names) or not names):
            raise RecordingError(
                f'joint_names must hold the name of each joint once, not {given!r}')
        as_text('source', self.source)
        if as_text('signal', self.signal) not in (*DRIVE_SIGNALS, DEVIATION):
            raise RecordingError(
                f"signal must be one of {', '.join(DRIVE_SIGNALS)}, not '{self.signal}'")
        t = as_numbers('t', self.t, 1)
        arrays = {'t': t}
        for name in ('q', 'u', 'qd'):
            value = getattr(self, name)
            if value is not None or name != 'qd':
                arrays[name] = as_numbers(name, value, 2, len(names))
                if len(arrays[name]) != len(t):
                    raise RecordingError(
                        f'{self.source}: {name} must have a row for each of the {len(t)} stamps '
                        f'of t, but has {len(arrays[name])}')
        if not self.as_logged:
            self._check_content(arrays, names)
        for name, value in {**arrays, 'joint_names': names, 'as_logged': True}.items():
            object.__setattr__(self, name, value)

    def _check_content(self, arrays: Mapping[str, Array], names: Sequence[str]) -> None:
        """Refuse content that a program is unlikely to intend."""
        t = arrays['t'][np.isfinite(arrays['t'])]
        back = np.flatnonzero(np.diff(t) < 0)
        if len(back):
            k = back[0]
            raise RecordingError(
                f'{self.source}: t goes back from {t[k]:g} to {t[k + 1]:g} s after {k + 1} '
                'samples; sort the samples by their stamps, or state as_logged=True')
        for key, values in arrays.items():
            lost = np.flatnonzero(np.isnan(np.atleast_2d(values.T)).all(axis=1)).tolist()
            if len(values) and lost:
                of = '' if key == 't' else f' of {listed([names[k] for k in lost])}'
                raise RecordingError(
                    f'{self.source}: all values of {key}{of} are NaN; give the samples in which '
                    'they are known, or state as_logged=True')

    def facts(self) -> list[tuple[str, str]]:
        """Return length, joints and defects, for a console or a notebook."""
        seconds = self.seconds
        rate = f', {(len(self.t) - 1) / seconds:.4g} samples/s' if seconds > 0 else ''
        marked = ', '.join(f'{begin:.4g} to {end:.4g} s' for begin, end in self.validation)
        return [
            (type(self).__name__,
             f'{self.source}: {len(self.t)} samples in {seconds:.4g} s{rate}'),
            ('joints', listed(self.joint_names, 8)),
            ('signals', f'positions, {self.signal}'
             + ('' if self.qd is None else ', velocities')),
            *([('marked for validation', marked)] if marked else []),
            ('defects found while reading',
             listed([f'{each.code} ({each.severity})' for each in self.defects]) or 'none')]

    @property
    def seconds(self) -> float:
        """Length of the recording, s."""
        if len(self.t) and np.isfinite(self.t[[0, -1]]).all():
            return float(self.t[-1] - self.t[0])
        finite = self.t[np.isfinite(self.t)]
        return float(finite[-1] - finite[0]) if len(finite) else 0.0

    @property
    def span(self) -> tuple[Array, Array]:
        """Lowest and highest finite position of each joint, (n,) each."""
        return self._positions[0]

    @property
    def signal_span(self) -> tuple[Array, Array]:
        """Lowest and highest finite drive signal of each joint, (n,) each."""
        return self._signals[0]

    @property
    def finite_positions(self) -> bool:
        """Whether all positions are finite."""
        return self._positions[1]

    @property
    def finite_signals(self) -> bool:
        """Whether all drive signals are finite."""
        return self._signals[1]

    @cached_property
    def _positions(self) -> tuple[tuple[Array, Array], bool]:
        return span_and_finite(self.q)

    @cached_property
    def _signals(self) -> tuple[tuple[Array, Array], bool]:
        return span_and_finite(self.u)

    @cached_property
    def step(self) -> float:
        """Median step of the stamps, s."""
        return float(np.median(np.diff(self.t), overwrite_input=True))

    @cached_property
    def largest_step(self) -> Array:
        """Largest step of each joint between two samples, (n,); NaN if one is unknown."""
        return largest_change(self.q)

    def part(self, start: int, stop: int) -> Recording:
        """Return samples ``start`` to ``stop`` as a recording of their own."""
        return self.take(slice(start, stop))

    def take(self, keep: NDArray[np.bool_] | slice, found: Sequence[Defect] = ()) -> Recording:
        """Return the samples to keep, with further defects."""
        qd = None if self.qd is None else self.qd[keep]
        return replace(self, t=self.t[keep], q=self.q[keep], u=self.u[keep], qd=qd,
                       defects=(*self.defects, *found))
