# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A line of the table of suspects, and the choice of lines to report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.diagnosis.expected_error import WEAKEST
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.suspects.best_size import EstimatedSize
from dynid_ros.estimation.suspects.cross_validation import (
    error_before_percent,
    evidence_of,
    Prediction,
)
from dynid_ros.estimation.suspects.likelihood import DEAD_SHARE
from dynid_ros.estimation.suspects.signal_suspects import GAINS, SCALE, SILENT_SIGNAL
from dynid_ros.estimation.suspects.suspect import described, Suspect

#: Ratio of the error of a joint to that with the fault corrected, from which a fault matters: it
#: causes as much of the error as all else.
MATTERS = float(np.sqrt(2.0))
#: Share of a typical size below which a fault is normal for real arms: a zero or a mounting a few
#: degrees off, an offset a few per cent.
NORMAL_SIZE = 0.5
#: Decimals of a printed error, %. A fault of a quiet joint hardly changes that of the whole arm.
ERROR_DECIMALS = 1


@dataclass(frozen=True, eq=False)
class Line:
    """
    One line of the table: a suspect and its score.

    Attributes
    ----------
    suspect : Suspect
        Data and arm with the fault corrected.
    gain : float
        Its log likelihood at possible parameters, minus that of the recording as it is.
    evidence : float or None
        Cross-validated gain, without the group that favours the suspect most, by the dispersion;
        None if the gain is too small for cross-validation.
    prediction : Prediction or None
        Cross-validation of the groups.
    estimated : EstimatedSize or None
        Size of the fault with its error bars, if it has one.
    null : Prediction or None
        Cross-validation of the recording without the fault, by default as it is.

    """

    suspect: Suspect
    gain: float
    evidence: float | None = None
    prediction: Prediction | None = None
    estimated: EstimatedSize | None = None
    null: Prediction | None = None


def winners_of(
    lines: list[Line], reference: Prediction, joints: NDArray[np.intp], threshold: float,
) -> list[Line]:
    """
    Choose the suspects to report: the best candidate, and those that it does not beat.

    It is enough if one of them matters: it may be the consequence of another one that changes
    all joints a little.

    Parameters
    ----------
    lines : list of Line
        In falling order of their evidence.
    reference : Prediction
        Of the recording as it is.
    joints : (m,) ndarray of int
        Joints that are compared.
    threshold : float
        Least evidence.

    """
    candidates = [line for line in lines if _is_candidate(line, reference, joints, threshold)]
    candidates = [line for line in candidates if _needed(line, candidates, joints, threshold)
                  and not _leaves_dead(line, lines)]
    winners = [line for line in candidates if _indistinguishable(line, candidates[0], threshold)]
    # A factor that the data do not distinguish from zero is no gain.
    silent = [line.suspect.fault.joints for line in winners
              if line.suspect.fault.code == SILENT_SIGNAL]
    winners = [line for line in winners if line.suspect.fault.code != SCALE
               or line.suspect.fault.joints not in silent]
    return winners if any(
        _matters(line, line.null or reference) for line in winners) else []


def decisive(
    chains: list[tuple[Line, ...]], reference: Prediction, threshold: float,
) -> tuple[Line, ...]:
    """
    Choose among suspects to which another fault was added.

    Parameters
    ----------
    chains : list of tuple of Line
        Of each suspect: itself, or with other faults.
    reference : Prediction
        Of the recording as it is.
    threshold : float
        Least evidence.

    Returns
    -------
    tuple of Line
        Those of most evidence; none if they do not beat the others, unless these end in the same
        faults.

    """
    def evidence(chain: tuple[Line, ...]) -> float:
        assert chain[0].prediction is not None
        return evidence_of(chain[0].prediction, reference)

    best = max(chains, key=evidence, default=())
    return best if all(_is_same(chain[0], best[0]) or not _indistinguishable(
        chain[0], best[0], threshold) for chain in chains) else ()


def is_reported(
    line: Line, reference: Prediction, joints: NDArray[np.intp], threshold: float,
) -> bool:
    """Whether a suspect is reported if no other one is: a candidate that matters."""
    return _is_candidate(line, reference, joints, threshold) and _matters(line, reference)


def _is_candidate(
    line: Line, reference: Prediction, joints: NDArray[np.intp], threshold: float,
) -> bool:
    """Whether a suspect is significant, large enough, and not of a joint without torque."""
    prediction = line.prediction
    if line.evidence is None or prediction is None or line.evidence < threshold:
        return False
    if not _is_large_enough(line):
        return False
    # A fault of the arm, or of a joint that has torque as recorded or corrected.
    powers = [each.power.sum(axis=0) for each in (reference, prediction)]
    loud = joints[np.any([power > WEAKEST * power.sum() for power in powers], axis=0)]
    return not line.suspect.joints or bool(np.isin(line.suspect.joints, loud).any())


def _leaves_dead(line: Line, others: list[Line]) -> bool:
    """
    Whether a suspect leaves a signal that it explains nothing of, and a dead one leaves less.

    Where a dead signal counts as zero torque, suspects gain that make the others fit that, or
    that exchange it with another one.
    """
    own = line.prediction
    assert own is not None
    if own.share_without_worst.max() <= DEAD_SHARE:
        return False
    return any(
        other.suspect.fault.code == SILENT_SIGNAL and other.prediction is not None
        and other.prediction.error_percent < own.error_percent for other in others)


def _is_large_enough(line: Line) -> bool:
    """Whether a fault is larger than is normal for real arms."""
    size = line.suspect.size
    # The data determine gains up to a common factor, so that its size is arbitrary.
    return size is None or line.suspect.fault.code == GAINS or (
        abs(size.distance) >= NORMAL_SIZE * size.typical)


def _matters(line: Line, reference: Prediction) -> bool:
    """Whether correcting a fault makes the prediction of some joint clearly better."""
    prediction = line.prediction
    assert prediction is not None
    # Relative to the torque, which a correction of the signals changes.
    before, after = (each.residual_squares / np.maximum(each.power.sum(axis=0), TINY)
                     for each in (reference, prediction))
    # Here, too, the group that favours the suspect most does not count, joint by joint.
    most = (before - after).argmax(axis=0)[None]
    before, after = (each.sum(axis=0) - np.take_along_axis(each, most, axis=0)[0]
                     for each in (before, after))
    return bool((before > MATTERS**2 * after).any())


def reduces_error(line: Line, reference: Prediction) -> bool:
    """Whether correcting a fault reduces the error of the torque, or leaves what is printed."""
    prediction = line.prediction
    assert prediction is not None
    before = error_before_percent(reference, prediction)
    return round(prediction.error_percent, ERROR_DECIMALS) <= round(before, ERROR_DECIMALS)


def _is_same(line: Line, other: Line) -> bool:
    """Whether two suspects have the same faults, corrected in whatever order."""
    arm = line.suspect.arm
    return described(arm, line.suspect.faults) == described(arm, other.suspect.faults)


def _indistinguishable(line: Line, best: Line, threshold: float) -> bool:
    """Whether the data do not distinguish a suspect from the best one."""
    assert line.prediction is not None and best.prediction is not None
    return evidence_of(best.prediction, line.prediction) < threshold


def _needed(line: Line, others: list[Line], joints: NDArray[np.intp], threshold: float) -> bool:
    """Whether a suspect is not that of all gains, or is reported against each other suspect."""
    assert line.prediction is not None
    if line.suspect.fault.code != GAINS:
        return True
    return all(
        is_reported(replace(line, evidence=evidence_of(line.prediction, each.prediction)),
                    each.prediction, joints, threshold)
        for each in others if each is not line and each.prediction is not None)
