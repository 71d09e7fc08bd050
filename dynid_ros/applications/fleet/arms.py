# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms of a fleet: their models, changes, and the bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid_ros.applications.fleet.cluster import Spread
from dynid_ros.applications.fleet.comparison import (
    compare,
    Comparison,
    Factors,
    FEWEST_COMPARED,
    load_text,
    merged,
)
from dynid_ros.applications.fleet.deviations import coefficient_names, deviations
from dynid_ros.applications.fleet.drift import DAY, day
from dynid_ros.applications.fleet.models import changes, fleet_model
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.summary import stored_factors, StoredBag
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import ResultError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array

#: Probability that any bag or arm is reported in a fleet without faults.
FALSE_ACCUSATION = 1e-2
#: Fewest bags before and after a change of load: fewer are odd bags.
FEWEST_WITH_LOAD = 3


@dataclass(frozen=True)
class OddBag:
    """
    A bag that does not belong.

    Attributes
    ----------
    name, arm : str
        Bag and arm.
    difference : str
        Difference from the other bags of its arm.
    loaded : bool
        Whether a load explains it.
    findings : tuple of Finding
        Its cause; empty if the table of suspects reports none.

    """

    name: str
    arm: str
    difference: str
    loaded: bool
    findings: tuple[Finding, ...] = ()

    @property
    def sentence(self) -> str:
        """State the difference and its cause."""
        return '; '.join([f'{self.name}: {self.difference}',
                          *(finding.sentence for finding in self.findings)])


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
    odd : tuple of OddBag
        Bags that do not belong.
    series : dict of str to ((B,) ndarray, (B,) ndarray)
        Dates and values of friction and gains; values are NaN where a bag leaves them open.
    usual : list of StoredBag
        Bags that are not odd, before a change of load.
    factors : QRFactors
        Their factors.

    """

    bags: int
    used: int
    model: IdentifiedModel | None
    sentences: tuple[str, ...]
    odd: tuple[OddBag, ...]
    series: dict[str, tuple[Array, Array]]
    usual: list[StoredBag]
    factors: QRFactors


def judge_arms(
    settings: FleetSettings, groups: Mapping[str, Sequence[StoredBag]], spread: Spread,
) -> tuple[dict[str, ArmReport], IdentifiedModel | None]:
    """
    Fit the arms, and find changes and bags that do not belong.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    groups : mapping of str to sequence of StoredBag
        Bags of each arm, in the order of their dates.
    spread : Spread
        Where the work is done: each arm is one task.

    Returns
    -------
    dict of str to ArmReport, IdentifiedModel or None
        Arms by name; the model of all usual bags after a change of load, without arms that differ
        from the others.

    """
    chance = FALSE_ACCUSATION / sum(map(len, groups.values()))
    reports: dict[str, ArmReport] = dict(zip(groups, _finished(spread('arms', judge_arm, {
        k: (settings, *group, chance) for k, group in enumerate(groups.items())})), strict=True))
    if len(reports) == 1:
        return reports, next(iter(reports.values())).model
    different = _different(settings.arm, reports)
    alike = [report for name, report in reports.items() if name not in different]
    reports |= {name: replace(reports[name], sentences=(text, *reports[name].sentences))
                for name, text in different.items()}

    def without_each(solution: Solution) -> tuple[Array, Array]:
        parts = _finished(spread('model of all', stored_changes, {
            k: (settings, report.usual, solution) for k, report in enumerate(alike)}))
        own, left = zip(*parts, strict=True)
        return np.concatenate(own), np.concatenate(left)

    return reports, fleet_model(
        settings, 'the fleet', [facts for report in alike for facts, _ in report.usual],
        merged(report.factors for report in alike), without_each)


def _finished(results: Mapping[int, Any]) -> list[Any]:
    if any(result is None for result in results.values()):
        raise ResultError('workers died while merging sidecars; give them more memory')
    return [results[k] for k in sorted(results)]


def judge_arm(
    settings: FleetSettings, name: str, bags: Sequence[StoredBag], chance: float,
) -> ArmReport:
    """Judge one arm by the sidecars of its bags."""
    facts = [each for each, _ in bags]
    factors = stored_factors(bags, settings.columns)
    # A bag without a date has NaN.
    date = np.array([each.date for each in facts], dtype=float)
    stretches, load = _stretches(settings.arm, factors, date, chance)
    last, usual = stretches[-1], stretches[0].usual
    data = merged(map(factors, usual))
    sentences = (
        f'the load of {name} changes on {day(date[last.bags[0]])}: {load}; its model is of the '
        f'{len(last.usual)} bags since then',) if load else ()
    model = fleet_model(
        settings, name, [facts[k] for k in last.usual],
        merged(map(factors, last.usual)) if load else data,
        lambda solution: changes(map(factors, last.usual), solution))
    odd = tuple(
        OddBag(facts[each.bags[k]].name, name, each.difference(k), bool(each.loaded[k]))
        for each in stretches for k in np.flatnonzero(each.odd).tolist())
    return ArmReport(
        len(bags), len(last.usual), model, sentences, odd, _series(settings.arm, last, date),
        [bags[k] for k in usual], data)


def stored_changes(
    settings: FleetSettings, bags: Sequence[StoredBag], solution: Solution,
) -> tuple[Array, Array]:
    """Return the result of `changes` for the sidecars of bags."""
    factors = stored_factors(bags, settings.columns)
    return changes(map(factors, range(len(bags))), solution)


def _stretches(
    arm: ArmModel, factors: Factors, date: Array, chance: float,
) -> tuple[list[Comparison], str]:
    """Divide the bags of an arm where its load changes, and describe that change."""
    bags = range(len(date))
    every = compare(arm, factors, bags, chance)
    first = _change(every, np.floor(date / DAY))
    if not first:
        return [every], ''
    before, after = bags[:first], bags[first:]
    # Compare one side with the fit to the other.
    sign, moved = (-1, before) if every.odd[0] else (1, after)
    load = deviations([merged(map(factors, moved))], arm, every.fit, [False]).load[0]
    return [compare(arm, factors, part, chance) for part in (before, after)], load_text(
        sign * load)


def _change(every: Comparison, days: Array) -> int:
    """
    Find the first bag after a change of load; zero without one.

    All bags up to a date, or all since then, carry another load than the others, on two days or
    more: a load of part of a day does not count.
    """
    belongs = np.flatnonzero(~every.odd)
    for first, own in ((int(belongs[0]), slice(0, belongs[0])),
                       (int(belongs[-1]) + 1, slice(belongs[-1] + 1, None))):
        before, after = days[:first], days[first:]
        if (min(len(before), len(after)) >= FEWEST_WITH_LOAD and np.ptp(before) > 0 < np.ptp(after)
                and every.loaded[own].mean() > 0.5):
            return first
    return 0


def _different(arm: ArmModel, reports: Mapping[str, ArmReport]) -> dict[str, str]:
    """Compare arms as bags are compared, and describe those that differ from the others."""
    if len(reports) < FEWEST_COMPARED:
        return {}
    names, arms = list(reports), [report.factors for report in reports.values()]
    found = compare(arm, arms.__getitem__, range(len(arms)), FALSE_ACCUSATION / len(arms))
    return {names[k]: f'{names[k]} carries another load or tool than the other arms: '
            f'{load_text(found.found.load[k])}' if found.loaded[k]
            else f'{names[k]} differs from the other arms: {found.difference(k)}'
            for k in np.flatnonzero(found.odd).tolist()}


def _series(
    arm: ArmModel, bags: Comparison, date: Array,
) -> dict[str, tuple[Array, Array]]:
    """Return friction and gains of the bags that belong and have a date, over it."""
    when = date[bags.bags]
    chosen = ~bags.odd & np.isfinite(when)
    if chosen.sum() < FEWEST_COMPARED:
        return {}
    return {name: (when[chosen], values) for name, values in zip(
        coefficient_names(arm), bags.found.coefficients[chosen].T, strict=True)}
