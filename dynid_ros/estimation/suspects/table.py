# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The table of suspects.

Each suspect is a model of the signals, and so is the recording as it is. If the latter is true,
the likelihood ratio of a suspect to it, on samples to which neither was fitted, has an expectation
of at most one, so it exceeds m/α with a probability of at most α/m (Wasserman, Ramdas and
Balakrishnan 2020, Universal inference, PNAS 117). Hence the probability of a false report among m
suspects is at most α = `FALSE_ALARM`, however they depend on each other. This holds for one split
of the samples; for cross-validation, as here, recordings without a fault confirm it
(``benchmarks/verdicts.py``). Models of real arms are never true: their errors depend on the
motion, so one part of it may favour a suspect that another refutes. Therefore the group of samples
that favours a suspect most does not count, and gains are divided by the dispersion that the
suspect leaves, see `Likelihood.dispersion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.diagnosis.copied_signals import ROWS_PER_COLUMN
from dynid_ros.estimation.suspects import arm_suspects, motion_suspects, signal_suspects
from dynid_ros.estimation.suspects.best_size import (
    equally_likely_sizes,
    one_step_estimate,
    OneStepEstimate,
    refined,
    with_error_bars,
)
from dynid_ros.estimation.suspects.cross_validation import evidence_of, Prediction
from dynid_ros.estimation.suspects.likelihood import Fit, Likelihood
from dynid_ros.estimation.suspects.load_moment import with_best_moments
from dynid_ros.estimation.suspects.reported_lines import (
    decisive,
    Line,
    reduces_error,
    winners_of,
)
from dynid_ros.estimation.suspects.signal_suspects import (
    GAINS,
    LATE_SIGNAL,
    SILENT_SIGNAL,
    with_presliding,
)
from dynid_ros.estimation.suspects.suspect import Fault, resized, Suspect
from dynid_ros.estimation.suspects.variable_projection import UnitRows

#: Probability of a false report for a recording without a fault.
FALSE_ALARM = 0.01
#: Most faults sought in one recording, one after another, and most suspects that the data do not
#: distinguish to which another fault is added.
MOST_FAULTS = 3
#: Share of the largest gain from which a suspect is cross-validated. Those with less have no
#: chance unless their dispersion is far smaller, and each takes ten fits.
PREDICTED_GAIN = 0.5

MAKERS: tuple[Callable[[Suspect, list[int]], Iterator[Suspect]], ...] = (
    signal_suspects.exchanged_signals, signal_suspects.reversed_signals,
    signal_suspects.scaled_signals, signal_suspects.silent_signals,
    signal_suspects.scaled_together, signal_suspects.compensated_friction,
    signal_suspects.late_signals,
    signal_suspects.loads_in_a_part, motion_suspects.exchanged_positions,
    motion_suspects.reversed_positions, motion_suspects.positions_in_millimetres,
    motion_suspects.other_time_axes, arm_suspects.shifted_zeros, arm_suspects.stretched_links,
    arm_suspects.other_gravity)


@dataclass(frozen=True, eq=False)
class Table:
    """
    The table of one recording.

    Attributes
    ----------
    recorded : Suspect
        The recording as it is.
    joints : (m,) ndarray of int
        Joints that are compared.
    prediction : Prediction
        Cross-validation of its groups.
    lines : tuple of Line
        Suspects, the best first.
    winners : tuple of Line
        Reported suspects, the best first; several if the data do not distinguish them.
    threshold : float
        Least evidence for a report.
    one_step : tuple of OneStepEstimate
        Faults with a size, after one step from zero.
    absorbed : tuple of Fault
        Faults without a size that other parameters would absorb.

    """

    recorded: Suspect
    joints: NDArray[np.intp]
    prediction: Prediction
    lines: tuple[Line, ...]
    winners: tuple[Line, ...]
    threshold: float
    one_step: tuple[OneStepEstimate, ...]
    absorbed: tuple[Fault, ...]

    @property
    def least_gain(self) -> float:
        """Least difference of log likelihood that is evidence, given the model errors."""
        return self.threshold * self.prediction.dispersion

    @property
    def hidden(self) -> tuple[Fault, ...]:
        """Faults of a typical size that other parameters would absorb."""
        sizes = ((each.suspect, each.smallest_detectable(self.least_gain))
                 for each in self.one_step)
        return (*self.absorbed, *(suspect.fault for suspect, smallest in sizes
                                  if suspect.size and smallest > suspect.size.typical))


class Null:
    """
    The recording without a fault.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        The recording as it is, perhaps with other friction.
    start : Fit, optional
        A start for its parameters.

    """

    def __init__(
        self, likelihood: Likelihood, suspect: Suspect, start: Fit | None = None,
    ) -> None:
        self._likelihood, self._suspect, self._start = likelihood, suspect, start

    @cached_property
    def _possible(self) -> tuple[float, Fit]:
        return self._likelihood.possible(self._suspect, self._start)

    @property
    def value(self) -> float:
        """Log likelihood at the best possible parameters."""
        return self._possible[0]

    @property
    def fit(self) -> Fit:
        """Possible parameters."""
        return self._possible[1]

    @cached_property
    def prediction(self) -> Prediction:
        """Cross-validation of the groups."""
        return self._likelihood.blocks(self._suspect, self.fit)

    @cached_property
    def unconstrained(self) -> float:
        """Log likelihood without the limits of possible parameters."""
        return self._likelihood.unconstrained(self._suspect)


class Nulls:
    """
    What each suspect is compared with: the recording as it is, or as it may be without its fault.

    A contact that bends before it slides makes friction late. So a drive signal counts as late
    only if it is later than such friction makes it: suspect and recording both have a column of
    it, for the joint in question.
    """

    def __init__(self, likelihood: Likelihood, base: Suspect) -> None:
        self._likelihood, self._base = likelihood, base
        self.recorded = Null(likelihood, base)
        self._bending: dict[int, Null] = {}

    def of(self, suspect: Suspect) -> Null:
        """Return the recording without the last fault of a suspect."""
        if suspect.fault.code != LATE_SIGNAL:
            return self.recorded
        (joint,) = suspect.fault.joints
        if joint not in self._bending:
            self._bending[joint] = Null(
                self._likelihood, with_presliding(self._base, joint), self.recorded.fit)
        return self._bending[joint]


def table_of(base: Suspect, recordings: int = 1) -> Table | None:
    """
    Score all suspects of a recording, then again with the best one corrected.

    Another fault is added to suspects that the data do not distinguish only if it decides.

    Parameters
    ----------
    base : Suspect
        Data and arm as they are.
    recordings : int
        Recordings that share `FALSE_ALARM`.

    Returns
    -------
    Table or None
        None if too few samples move.

    """
    likelihood = Likelihood(base)
    rows = base.rows.counts[likelihood.joints].sum()
    if rows < ROWS_PER_COLUMN * max(len(base.rows.columns), 1):
        return None
    first = _one_fault(likelihood, base, recordings)
    winners = first.winners
    for _ in range(MOST_FAULTS - 1):
        deeper = [_one_fault(likelihood, line.suspect, recordings).winners or (line,)
                  for line in winners[:MOST_FAULTS]]
        best = decisive(deeper, first.prediction, first.threshold)
        if not best or best[0] in winners:
            break
        winners = best
    return replace(first, winners=tuple(
        line for line in winners if reduces_error(line, first.prediction)))


def _one_fault(likelihood: Likelihood, base: Suspect, recordings: int) -> Table:
    """Score all suspects against a recording, whose known faults are corrected."""
    nulls = Nulls(likelihood, base)
    recorded = nulls.recorded
    joints = likelihood.joints.tolist()
    suspects = [each for maker in MAKERS for each in maker(base, joints)]
    threshold = float(np.log(len(suspects) * recordings / FALSE_ALARM))
    as_it_is = UnitRows(likelihood, base)
    # Gravity that the arm does not state is a fault without any tilt.
    sizes = {k: one_step_estimate(
                 as_it_is if each.size.typical else UnitRows(likelihood, each), each)
             for k, each in enumerate(suspects)
             if each.size is not None and not each.size.distance}
    # One step is not enough to rate all gains together.
    suspects = [refined(likelihood, each) if each.fault.code == GAINS
                else resized(each, sizes[k].step) if k in sizes else each
                for k, each in enumerate(suspects)]
    values = likelihood.all_unconstrained(suspects)
    free = [(_bound(value, each, nulls, threshold), each)
            for value, each in zip(values, suspects, strict=True)]
    scored = likeliest_sizes(likelihood, free, nulls, threshold)
    scored.sort(key=lambda each: -each[0].gain)
    lines = [_line(likelihood, with_best_moments(
                 likelihood, refined(likelihood, line.suspect)), at, nulls)
             for line, at in scored
             if line.gain > max(threshold, PREDICTED_GAIN * _best(scored))]
    # Parameters that no body has may explain a signal that possible ones do not: it is not dead.
    if any(line.suspect.fault.code == SILENT_SIGNAL for line in lines):
        heard = likelihood.joints[likelihood.predictable(base)]
        lines = [line for line in lines if line.suspect.fault.code != SILENT_SIGNAL
                 or line.suspect.fault.joints[0] not in heard]
    lines.sort(key=lambda line: -(line.evidence or 0.0))
    winners = winners_of(lines, recorded.prediction, likelihood.joints, threshold)
    for line in [each for each in winners if each.suspect.size]:
        starts = [each for gain, each in free
                  if _fault_key(each) == _fault_key(line.suspect) and gain > threshold]
        assert line.prediction is not None
        tied = equally_likely_sizes(
            likelihood, line.suspect, starts, threshold * line.prediction.dispersion)
        winners += [_line(likelihood, each, recorded.fit, nulls) for each in tied]
    predicted = {_fault_key(line.suspect) for line in lines}
    rest = [line for line, _ in scored if _fault_key(line.suspect) not in predicted]
    least = threshold * recorded.prediction.dispersion
    absorbed = tuple(each.fault for value, each in zip(values, suspects, strict=True)
                     if each.fault.typical and value > nulls.of(each).unconstrained - least)
    return Table(base, likelihood.joints, recorded.prediction, (*lines, *rest), tuple(winners),
                 threshold, tuple(sizes.values()), absorbed)


def _bound(value: float, suspect: Suspect, nulls: Nulls, threshold: float) -> float:
    """Bound the gain of a suspect, given its unconstrained log likelihood."""
    gain = value - nulls.recorded.value
    # The recording as it may be without the fault is at least as likely: it has a column more.
    return gain if gain < threshold else value - nulls.of(suspect).value


def _best(scored: Iterable[tuple[Line, Fit]]) -> float:
    """Return the largest gain, without the fault of all drive gains, which has many sizes."""
    return max((line.gain for line, _ in scored if line.suspect.fault.code != GAINS), default=0.0)


def _fault_key(suspect: Suspect) -> tuple[str, tuple[int, ...]]:
    """Identify the last fault of a suspect, whatever its size."""
    return suspect.fault.code, suspect.fault.joints


def likeliest_sizes(
    likelihood: Likelihood, bounds: list[tuple[float, Suspect]], nulls: Nulls, threshold: float,
) -> list[tuple[Line, Fit]]:
    """
    Find the likeliest size of each fault at possible parameters.

    It is the likeliest size without constraints, but for gravity: masses turn negative where
    gravity turns around, and the torque of a slow arm stays the same. So its direction is found by
    branch and bound, where the unconstrained likelihood is the bound.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    bounds : list of (float, Suspect)
        Bound of the gain of each suspect.
    nulls : Nulls
        The recording without these faults.
    threshold : float
        Least gain.

    Returns
    -------
    list of (Line, Fit)
        One for each fault that may be likely enough.

    """
    best: dict[tuple[str, tuple[int, ...]], tuple[Line, Fit]] = {}
    for most, each in sorted(bounds, key=lambda bound: -bound[0]):
        if most < max(threshold, PREDICTED_GAIN * _best(best.values())):
            break
        key = _fault_key(each)
        turned = each.fault.code.startswith('gravity')
        if key not in best or (turned and most > best[key][0].gain):
            null = nulls.of(each)
            value, fit = likelihood.possible(each, null.fit)
            if key not in best or value - null.value > best[key][0].gain:
                best[key] = Line(each, value - null.value), fit
    return list(best.values())


def _line(likelihood: Likelihood, suspect: Suspect, fit: Fit, nulls: Nulls) -> Line:
    """Return a line of the table with the cross-validation of a suspect."""
    value, fit = likelihood.possible(suspect, fit)
    prediction, null = likelihood.blocks(suspect, fit), nulls.of(suspect)
    return Line(suspect, value - null.value, evidence_of(prediction, null.prediction), prediction,
                None if suspect.size is None else with_error_bars(likelihood, suspect),
                null.prediction)
