"""The arms of a fleet: their bags, models and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
import re

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.fleet.bag_features import Features
from dynid_ros.applications.fleet.bags import Bag
from dynid_ros.applications.fleet.belonging import (
    ArmJudgement,
    Difference,
    judge_arm,
    load_text,
    nearest,
    other_loads,
    suspicious,
    usual_scatter,
)
from dynid_ros.applications.fleet.drift import drifts, FEWEST, Series
from dynid_ros.applications.fleet.models import fleet_model
from dynid_ros.applications.fleet.reduction import Reduction
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.sidecar import BagFacts
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.calibration.loaded_rows import friction_names
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

ARM = '{arm}'
#: Refits to the half of the bags that is nearest to the others.
CONCENTRATION = 2


@dataclass(frozen=True, eq=False)
class ArmReport:
    """
    One arm.

    Attributes
    ----------
    bags : int
        Bags that could be read.
    used : int
        Bags that its model is fitted to.
    model : IdentifiedModel or None
        None with too few rows.
    sentences : tuple of str
        Changes, and differences from the other arms.

    """

    bags: int
    used: int
    model: IdentifiedModel | None
    sentences: tuple[str, ...]


def judged_fleet(
    settings: FleetSettings, facts: Sequence[BagFacts], groups: Mapping[str, Sequence[int]],
    reduction: Reduction,
) -> tuple[
    dict[str, ArmReport], IdentifiedModel | None, list[tuple[int, str, Difference]],
    tuple[Series, ...],
]:
    """
    Fit the arms, and find changes and bags that do not belong.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    facts : sequence of BagFacts
        The bags.
    groups : mapping of str to sequence of int
        Bags of each arm, from `arms_of`.
    reduction : Reduction
        Sums over their sidecars.

    Returns
    -------
    arms : dict of str to ArmReport
        By name.
    whole : IdentifiedModel or None
        Model of all bags that belong, without the bags of arms with another load.
    odd : list of (int, str, Difference)
        Bags that do not belong: number, arm and difference.
    series : tuple of Series
        Friction and gains over date.

    """
    doubtful = suspicious(np.array([each.error_percent for each in facts]))
    # A bag without a date has NaN.
    date = np.array([each.date for each in facts], dtype=float)
    chosen = good = {name: ~doubtful[group] for name, group in groups.items()}
    # A fit to all bags follows those that do not belong, so that the others seem to differ. The
    # nearest half is found as by Rousseeuw and Van Driessen 1999, A fast algorithm for the minimum
    # covariance determinant estimator, Technometrics 41, and then all that do not stray are taken.
    for left in range(CONCENTRATION, -2, -1):
        reference = _reference(settings, reduction, *(
            [k for name, group in groups.items() for k in np.array(group)[each[name]]]
            for each in (chosen, good)))
        features = {name: reduction.features(group, reference) for name, group in groups.items()}
        chosen = {name: nearest(each, left > 0) & good[name] for name, each in features.items()}
    usual = usual_scatter([each.part(good[name]) for name, each in features.items()])
    judged = {name: judge_arm(settings.arm, each, date[groups[name]], usual, len(facts))
              for name, each in features.items()}
    others = other_loads({name: (features[name], judged[name]) for name in groups})
    odd = [(group[k], name, each) for name, group in groups.items()
           for k, each in sorted(judged[name].odd.items())]
    reports, common = {}, []
    values: dict[tuple[str, str], tuple[Array, Array, Array]] = {}
    for name, group in groups.items():
        found, belong = judged[name], [k for k in range(len(group)) if k not in judged[name].odd]
        # The model of an arm that has changed is fitted to the bags since then.
        kept = [k for k in belong if k >= found.since]
        own = [group[k] for k in kept]
        reports[name] = ArmReport(
            len(group), len(own), _model(settings, name, own, facts, reduction),
            _sentences(name, found, others.get(name), len(own), date[group]))
        if name not in others:
            common += [group[k] for k in belong if not found.since or k < found.since]
        values |= _series(settings, name, np.array(kept)[np.isfinite(date[own])],
                          np.array(group), features[name], date, reduction, reference)
    whole = reports[name].model if len(groups) == 1 else _model(
        settings, 'the fleet', common, facts, reduction)
    return reports, whole, odd, drifts(values)


def arms_of(
    owners: Sequence[str | None], facts: Sequence[BagFacts], default: str,
) -> dict[str, list[int]]:
    """
    Group the usable bags by arm, each group in the order of dates.

    Parameters
    ----------
    owners : sequence of (str or None)
        Arm by the place of each bag, from `owners`.
    facts : sequence of BagFacts
        The bags; where the place names no arm, their ``recording.yaml`` does.
    default : str
        Name of the arm where nothing names it.

    """
    groups: dict[str, list[int]] = {}
    for k, (owner, each) in enumerate(zip(owners, facts, strict=True)):
        if owner is not None and not each.fault:
            groups.setdefault(owner or each.recorded_arm or default, []).append(k)
    return {name: sorted(groups[name], key=lambda k: (facts[k].date or 0.0, k))
            for name in sorted(groups)}


def owners(bags: Sequence[Bag], by: str | None) -> list[str | None]:
    """
    Name the arm of each bag by its place.

    Parameters
    ----------
    bags : sequence of Bag
        The bags.
    by : str or None
        Pattern of places such as ``{arm}/*``: ``{arm}`` is a name, ``*`` anything.

    Returns
    -------
    list of (str or None)
        Empty without a pattern, and None for bags that do not fit it.

    Raises
    ------
    InputError
        The pattern has no ``{arm}``, or several, or no bag fits it.

    """
    if by is None:
        return [''] * len(bags)
    if by.count(ARM) != 1:
        raise InputError(f"the pattern must hold {ARM} once, as '{ARM}/*' does, not '{by}'")
    parts = (re.escape(part).replace(r'\*', '.*') for part in by.split(ARM))
    pattern = re.compile('([^/]+)'.join(parts))
    found = [pattern.fullmatch(bag.place) for bag in bags]
    if not any(found):
        raise InputError(f"no bag fits '{by}'; the first one lies at '{bags[0].place}'")
    return [each and each[1] for each in found]


def day(date: float) -> str:
    """Write a date, s since 1970, as a day."""
    return f'{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}'


def _reference(
    settings: FleetSettings, reduction: Reduction, chosen: Sequence[int], good: Sequence[int],
) -> Solution:
    """Fit the bags that are chosen, or all good ones where those are too short."""
    parameters = len(settings.columns)
    for bags in (chosen, good):
        data = reduction.merge(bags)
        if data.rows.sum() > parameters:
            return solve(data, arm_prior(settings.arm))
    raise RecordingError(
        f'the fleet: the good bags have {data.rows.sum()} rows after filtering, too few for '
        f'{parameters} parameters; record longer motions')


def _model(
    settings: FleetSettings, name: str, bags: Sequence[int], facts: Sequence[BagFacts],
    reduction: Reduction,
) -> IdentifiedModel | None:
    data = reduction.merge(bags)
    if data.rows.sum() <= len(settings.columns):
        return None
    solution = solve(data, arm_prior(settings.arm))
    changes, left = reduction.changes(bags, solution)
    return fleet_model(settings, name, [facts[k] for k in bags], data, solution, changes, left)


def _sentences(
    name: str, judged: ArmJudgement, other: Array | None, used: int, date: Array,
) -> tuple[str, ...]:
    found = []
    if other is not None:
        found.append(
            f'{name} carries another load or tool than the other arms: {load_text(other)}')
    if judged.since:
        found.append(
            f'the load of {name} changes on {day(date[judged.since])}: '
            f'{load_text(judged.load)}; its model is of the {used} bags since then')
    return tuple(found)


def _series(
    settings: FleetSettings, name: str, chosen: NDArray[np.intp], group: NDArray[np.intp],
    features: Features, date: Array, reduction: Reduction, reference: Solution,
) -> dict[tuple[str, str], tuple[Array, Array, Array]]:
    """
    Return friction and gains of an arm with the dates of its bags.

    Friction is that beside inertias that all bags share; a bag that leaves a value to the prior
    does not count.
    """
    if len(chosen) < FEWEST:
        return {}
    own, values = group[chosen], {}
    friction, std, share = reduction.frictions(own.tolist(), reference)
    for k, coefficient in enumerate(friction_names(settings.arm)):
        known = share[:, k] >= FROM_DATA
        values[name, coefficient] = (date[own][known], friction[known, k], std[known, k])
    for k in range(settings.arm.n):
        values[name, f'gain {k + 1}'] = (
            date[own], 1 + features.gains[chosen, k], features.gain_std[chosen, k])
    return values
