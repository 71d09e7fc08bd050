"""
The table of suspects, and the decision which of them is reported.

A suspect is a model of the signals, as the recording as it is. Under a true model, the likelihood
ratio of another one to it, on samples to which neither was fitted, has an expectation of at most
one, so that it exceeds m/α with a probability of at most α/m (Wasserman, Ramdas and Balakrishnan
2020, Universal inference, PNAS 117). With m suspects, a wrong one is reported with a probability
of at most α = `FALSE_ALARM`, however these depend on each other. This is so of one split of the
samples; of the sum over groups that take turns, as here, recordings without a fault tell it
(``benchmarks/verdicts.py``). Nor are real arms a true model: their errors go with the motion, so
that one part of it may speak for a suspect that another refutes. The group of samples that speaks
most for a suspect does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.diagnosis.copied_signals import ROWS_PER_COLUMN
from dynid_ros.estimation.diagnosis.expected_error import WEAKEST
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.suspects import arm_suspects, motion_suspects, signal_suspects
from dynid_ros.estimation.suspects.best_size import (
    Estimated,
    moved,
    other_answers,
    settled,
    Shown,
    shown,
    with_error_bars,
)
from dynid_ros.estimation.suspects.likelihood import Fit, Likelihood, Prediction
from dynid_ros.estimation.suspects.signal_suspects import GAINS
from dynid_ros.estimation.suspects.suspect import Fault, Suspect

#: Probability with which a recording without a fault gets one.
FALSE_ALARM = 0.01
#: Faults at once that are sought, one after another.
FAULTS = 3
#: Share of the largest gain from which on the groups of a suspect are predicted: half the gain is
#: as good as none beside all of it.
PREDICTED = 0.5
#: Ratio of the error of a joint to that with the fault undone, from which a fault matters: it
#: makes as much of the error as all else.
MATTERS = float(np.sqrt(2.0))
#: Share of a typical size below which a fault is one of any real arm: a zero or a mounting of some
#: degrees, an offset of some per cent.
SMALL = 0.5

MAKERS: tuple[Callable[[Suspect, list[int]], Iterator[Suspect]], ...] = (
    signal_suspects.exchanged_signals, signal_suspects.reversed_signals,
    signal_suspects.scaled_signals, signal_suspects.scaled_together, signal_suspects.late_signals,
    signal_suspects.loads_from_a_moment_on, motion_suspects.exchanged_positions,
    motion_suspects.reversed_positions, arm_suspects.shifted_zeros,
    arm_suspects.stretched_links, arm_suspects.other_gravity)


@dataclass(frozen=True, eq=False)
class Line:
    """
    A line of the table.

    Attributes
    ----------
    suspect : Suspect
        Data and arm with the fault undone.
    gain : float
        Its log likelihood over that of the recording as it is, at possible parameters.
    evidence : float or None
        The same on groups that were not fitted, without the one that speaks most for it; None
        where the likelihood itself does not suffice.
    prediction : Prediction or None
        Of these groups.
    estimated : Estimated or None
        Size of the fault with its error bars, of one that is a number.

    """

    suspect: Suspect
    gain: float
    evidence: float | None = None
    prediction: Prediction | None = None
    estimated: Estimated | None = None


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
        Of its groups.
    lines : tuple of Line
        Suspects, the best first.
    winners : tuple of Line
        Those that are reported, the best first; several where the data do not distinguish them.
    least : float
        Evidence from which on a suspect is reported.
    shown : tuple of Shown
        Faults that are a number.
    absorbed : tuple of Fault
        Faults without a size that other parameters would absorb.

    """

    recorded: Suspect
    joints: NDArray[np.intp]
    prediction: Prediction
    lines: tuple[Line, ...]
    winners: tuple[Line, ...]
    least: float
    shown: tuple[Shown, ...]
    absorbed: tuple[Fault, ...]

    @property
    def hidden(self) -> tuple[Fault, ...]:
        """Faults of a typical size that other parameters would absorb."""
        sizes = ((each.suspect, each.smallest(self.least)) for each in self.shown)
        return (*self.absorbed, *(suspect.fault for suspect, smallest in sizes
                                  if suspect.size and smallest > suspect.size.typical))


def table_of(base: Suspect, recordings: int = 1) -> Table | None:
    """
    Score all suspects of a recording, and of what is left with the first undone.

    Parameters
    ----------
    base : Suspect
        Data and arm as they are.
    recordings : int
        Recordings that share `FALSE_ALARM`.

    Returns
    -------
    Table or None
        None where too few samples move.

    """
    likelihood = Likelihood(base)
    rows = base.rows.counts[likelihood.joints].sum()
    if rows < ROWS_PER_COLUMN * max(len(base.rows.columns), 1):
        return None
    first = found = _one_fault(likelihood, base, recordings)
    for _ in range(FAULTS - 1):
        if not found.winners:
            break
        found = _one_fault(likelihood, found.winners[0].suspect, recordings)
        if found.winners:
            first = replace(first, winners=found.winners)
    return first


