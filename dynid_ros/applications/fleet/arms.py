"""The arms of a fleet: their bags, models and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
import re

import numpy as np

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
    THRESHOLDS,
    usual_scatter,
)
from dynid_ros.applications.fleet.drift import drifts, Series
from dynid_ros.applications.fleet.models import fleet_model, too_few_rows
from dynid_ros.applications.fleet.reduction import Reduction
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.sidecar import BagFacts
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.errors import InputError
from dynid_ros.estimation.calibration.loaded_rows import friction_names
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.standard_parameters import FROM_DATA
from dynid_ros.estimation.regression.weighted_least_squares import Solution, solve
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
    settings: FleetSettings, bags: Sequence[Bag], facts: Sequence[BagFacts],
    places: Sequence[str], reduction: Reduction, by: str | None,
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
    bags, facts, places : sequence
        Bags, their facts and the paths of their sidecars.
    reduction : Reduction
        Sums over sidecars.
    by : str or None
        Pattern of places with ``{arm}``.

    Returns
    -------
    arms : dict of str to ArmReport
        By name.
    whole : IdentifiedModel or None
        Model of all bags that belong, those of arms with another load left out.
    odd : list of (int, str, Difference)
        Bags that do not belong: number, arm and difference.
    series : tuple of Series
        Friction and gains over date.

    """
    arm = settings.arm
    groups = arms_of(bags, facts, by, arm.name)
    errors = np.array([np.nan if each.error_percent is None or each.fault else each.error_percent
                       for each in facts])
    doubtful = suspicious(errors)
    date = np.array([np.nan if each.date is None else each.date for each in facts])
    chosen = good = {name: ~doubtful[group] for name, group in groups.items()}
    # A fit to all bags follows those that do not belong, so that the others seem to differ. The
    # nearest half is found as by Rousseeuw and Van Driessen 1999, A fast algorithm for the minimum
    # covariance determinant estimator, Technometrics 41, and then all that do not stray are taken.
    for left in range(CONCENTRATION, -2, -1):
        reference = _reference(settings, reduction, *(
            [places[k] for name, group in groups.items() for k in np.array(group)[each[name]]]
            for each in (chosen, good)))
        features = {name: reduction.features([places[k] for k in group], reference)
                    for name, group in groups.items()}
        chosen = {name: nearest(each, left > 0) & good[name] for name, each in features.items()}
    usual = usual_scatter([each.part(good[name]) for name, each in features.items()])
    judged = {name: judge_arm(arm, each, date[groups[name]], usual, len(facts))
              for name, each in features.items()}
    others = other_loads({name: (features[name], judged[name]) for name in groups})
    odd = [(group[k], name, each) for name, group in groups.items()
           for k, each in sorted(judged[name].odd.items())]
    kept = {name: _kept(len(group), judged[name]) for name, group in groups.items()}
    reports = {}
    for name, group in groups.items():
        own = [group[k] for k in kept[name]]
        reports[name] = ArmReport(
            len(group), len(own), _model(settings, name, own, facts, places, reduction),
            _sentences(name, judged[name], others.get(name), len(own), date[group]))
    common = [groups[name][k] for name in groups if name not in others
              for k in range(len(groups[name]))
              if k not in judged[name].odd and not _changed(judged[name], k)]
    whole = reports[next(iter(groups))].model if len(groups) == 1 else _model(
        settings, 'the fleet', common, facts, places, reduction)
    series = _series(settings, groups, kept, features, date, places, reduction, reference)
    return reports, whole, odd, series


def arms_of(
    bags: Sequence[Bag], facts: Sequence[BagFacts], by: str | None, default: str,
) -> dict[str, list[int]]:
    """
    Group the usable bags by arm, each group in the order of dates.

    Parameters
    ----------
    bags, facts : sequence
        Bags and their facts.
    by : str or None
        Pattern such as ``{arm}/*``; without one, the ``recording.yaml`` of a bag names its arm.
    default : str
        Name of the arm where nothing names it.

    Raises
    ------
    InputError
        The pattern has no ``{arm}``, or no usable bag fits it.

    """
    pattern = None if by is None else place_pattern(by)
    groups: dict[str, list[int]] = {}
    for k, (bag, each) in enumerate(zip(bags, facts, strict=True)):
        found = pattern.fullmatch(bag.place) if pattern else None
        if each.fault or (pattern and found is None):
            continue
        name = found[1] if found else each.recorded_arm or default
        groups.setdefault(name, []).append(k)
    if not groups:
        raise InputError(f"no usable bag fits '{by}'; the first one lies at '{bags[0].place}'")
    return {name: sorted(groups[name], key=lambda k: (facts[k].date or 0.0, k))
            for name in sorted(groups)}


