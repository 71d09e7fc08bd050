# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms of a fleet: their models, changes, and the bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from dynid_ros.applications.fleet.comparison import compare, Comparison, FEWEST_COMPARED, load_text
from dynid_ros.applications.fleet.deviations import deviations
from dynid_ros.applications.fleet.drift import DAY, drifts, Series
from dynid_ros.applications.fleet.models import fleet_model
from dynid_ros.applications.fleet.reduction import Reduction
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.sidecar import BagFacts
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.load_columns import friction_names
from dynid_ros.estimation.estimate.weights import solve
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array

#: Probability of any bag, or any arm, that differs in a fleet without faults.
FALSE_ACCUSATION = 1e-2
#: Bags before and after a change of load, at least: fewer are odd bags.
FEWEST_WITH_LOAD = 3


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


@dataclass(frozen=True)
class OddBag:
    """
    A bag that does not belong.

    Attributes
    ----------
    number : int
        Of the bag.
    name, arm : str
        Bag and arm.
    difference : str
        Difference from the other bags of its arm.
    loaded : bool
        Whether a load is all of it.
    findings : tuple of Finding
        Its cause; empty if the table of suspects reports none.

    """

    number: int
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


def judged_fleet(
    settings: FleetSettings, facts: Sequence[BagFacts], groups: Mapping[str, Sequence[int]],
    sums: Reduction,
) -> tuple[dict[str, ArmReport], IdentifiedModel | None, list[OddBag], tuple[Series, ...]]:
    """
    Fit the arms, and find changes and bags that do not belong.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    facts : sequence of BagFacts
        The bags.
    groups : mapping of str to sequence of int
        Bags of each arm, in the order of their dates.
    sums : Reduction
        Sums over their sidecars.

    Returns
    -------
    dict of str to ArmReport, IdentifiedModel or None, list of OddBag, tuple of Series
        Arms by name; the model of all bags that belong but those of arms that differ from the
        others; bags that do not belong; friction and gains over date.

    """
    # A bag without a date has NaN.
    date = np.array([each.date for each in facts], dtype=float)
    judged = {name: _stretches(settings, sums, bags, date, FALSE_ACCUSATION / len(facts))
              for name, bags in groups.items()}
    others = _other_arms(settings, sums, {
        name: stretches[0].usual for name, (stretches, _) in judged.items()})
    reports: dict[str, ArmReport] = {}
    odd: list[OddBag] = []
    values: dict[tuple[str, str], tuple[Array, Array]] = {}
    for name, (stretches, load) in judged.items():
        last, own = stretches[-1], stretches[-1].usual
        sentences = [f'{name} {others[name]}'] if name in others else []
        if load:
            sentences.append(
                f'the load of {name} changes on {day(date[last.bags[0]])}: {load}; its model is '
                f'of the {len(own)} bags since then')
        reports[name] = ArmReport(
            len(groups[name]), len(own), _model(settings, name, own, facts, sums),
            tuple(sentences))
        values |= _series(settings, name, last, date)
        odd += [OddBag(each.bags[k], facts[each.bags[k]].name, name, each.difference(k),
                       bool(each.loaded[k]))
                for each in stretches for k in np.flatnonzero(each.odd).tolist()]
    common = [k for name, (stretches, _) in judged.items() if name not in others
              for k in stretches[0].usual]
    alone = len(groups) == 1
    whole = reports[next(iter(groups))].model if alone else _model(
        settings, 'the fleet', common, facts, sums)
    return reports, whole, odd, drifts(values)


def day(date: float) -> str:
    """Write a date, s since 1970, as a day."""
    return f'{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}'


def _stretches(
    settings: FleetSettings, sums: Reduction, bags: Sequence[int], date: Array, chance: float,
) -> tuple[list[Comparison], str]:
    """Divide the bags of an arm where its load changes, and describe that change."""
    every = compare(sums, bags, chance)
    first = _change(every, np.floor(date[bags] / DAY))
    if not first:
        return [every], ''
    before, after = bags[:first], bags[first:]
    # One side deviates from the fit to the other.
    sign, moved = (-1, before) if every.odd[0] else (1, after)
    load = deviations([sums.merge(moved)], settings.arm, every.fit, False).load[0]
    return [compare(sums, part, chance) for part in (before, after)], load_text(sign * load)


def _change(every: Comparison, days: Array) -> int:
    """
    Find the first bag after a change of load; zero without one.

    It is one where all bags up to a date, or all since then, carry another load than the others,
    on two days or more: what an arm carries for a part of a day is no change of it.
    """
    belongs = np.flatnonzero(~every.odd)
    for first, own in ((int(belongs[0]), slice(0, belongs[0])),
                       (int(belongs[-1]) + 1, slice(belongs[-1] + 1, None))):
        before, after = days[:first], days[first:]
        if (min(len(before), len(after)) >= FEWEST_WITH_LOAD and np.ptp(before) > 0 < np.ptp(after)
                and every.loaded[own].mean() > 0.5):
            return first
    return 0


def _other_arms(
    settings: FleetSettings, sums: Reduction, groups: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    """Compare arms as bags are compared, and describe those that differ from the others."""
    if len(groups) < FEWEST_COMPARED:
        return {}
    arms = Reduction(settings, [sums.merge(bags) for bags in groups.values()])
    found = compare(arms, range(len(groups)), FALSE_ACCUSATION / len(groups))
    return {name: ('carries another load or tool than the other arms: '
                   f'{load_text(found.found.load[k])}' if found.loaded[k]
                   else f'differs from the other arms: {found.difference(k)}')
            for k, name in enumerate(groups) if found.odd[k]}


def _model(
    settings: FleetSettings, name: str, bags: Sequence[int], facts: Sequence[BagFacts],
    sums: Reduction,
) -> IdentifiedModel | None:
    data = sums.merge(bags)
    if data.rows.sum() <= len(settings.columns):
        return None
    solution = solve(data, arm_prior(settings.arm))
    changes, left = sums.changes(bags, solution)
    return fleet_model(settings, name, [facts[k] for k in bags], data, solution, changes, left)


def _series(
    settings: FleetSettings, name: str, bags: Comparison, date: Array,
) -> dict[tuple[str, str], tuple[Array, Array]]:
    """Return friction and gains of the bags that belong and have a date, over it."""
    when = date[bags.bags]
    chosen = ~bags.odd & np.isfinite(when)
    if chosen.sum() < FEWEST_COMPARED:
        return {}
    names = [*friction_names(settings.arm), *(f'gain {k + 1}' for k in range(settings.arm.n))]
    values = np.hstack([bags.found.friction, bags.found.gains])[chosen]
    return {(name, each): (when[chosen], column)
            for each, column in zip(names, values.T, strict=True)}