def _one_fault(likelihood: Likelihood, base: Suspect, recordings: int) -> Table:
    """Score all suspects beside a recording, or beside one with some faults undone."""
    value, fit = likelihood.possible(base)
    own = likelihood.blocks(base, fit)
    joints = likelihood.joints.tolist()
    every = [each for maker in MAKERS for each in maker(base, joints)]
    least = float(np.log(len(every) * recordings / FALSE_ALARM))
    sizes = {k: shown(likelihood, each) for k, each in enumerate(every)
             if each.size is not None and not each.size.x.any()}
    # All gains at once are too many for one step to tell how likely they are.
    every = [settled(likelihood, each) if each.fault.code == GAINS
             else moved(each, sizes[k].step) if k in sizes else each
             for k, each in enumerate(every)]
    free = [(likelihood.free(each) - value, each) for each in every]
    scored: list[tuple[Line, Fit]] = []
    for most, each in _likeliest(free):
        # The likelihood at possible parameters is lower than the free one.
        best = _best(scored)
        if most < max(least, best - least):
            break
        gain, at = likelihood.possible(each, fit)
        scored.append((Line(each, gain - value), at))
    scored.sort(key=lambda each: -each[0].gain)
    lines = [_line(likelihood, settled(likelihood, line.suspect), at, value, own)
             for line, at in scored
             if line.gain > max(least, PREDICTED * _best(scored))]
    lines.sort(key=lambda line: -(line.evidence or 0.0))
    holding = [line for line in lines if holds(line, own, likelihood.joints, least)]
    holding = [line for line in holding if _needed(line, holding, likelihood.joints, least)]
    winners = [line for line in holding if _as_good(line, holding[0], least)]
    winners += [_line(likelihood, each, fit, value, own) for line in winners if line.suspect.size
                for each in other_answers(likelihood, line.suspect, [
                    each for gain, each in free
                    if _question(each) == _question(line.suspect) and gain > least], least)]
    predicted = {_question(line.suspect) for line in lines}
    rest = [line for line, _ in scored if _question(line.suspect) not in predicted]
    most = likelihood.free(base) - value
    absorbed = tuple(
        each.fault for gain, each in free if each.fault.typical and gain > most - least)
    return Table(base, likelihood.joints, own, (*lines, *rest), tuple(winners), least,
                 tuple(sizes.values()), absorbed)


def _best(scored: Iterable[tuple[Line, Fit]]) -> float:
    """Return the largest gain of a fault; all gains at once, with many sizes, hide none."""
    return max((line.gain for line, _ in scored if line.suspect.fault.code != GAINS), default=0.0)


def _question(suspect: Suspect) -> tuple[str, tuple[int, ...]]:
    """Return which fault a suspect has last, whatever its size."""
    return suspect.fault.code, suspect.fault.joints


def _likeliest(tried: Iterable[tuple[float, Suspect]]) -> list[tuple[float, Suspect]]:
    """Choose the likeliest size of each fault, the likeliest fault first."""
    best: dict[tuple[str, tuple[int, ...]], tuple[float, Suspect]] = {}
    for value, each in tried:
        key = _question(each)
        if key not in best or value > best[key][0]:
            best[key] = value, each
    return sorted(best.values(), key=lambda each: -each[0])


def _line(
    likelihood: Likelihood, suspect: Suspect, fit: Fit, value: float, own: Prediction,
) -> Line:
    """Return a line of the table with what the suspect predicts."""
    found, fit = likelihood.possible(suspect, fit)
    prediction = likelihood.blocks(suspect, fit)
    return Line(suspect, found - value, _evidence(prediction, own), prediction,
                None if suspect.size is None else with_error_bars(likelihood, suspect))


def _evidence(found: Prediction, own: Prediction) -> float:
    """Return the gain of all groups but the one that speaks most for a suspect."""
    gains = found.values - own.values
    return float(gains.sum() - gains.max())


def holds(line: Line, own: Prediction, joints: NDArray[np.intp], least: float) -> bool:
    """Whether a suspect is reported: beyond chance, large enough, and one that matters."""
    found, size = line.prediction, line.suspect.size
    if line.evidence is None or found is None or line.evidence < least:
        return False
    # The data determine gains up to a common factor, so that its size is arbitrary.
    if size is not None and line.suspect.fault.code != GAINS and (
            np.linalg.norm(size.x) < SMALL * size.typical):
        return False
    # A fault of the arm, or of a joint that has torque once the fault is undone.
    power = found.power.sum(axis=0)
    loud = joints[power > WEAKEST * power.sum()]
    if line.suspect.joints and not np.isin(line.suspect.joints, loud).any():
        return False
    # By its torque, which a change of the signals changes, too.
    before, after = (each.left / np.maximum(each.power.sum(axis=0), TINY)
                     for each in (own, found))
    # The group that speaks most for it does not count here either, joint by joint.
    most = (before - after).argmax(axis=0)[None]
    before, after = (each.sum(axis=0) - np.take_along_axis(each, most, axis=0)[0]
                     for each in (before, after))
    return bool((before > MATTERS**2 * after).any())


def _as_good(line: Line, best: Line, least: float) -> bool:
    """Whether the data do not distinguish a suspect from the best one."""
    assert line.prediction is not None and best.prediction is not None
    return _evidence(best.prediction, line.prediction) < least


def _needed(line: Line, others: list[Line], joints: NDArray[np.intp], least: float) -> bool:
    """Whether a suspect is none of all gains at once, or is reported beside each other one."""
    assert line.prediction is not None
    if line.suspect.fault.code != GAINS:
        return True
    return all(
        holds(replace(line, evidence=_evidence(line.prediction, each.prediction)),
              each.prediction, joints, least)
        for each in others if each is not line and each.prediction is not None)
