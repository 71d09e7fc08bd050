"""Arms that have changed, arms that differ from the others, and bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from dynid_ros.applications.fleet.bag_features import feature_names, Features, LOAD, offset_joints
from dynid_ros.applications.fleet.drift import (
    colour,
    DAY,
    FEWEST,
    find_step,
    scatter,
    SEEN,
    SHORTEST,
    spread,
    STRAY,
)
from dynid_ros.arm.model import ArmModel
from dynid_ros.utilities.arrays import Array

#: Probability of any bag of a fleet without faults that does not belong, for values that differ
#: from bag to bag as Student's t does.
CHANCE = 1e-2
#: Degrees of freedom of t, at most: however many bags there are, values of a real arm have longer
#: tails than normal values.
FREEDOM = 30
#: Residual or friction of a joint, by the usual one, from which a bag does not belong, besides:
#: friction falls by a fifth while an arm warms up.
WORSE = 2.0
#: Error of the fit to a bag alone, by the usual one of the fleet, from which it does not take part
#: in the reference.
OWN_ERROR = 3.0
#: Standard errors of a change of load, or of its difference from the other arms'. The largest of 4
#: values, 500 moments and 1000 arms that do not change reaches 5.1.
CHANGE = 6.5
#: Least mass of a load that the report states, kg; with less, only the moments have changed.
LIGHT = 1e-3


class Difference(NamedTuple):
    """How a bag differs from the others of its arm, and whether a load is all of it."""

    text: str
    load: bool


@dataclass(frozen=True, eq=False)
class ArmJudgement:
    """
    One arm of a fleet.

    Attributes
    ----------
    odd : dict of int to Difference
        Bags that do not belong.
    since : int
        First bag since the last change of load; zero without one.
    load : (4,) ndarray
        Change of mass (kg) and first moments (kg m), zero without one.

    """

    odd: dict[int, Difference]
    since: int
    load: Array


def suspicious(errors: Array) -> NDArray[np.bool_]:
    """Mark bags that not even a fit of their own explains; NaN counts as usual."""
    usual = float(np.nanmedian(errors)) if np.isfinite(errors).any() else 0.0
    return np.asarray(np.nan_to_num(errors) > OWN_ERROR * max(usual, 1.0))


def nearest(bags: Features, half: bool) -> NDArray[np.bool_]:
    """Mark the half of the bags whose load is usual, or all bags whose load does not stray."""
    deviations = _deviations(bags, [slice(None)])
    scales = np.array([[scatter(column) for column in each.T]
                       for each in (deviations, deviations / bags.std)])
    far = np.abs(deviations) / np.maximum(_scale(bags, scales), np.finfo(float).tiny)
    worst = np.nan_to_num(far[:, :len(LOAD)]).max(axis=1)
    few = len(worst) < FEWEST
    return np.asarray(few | (worst <= (np.median(worst) if half else STRAY)))


def judge_arm(
    arm: ArmModel, bags: Features, date: Array, usual: tuple[Array, Array], fleet: int,
) -> ArmJudgement:
    """
    Find the change of an arm, and its bags that do not belong.

    A bag is compared with how much the bags of its arm differ from each other, by errors of the
    model as by temperature, and in units of its own error bars, too: short bags differ by more.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    bags : Features
        Its bags in the order of their dates.
    date : (B,) ndarray
        Their dates, s since 1970; NaN for unknown ones.
    usual : tuple
        Scatter of bags in the complete fleet, from `usual_scatter`.
    fleet : int
        Bags of the complete fleet.

    """
    (usual_far, usual_colour), count, loads = usual, len(bags.values), len(LOAD)
    if count < FEWEST:
        return ArmJudgement({}, 0, np.zeros(loads))
    first = _change(bags, date, usual_colour)
    deviations = _deviations(bags, [slice(first), slice(first, None)])
    own, kept = _scales(bags, deviations)
    far = np.abs(deviations) / _scale(bags, np.maximum(own, usual_far))
    far[_immaterial(arm, bags, deviations)] = 0.0
    freedom = np.clip(kept.min(axis=0) - 1, 1, FREEDOM)
    far = np.nan_to_num(far) / -stdtrit(freedom, CHANCE / 2 / fleet / far.shape[1])
    odd = {int(k): _difference(arm, far[k], deviations[k])
           for k in np.flatnonzero((far > 1).any(axis=1))}
    load = np.zeros(loads)
    if first:
        before, after = (np.nanmedian(part[:, :loads], axis=0)
                         for part in (bags.values[:first], bags.values[first:]))
        load = after - before
    return ArmJudgement(odd, first, load)


def usual_scatter(fleet: Sequence[Features]) -> tuple[Array, Array]:
    """
    Return the median over the arms of the scatter of their bags.

    Returns
    -------
    scatter : (2, F) ndarray
        Of the values, as they are and by their own deviations.
    colour : (4,) ndarray
        Differences of the load between neighbours by date, by their own deviations.

    """
    known = [bags for bags in fleet if len(bags.values) >= FEWEST]
    if not known:
        return np.ones((2, fleet[0].values.shape[1])), np.ones(len(LOAD))
    own = [_scales(bags, _deviations(bags, [slice(None)]))[0] for bags in known]
    colours = [[colour(*pair) for pair in zip(bags.values.T[:len(LOAD)], bags.std.T, strict=False)]
               for bags in known]
    # A median absolute deviation of N normal values has a relative deviation of 1.17 / sqrt(N).
    unsure = 1 + 3.1 * 1.17 / np.sqrt(sum(len(bags.values) for bags in known))
    return np.median(own, axis=0), unsure * np.nan_to_num(np.median(colours, axis=0), nan=1.0)


def other_loads(fleet: Mapping[str, tuple[Features, ArmJudgement]]) -> dict[str, Array]:
    """
    Find the arms that carry something else than the others.

    Parameters
    ----------
    fleet : mapping of str to (Features, ArmJudgement)
        Bags of each arm in the order of their dates, and its own judgement.

    Returns
    -------
    dict of str to (4,) ndarray
        Load of these arms beyond the load of the others, before their change, if there is one.

    """
    levels, errors, single = {}, {}, {}
    for name, (bags, judged) in fleet.items():
        before = range(judged.since or len(bags.values))
        kept = np.array([k for k in before if k not in judged.odd], dtype=np.intp)
        values, std = (array[kept, :len(LOAD)] for array in (bags.values, bags.std))
        if len(kept) < SHORTEST or not np.isfinite(values).all():
            continue
        own = std * np.array([colour(*pair) for pair in zip(values.T, std.T, strict=True)])
        levels[name], single[name] = np.median(values, axis=0), np.median(own, axis=0)
        # The median is less sure than the mean, by the root of pi / 2.
        errors[name] = np.sqrt(np.pi / 2 / len(kept)) * single[name]
    if len(levels) < FEWEST:
        return {}
    every = np.array(list(levels.values()))
    usual = np.median(every, axis=0)
    between = np.array([scatter(column) for column in (every - usual).T])
    found = {}
    for name, level in levels.items():
        away = np.abs(level - usual)
        far = away / np.hypot(between, errors[name])
        if ((far > CHANGE) & (away > SEEN * single[name])).any():
            found[name] = level - usual
    return found


def _change(bags: Features, date: Array, colours: Array) -> int:
    """
    Find the first bag after the clearest step of the load that counts; zero without one.

    What an arm carries for a part of a day is no change of the arm.
    """
    day, clearest, best = np.floor(date / DAY), CHANGE, 0
    for k, least in enumerate(colours.tolist()):
        values = bags.values[:, k]
        found = np.isfinite(values).all() and find_step(values, bags.std[:, k], least)
        if not found:
            continue
        first, step = found
        lasts = np.ptp(day[:first]) > 0 and np.ptp(day[first:]) > 0
        if lasts and step.seen > SEEN and step.standard_errors > clearest:
            clearest, best = step.standard_errors, first
    return best


def _deviations(bags: Features, segments: Sequence[slice]) -> Array:
    """Return values less their median, (B, F)."""
    result = bags.values.copy()
    for part in segments:
        known = np.isfinite(result[part]).any(axis=0)
        result[part, known] -= np.nanmedian(result[part, known], axis=0)
    return result


def _scales(bags: Features, deviations: Array) -> Array:
    """Return spread and number of deviations, as they are and in units of std, (2, 2, F)."""
    return np.array([[spread(column) for column in each.T]
                     for each in (deviations, deviations / bags.std)]).transpose(2, 0, 1)


def _scale(bags: Features, scales: Array) -> Array:
    """Return by how much values may differ, (B, F): by both of their scales (2, F)."""
    return np.asarray(np.fmax(scales[0], scales[1] * bags.std))


def _immaterial(arm: ArmModel, bags: Features, deviations: Array) -> NDArray[np.bool_]:
    """Mark deviations, (B, F), that do not matter."""
    n, count = arm.n, len(deviations)
    residual = np.exp(bags.values - deviations)[:, -n:]
    least = np.hstack([
        np.zeros((count, len(LOAD))), np.full((count, n), 1 - 1 / WORSE),
        residual[:, offset_joints(arm)], np.full((count, n), np.log(WORSE))])
    size = np.abs(deviations)
    # A smaller residual than the usual one is no fault.
    size[:, -n:] = deviations[:, -n:]
    return np.asarray(size < least)


def _difference(arm: ArmModel, far: Array, deviations: Array) -> Difference:
    """Describe the largest difference of a bag; a load, if that leaves nothing else unusual."""
    loads, worst, unexplained = len(LOAD), int(np.argmax(far)), far[-arm.n:].max() > 1
    if worst < loads or (far[:loads].max() > 1 and not unexplained):
        return Difference(f'load: {load_text(deviations[:loads])}', not unexplained)
    name, by = feature_names(arm)[worst], deviations[worst]
    if worst >= len(far) - arm.n:
        return Difference(f'the {name} is {np.exp(by):.3g} times the usual one', False)
    amount = f'{100 * by:+.0f} %' if worst < loads + arm.n else f'{by:+.3g}'
    return Difference(f'the {name} differs by {amount}', False)


def load_text(values: Array) -> str:
    """Write a load (4,) as mass and centre."""
    mass, moment = values[0], values[1:]
    where = ''
    if abs(mass) > LIGHT:
        where = f' at ({", ".join(f"{x / mass:.2f}" for x in moment)}) m'
    return f'{mass:+.2f} kg{where} in the frame of the last link'
