"""The contest of explanations: the fault that predicts best what it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dynid_ros.data.signals.trial_samples import TYPICAL
from dynid_ros.estimation.diagnosis import motion_rivals, signal_rivals
from dynid_ros.estimation.diagnosis.expected_error import LARGEST_EXPECTED_PERCENT
from dynid_ros.estimation.diagnosis.gravity_direction import GravityCheck
from dynid_ros.estimation.diagnosis.hypothesis import Hypothesis, SAME, without_more
from dynid_ros.estimation.diagnosis.trial_evidence import (
    downhill,
    expected_error,
    pays,
    surrogates,
    unseen_faults,
)
from dynid_ros.estimation.model.verdict import Finding

Rivals = Callable[[Hypothesis], Iterable[Hypothesis]]

#: Rivals that are always tried, and those that take a search for something doubtful, by the codes
#: of their faults.
QUICK: dict[str, Rivals] = {
    'effort_exchanged': signal_rivals.exchanged_signals,
    'effort_sign': signal_rivals.reversed_signals,
    'effort_delay': signal_rivals.late_signals,
    'position_exchanged': motion_rivals.exchanged_positions,
    'joint_exchanged': motion_rivals.exchanged_positions,
    'position_sign': motion_rivals.reversed_positions,
    'other_arm': motion_rivals.other_arms,
}
SLOW: dict[str, Rivals] = {
    'effort_meaningless': signal_rivals.meaningless_signals,
    'payload_changed': signal_rivals.loads_from_a_moment_on,
    'position_is_velocity': motion_rivals.integrated_positions,
}
SEARCHES = {
    'effort_scale': signal_rivals.GAINS,
    'position_zero': motion_rivals.ZEROS,
    'link_length': motion_rivals.LENGTHS,
}
#: Faults of which a recording may have several.
REPEATED = ('effort_exchanged', 'effort_sign', 'effort_meaningless', 'position_exchanged',
            'joint_exchanged', 'position_sign')
#: Errors of the prediction itself, which have a cause.
FAILURES = ('held_out_error', 'not_general', 'joint_error', 'residual')
#: Faults of one kind at most; explanations from which the next is sought, or in one finding.
DEPTH, BEAM = 3, 3

# Bounds of an explanation that the verdict reports. Measured figures come from
# benchmarks/diagnosis.py.
#: Error of the recording as it is, %, from which all rivals are tried. Good recordings reach 6.2.
SUSPICIOUS_PERCENT = 8.0
#: Largest error with which an explanation is one, %.
GOOD_PERCENT = 15.0
#: Error up to which a torque without gravity is recognised as one, %: friction and inertia are
#: left, and less of them is explained. The same of an explanation that was searched for roughly.
PARTLY_PERCENT = 50.0
#: Least gain of an explanation: logarithms of the residuals, summed over the joints. On good
#: recordings the best rival gains 0.29.
LEAST_GAIN = 0.35
#: The same where the motion is blamed; with the fault undone, the error bars of the rows must be
#: narrow. Seven seconds of a real arm that hardly moves gain 0.5.
BLAMED_GAIN = 1.0
#: Gain from which an explanation of a recording that fits badly holds although the motion excites
#: too little, and much passes for a gain.
VAGUE_GAIN = 3.0
#: Gain over the next one below which the verdict reports both; over the recording, that from which
#: more rivals are tried, which takes as long as all before them.
APART_GAIN = 0.3
#: Ratio of the error to the error with the fault undone, up to which the fault is a warning.
SLIGHT_RATIO = 1.1
#: Gain that each further step of an explanation must bring.
STEP_GAIN = 0.5
#: Share of the torque of a joint from which it counts as unexplained. Joints of good recordings
#: reach 0.57 (the first joint of the Panda, which gravity does not load).
UNEXPLAINED_SHARE = 0.75
#: The same from which its signal has nothing to do with its motion.
DEAD_SHARE = 0.9
#: Rows needed for each parameter. With fewer, least squares explain any torque.
ROWS_PER_COLUMN = 4


@dataclass(frozen=True, eq=False)
class Contest:
    """
    Outcome of the contest.

    Attributes
    ----------
    recorded : Hypothesis
        The recording as it is.
    winners : tuple of Hypothesis
        Explanations that hold, the best first; several where the data do not distinguish them.
    runners : tuple of Hypothesis
        The best explanations where none holds.
    unseen : tuple of str
        Faults that the data would not show, if nothing speaks against the model; a sentence.

    """

    recorded: Hypothesis
    winners: tuple[Hypothesis, ...]
    runners: tuple[Hypothesis, ...]
    unseen: tuple[str, ...] = ()


def contest(
    base: Hypothesis, gravity: GravityCheck, doubts: Sequence[Finding],
) -> Contest:
    """
    Let all explanations compete.

    Each changes data or arm by few numbers, is fitted to two of three folds, and predicts the
    third. The best one holds if the model becomes good by it and clearly better than without.

    Parameters
    ----------
    base : Hypothesis
        Data and arm as they are.
    gravity : GravityCheck
        Direction of gravity that fits best.
    doubts : sequence of Finding
        What else speaks against the model.

    """
    rows = base.rows.counts[:, base.joints].sum()
    if rows < ROWS_PER_COLUMN * max(base.rows.friction.shape[1], 1):
        return Contest(base, (), ())
    tried, unseen = _tried(base, gravity, doubts)
    holding = without_more([each for each in tried if _holds(each, base)])
    failed = any(finding.is_error and finding.code in FAILURES for finding in doubts)
    # A model that fails needs a cause; one that does not must not be accused by chance.
    if holding and not failed and not pays(base, holding[0]):
        # Where the best one is chance, so is the next, and so is what it is better by.
        winners = sorted((each for each in holding if _ends_impossible(each, base)),
                         key=lambda each: each.error_percent)
        winners = winners if winners and _no_worse(winners[0], base) else []
    else:
        least = min(map(_price, holding), default=0.0)
        winners = [each for each in holding if _price(each) < least + APART_GAIN]
    blamed = any(finding.code == 'excitation' for finding in doubts)
    vague = blamed and winners and not _excited(winners[0], base)
    if vague or len(winners) > BEAM or (
            winners and not _beyond_chance(winners[0], base, gravity)):
        winners = []
    return Contest(base, tuple(winners), tuple(tried[:BEAM]), unseen)


def _tried(
    base: Hypothesis, gravity: GravityCheck, doubts: Sequence[Finding],
) -> tuple[list[Hypothesis], tuple[str, ...]]:
    """Explain a recording in all ways, the best first, and list faults that it would not show."""
    tried = _made(base, QUICK)
    planted = {code: search.planted(base) for code, search in SEARCHES.items()}
    flat = [*signal_rivals.late_by(base, TYPICAL),
            *(each for found in planted.values() for each in found)]
    unseen = unseen_faults(base, (*flat, *_of_code('joint_exchanged', tried)), LEAST_GAIN)
    tried += motion_rivals.other_gravity(base, gravity)
    doubted = bool(doubts) or _suspicious(base)
    if doubted or any(base.cost - _price(each) > APART_GAIN for each in (*tried, *flat)):
        tried += _made(base, SLOW)
        tried += [each for code, search in SEARCHES.items() for each in search.best(
            base, base.joints.tolist() if doubted else downhill(base, planted[code]))]
    if doubted:
        tried += _repeated(base, tried)
    return sorted(tried, key=_price), unseen


def _made(base: Hypothesis, rivals: Mapping[str, Rivals]) -> list[Hypothesis]:
    """Make the explanations of some kinds."""
    return [each for make in dict.fromkeys(rivals.values()) for each in make(base)]


def _of_code(code: str, tried: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Choose the explanations by one kind of fault."""
    return [each for each in tried if each.steps[0].code == code]