def place_pattern(by: str) -> re.Pattern[str]:
    """
    Read a pattern of places: ``{arm}`` is a name, ``*`` anything.

    Raises
    ------
    InputError
        It has no ``{arm}``, or several.

    """
    if by.count(ARM) != 1:
        raise InputError(f"the pattern must hold {ARM} once, as '{ARM}/*' does, not '{by}'")
    parts = (re.escape(part).replace(r'\*', '.*') for part in by.split(ARM))
    return re.compile('([^/]+)'.join(parts))


def day(date: float) -> str:
    """Write a date, s since 1970, as a day."""
    return f'{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}'


def _reference(
    settings: FleetSettings, reduction: Reduction, chosen: Sequence[str], good: Sequence[str],
) -> Solution:
    """Fit the bags that are chosen, or all good ones where those are too short."""
    data = reduction.merge(chosen) if chosen else None
    if data is None or data.rows.sum() <= len(settings.columns):
        data = reduction.merge(good) if good else None
    too_few_rows(data, len(settings.columns), 'the fleet')
    assert data is not None
    return solve(data, arm_prior(settings.arm))


def _kept(count: int, judged: ArmJudgement) -> list[int]:
    """Bags that the model of an arm is fitted to: of one that has changed, those since then."""
    return [k for k in range(count) if k not in judged.odd
            and (judged.change is None or _changed(judged, k))]


def _changed(judged: ArmJudgement, k: int) -> bool:
    return judged.change is not None and k >= judged.change.first


def _model(
    settings: FleetSettings, name: str, chosen: Sequence[int], facts: Sequence[BagFacts],
    places: Sequence[str], reduction: Reduction,
) -> IdentifiedModel | None:
    paths = [places[k] for k in chosen]
    data = reduction.merge(paths) if paths else None
    if data is None or data.rows.sum() <= len(settings.columns):
        return None
    solution = solve(data, arm_prior(settings.arm))
    return fleet_model(settings, name, [facts[k] for k in chosen], data, solution,
                       reduction.clustered(paths, solution))


def _sentences(
    name: str, judged: ArmJudgement, other: Array | None, used: int, date: Array,
) -> tuple[str, ...]:
    found = []
    if other is not None:
        found.append(
            f'{name} carries another load or tool than the other arms: {load_text(other)}')
    if judged.change is not None:
        found.append(
            f'the load of {name} changes on {day(date[judged.change.first])}: '
            f'{load_text(judged.load)}; its model is of the {used} bags since then')
    return tuple(found)


def _series(
    settings: FleetSettings, groups: Mapping[str, Sequence[int]],
    kept: Mapping[str, Sequence[int]], features: Mapping[str, Features],
    date: Array, places: Sequence[str], reduction: Reduction, reference: Solution,
) -> tuple[Series, ...]:
    """
    Follow friction and gains over date, friction beside inertias that all bags share.

    A bag without a date does not count, nor one that leaves a value to the prior.
    """
    arm, values = settings.arm, {}
    for name, group in groups.items():
        chosen = [k for k in kept[name] if np.isfinite(date[group[k]])]
        if len(chosen) < THRESHOLDS.fewest:
            continue
        own = [group[k] for k in chosen]
        friction, std, share = reduction.frictions([places[k] for k in own], reference)
        for k, coefficient in enumerate(friction_names(arm)):
            told = share[:, k] >= FROM_DATA
            values[name, coefficient] = (date[own][told], friction[told, k], std[told, k])
        for k in range(arm.n):
            values[name, f'gain {k + 1}'] = (
                date[own], 1 + features[name].gains[chosen, k], features[name].gain_std[chosen, k])
    return drifts(values)
