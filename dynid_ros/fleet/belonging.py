"""Arms that have changed, arms that differ from the others, and bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.fleet.bag_features import feature_names, Features, LOAD
from dynid_ros.fleet.drift import colour, find_step, scatter, Step

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BelongingThresholds:
    """
    Bounds of bags and arms that belong.

    Attributes
    ----------
    fewest : int
        Bags of an arm, and arms of a fleet, from which their scatter is known.
    shortest : int
        Bags before and after a change, at least: fewer are odd bags.
    bag : float
        Standard deviations from its arm from which a bag does not belong. Ten thousand bags of
        30 normal values each reach 5.1; the rest is for tails of real bags.
    left : float
        The same of the logarithm of the residual, and the ratio to the usual one that goes with
        it: short bags with much standstill fit a little worse.
    worse : float
        See ``left``.
    own_error : float
        Error of the fit to a bag alone, by the usual one of the fleet, from which it does not
        take part in the reference.
    change : float
        Standard errors of a change of load. The largest of 4 values, 500 moments and 1000 arms
        that do not change reaches 5.1.
    seen : float
        The same by the deviation of a single bag: the mean of many shows changes that matter to
        nobody.
    other : float
        Standard deviations from the other arms from which an arm carries something else.

    """

    fewest: int = 5
    shortest: int = 3
    bag: float = 7.0
    left: float = 7.0
    worse: float = 1.5
    own_error: float = 3.0
    change: float = 6.5
    seen: float = 2.0
    other: float = 6.5


THRESHOLDS = BelongingThresholds()


@dataclass(frozen=True, eq=False)
class ArmJudgement:
    """
    One arm of a fleet.

    Attributes
    ----------
    odd : dict of int to str
        Bags that do not belong, and their differences.
    change : Step or None
        From which bag on the arm carries another load.
    load : (4,) ndarray
        Change of mass (kg) and first moments (kg m), zero without one.
    other : (4,) ndarray or None
        Load by which it differs from the other arms, if it does.

    """

    odd: dict[int, str]
    change: Step | None
    load: Array
    other: Array | None = None


def suspicious(errors: Array) -> NDArray[np.bool_]:
    """Mark bags that not even a fit of their own explains; NaN counts as usual."""
    usual = float(np.nanmedian(errors)) if np.isfinite(errors).any() else 0.0
    return np.asarray(np.nan_to_num(errors) > THRESHOLDS.own_error * max(usual, 1.0))


def judge_arm(arm: ArmModel, bags: Features, usual: tuple[Array, Array]) -> ArmJudgement:
    """
    Find the change of an arm, and its bags that do not belong.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    bags : Features
        Its bags in the order of their dates.
    usual : tuple
        Scatter of bags in the whole fleet, from `usual_scatter`.

    """
    (usual_far, usual_colour), count, loads = usual, len(bags.values), len(LOAD)
    if count < THRESHOLDS.fewest:
        return ArmJudgement({}, None, np.zeros(loads))
    change = _change(bags, usual_colour)
    segments = [np.arange(count)]
    if change is not None:
        segments = [np.arange(change.first), np.arange(change.first, count)]
    deviations = _deviations(bags, segments)
    own = np.array([scatter(column[np.isfinite(column)]) for column in deviations.T])
    far = np.abs(deviations) / np.maximum(own, usual_far)
    names, limit = feature_names(arm), np.full(far.shape[1], THRESHOLDS.bag)
    limit[len(names):] = THRESHOLDS.left
    far[:, len(names):][deviations[:, len(names):] < np.log(THRESHOLDS.worse)] = 0.0
    far = np.nan_to_num(far) / limit
    odd = {int(k): _difference(arm, names, int(np.argmax(far[k])), bags, int(k), deviations)
           for k in np.flatnonzero((far > 1).any(axis=1))}
    load = np.zeros(loads)
    if change is not None:
        load = np.array([
            np.nanmedian(bags.values[segments[1], k]) - np.nanmedian(bags.values[segments[0], k])
            for k in range(loads)])
    return ArmJudgement(odd, change, load)


def usual_scatter(fleet: Sequence[Features]) -> tuple[Array, Array]:
    """
    Return the median over the arms of the scatter of their bags.

    Returns
    -------
    scatter : (F + n,) ndarray
        Of the values by their own deviations, and of the logarithm of the residuals.
    colour : (4,) ndarray
        Differences of the load between neighbours by date, by their own deviations.

    """
    known = [bags for bags in fleet if len(bags.values) >= THRESHOLDS.fewest]
    if not known:
        features = fleet[0].values.shape[1] + fleet[0].left.shape[1]
        return np.ones(features), np.ones(len(LOAD))
    deviations = [_deviations(bags, [np.arange(len(bags.values))]) for bags in known]
    own = [[scatter(column[np.isfinite(column)]) for column in each.T] for each in deviations]
    colours = [[colour(*pair) for pair in zip(bags.values.T[:len(LOAD)], bags.std.T, strict=False)]
               for bags in known]
    # A median absolute deviation of N normal values has a relative deviation of 1.17 / sqrt(N).
    unsure = 1 + 3.1 * 1.17 / np.sqrt(sum(len(bags.values) for bags in known))
    return (unsure * np.maximum(np.median(own, axis=0), 1e-12),
            unsure * np.nan_to_num(np.median(colours, axis=0), nan=1.0))


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
        Load of these arms beyond that of the others, before their change, if there is one.

    """
    levels, errors, single = {}, {}, {}
    for name, (bags, judged) in fleet.items():
        stop = len(bags.values) if judged.change is None else judged.change.first
        kept = np.array([k for k in range(stop) if k not in judged.odd], dtype=np.intp)
        values, std = (array[kept, :len(LOAD)] for array in (bags.values, bags.std))
        if len(kept) < THRESHOLDS.shortest or not np.isfinite(values).all():
            continue
        own = std * np.array([colour(*pair) for pair in zip(values.T, std.T, strict=True)])
        levels[name], single[name] = np.median(values, axis=0), np.median(own, axis=0)
        # The median is less sure than the mean, by the root of pi / 2.
        errors[name] = np.sqrt(np.pi / 2 / len(kept)) * single[name]
    if len(levels) < THRESHOLDS.fewest:
        return {}
    every = np.array(list(levels.values()))
    usual = np.median(every, axis=0)
    between = np.array([scatter(column) for column in (every - usual).T])
    found = {}
    for name, level in levels.items():
        away = np.abs(level - usual)
        far = away / np.hypot(between, errors[name])
        if ((far > THRESHOLDS.other) & (away > THRESHOLDS.seen * single[name])).any():
            found[name] = level - usual
    return found