def _of_kind(code: str, base: Hypothesis, gravity: GravityCheck) -> list[Hypothesis]:
    """Explain a recording by one kind of fault in all ways."""
    if code in SEARCHES:
        return list(SEARCHES[code].best(base, base.joints.tolist()))
    rivals = (QUICK | SLOW).get(code)
    tried = _of_code(code, rivals(base) if rivals else motion_rivals.other_gravity(base, gravity))
    return tried + _repeated(base, tried)


def _suspicious(base: Hypothesis) -> bool:
    """Whether the error itself asks for a cause."""
    return (base.error_percent > SUSPICIOUS_PERCENT
            or bool(unexplained_joints(base)) or bool(base.still_driven))


def _ends_impossible(each: Hypothesis, base: Hypothesis) -> bool:
    """Whether friction drives most of the changed joints, and fewer after; or ranges are kept."""
    changed, driven = set(each.changed_joints), base.still_driven
    fewer = len(each.still_driven) < len(driven) and 2 * len(changed & set(driven)) > len(changed)
    return fewer or bool(base.beyond_range and not each.beyond_range)


def _no_worse(each: Hypothesis, base: Hypothesis) -> bool:
    return each.error_percent <= (1 + SAME) * base.error_percent


def _beyond_chance(best: Hypothesis, base: Hypothesis, gravity: GravityCheck) -> bool:
    """Whether an explanation gains more than the best of its kind on recordings without fault."""
    if _ends_impossible(best, base) and _no_worse(best, base):
        # What no arm does is beyond chance by itself, and a surrogate inherits it.
        return True
    gain, code = base.cost - _price(best), best.steps[0].code
    return all(
        without.cost - _price(each) < gain for without in surrogates(base)
        for each in _of_kind(code, without, gravity))


def _excited(best: Hypothesis, base: Hypothesis) -> bool:
    """Whether the motion excites enough once the fault is undone, or the gain is beyond doubt."""
    gain = base.cost - _price(best)
    if base.error_percent > GOOD_PERCENT and gain > VAGUE_GAIN:
        return True
    return gain > BLAMED_GAIN and expected_error(best) < LARGEST_EXPECTED_PERCENT


def unexplained_joints(base: Hypothesis) -> list[int]:
    """Joints whose torque a hypothesis leaves unexplained."""
    left = base.score.left
    return [j for j in base.joints.tolist()
            if j not in base.excluded and left[j] > UNEXPLAINED_SHARE]


def _price(each: Hypothesis) -> float:
    dear = STEP_GAIN * (len(each.steps) - 1) + sum(step.price for step in each.steps)
    return each.cost + dear


def _repeated(base: Hypothesis, tried: list[Hypothesis]) -> list[Hypothesis]:
    """Look for further faults of the same kind, from the best explanations of each."""
    found: list[Hypothesis] = []
    for code in REPEATED:
        beam = _of_code(code, tried)
        for _ in range(DEPTH - 1):
            beam = sorted(beam, key=_price)[:BEAM]
            if not beam or beam[0].cost > base.cost or _holds(beam[0], base):
                break
            beam = [more for each in beam for more in (QUICK | SLOW)[code](each)]
            found += beam
    return found


def _holds(each: Hypothesis, base: Hypothesis) -> bool:
    """Whether the model becomes good by an explanation, and clearly better."""
    left, rough = each.score.left, any(step.rough for step in each.steps)
    most, least = (PARTLY_PERCENT, VAGUE_GAIN) if rough else (GOOD_PERCENT, LEAST_GAIN)
    if each.error_percent > most or base.cost - _price(each) < least:
        return False
    # Leaving a joint out explains it only where nothing else does.
    if any(base.score.left[joint] < DEAD_SHARE for joint in each.excluded):
        return False
    changed = [joint for joint in each.changed_joints if joint not in each.excluded]
    return all(left[joint] < UNEXPLAINED_SHARE for joint in changed)