def _change(bags: Features, colours: Array) -> Step | None:
    """Find the clearest step of the load, if there is one that counts."""
    steps = []
    for k, least in enumerate(colours.tolist()):
        values, std = bags.values[:, k], bags.std[:, k]
        if np.isfinite(values).all():
            step = find_step(values, std, THRESHOLDS.shortest, least)
            if step and step.standard_errors > THRESHOLDS.change and step.seen > THRESHOLDS.seen:
                steps.append(step)
    return max(steps, key=lambda step: step.standard_errors, default=None)


def _deviations(bags: Features, segments: Sequence[NDArray[np.intp]]) -> Array:
    """Return values by their own deviation, and log residuals, less their median, (B, F + n)."""
    result = np.full((len(bags.values), bags.values.shape[1] + bags.left.shape[1]), np.nan)
    with np.errstate(divide='ignore', invalid='ignore'):
        left = np.log(bags.left)
    left[~np.isfinite(left)] = np.nan
    for part in segments:
        values = bags.values[part]
        for k, column in enumerate(values.T):
            if np.isfinite(column).any():
                result[part, k] = (column - np.nanmedian(column)) / bags.std[part, k]
        for k, column in enumerate(left[part].T):
            if np.isfinite(column).any():
                result[part, values.shape[1] + k] = column - np.nanmedian(column)
    return result


def _difference(
    arm: ArmModel, names: Sequence[str], worst: int, bags: Features, k: int, deviations: Array,
) -> str:
    """Describe the largest difference of a bag from the others of its arm."""
    if worst >= len(names):
        joint = worst - len(names)
        return (f'{arm.joint_names[joint]} leaves {np.exp(deviations[k, worst]):.3g} times the '
                'usual torque unexplained')
    by = deviations[k, worst] * bags.std[k, worst]
    name = names[worst]
    if name.startswith('load'):
        return f'load: {name.removeprefix("load ")} differs by {by:+.3g} {_unit(name)}'
    if name.startswith('gain'):
        joint_name = arm.joint_names[int(name.split()[1]) - 1]
        return f'the torque of {joint_name} is {100 * by:+.0f} % of that of its other bags'
    return f'friction: {name} differs by {by:+.3g}'


def _unit(name: str) -> str:
    return 'kg' if name == 'load m' else 'kg m'
