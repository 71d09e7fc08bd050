"""The arms of a fleet: their models, changes, and the bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.fleet.comparison import compare, Comparison, FEWEST, load_text
from dynid_ros.applications.fleet.deviations import deviations
from dynid_ros.applications.fleet.drift import DAY, drifts, Series
from dynid_ros.applications.fleet.models import fleet_model
from dynid_ros.applications.fleet.reduction import Reduction
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.sidecar import BagFacts
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.calibration.loaded_rows import friction_names
from dynid_ros.estimation.estimate.weights import solve
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Probability of any bag, or any arm, that differs in a fleet without faults.
CHANCE = 1e-2
#: Bags before and after a change of load, at least: fewer are odd bags.
SHORTEST = 3


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
class Odd:
    """Number of a bag that does not belong, its difference, and whether a load is all of it."""

    bag: int
    arm: str
    difference: str
    load: bool


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Bags of one arm between two changes, those that belong, and their comparison."""

    bags: Sequence[int]
    belongs: NDArray[np.bool_]
    compared: Comparison | None

    @property
    def own(self) -> list[int]:
        """Return the numbers of the bags that belong."""
        return [k for k, own in zip(self.bags, self.belongs, strict=True) if own]


def judged_fleet(
    settings: FleetSettings, facts: Sequence[BagFacts], groups: Mapping[str, Sequence[int]],
    sums: Reduction,
) -> tuple[dict[str, ArmReport], IdentifiedModel | None, list[Odd], tuple[Series, ...]]:
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
    arms : dict of str to ArmReport
        By name.
    whole : IdentifiedModel or None
        Model of all bags that belong, without the bags of arms that differ from the others.
    odd : list of Odd
        Bags that do not belong.
    series : tuple of Series
        Friction and gains over date.

    """
    # A bag without a date has NaN.
    date = np.array([each.date for each in facts], dtype=float)
    judged = {name: _stretches(settings, sums, bags, date, CHANCE / len(facts))
              for name, bags in groups.items()}
    others = _other_arms(settings, sums, {
        name: stretches[0].own for name, (stretches, _) in judged.items()})
    reports, odd = {}, []
    values: dict[tuple[str, str], tuple[Array, Array]] = {}
    for name, (stretches, load) in judged.items():
        last, sentences = stretches[-1], []
        if name in others:
            sentences.append(f'{name} {others[name]}')
        if load:
            sentences.append(
                f'the load of {name} changes on {day(date[last.bags[0]])}: {load}; its model is '
                f'of the {len(last.own)} bags since then')
        reports[name] = ArmReport(
            len(groups[name]), len(last.own), _model(settings, name, last.own, facts, sums),
            tuple(sentences))
        values |= _series(settings, name, last, date)
        odd += [Odd(k, name, each.compared.difference(place), bool(each.compared.loaded[place]))
                for each in stretches if each.compared
                for place, k in enumerate(each.bags) if not each.belongs[place]]
    common = [k for name, (stretches, _) in judged.items() if name not in others
              for k in stretches[0].own]
    alone = len(groups) == 1
    whole = reports[next(iter(groups))].model if alone else _model(
        settings, 'the fleet', common, facts, sums)
    return reports, whole, odd, drifts(values)


def day(date: float) -> str:
    """Write a date, s since 1970, as a day."""
    return f'{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}'


def _stretches(
    settings: FleetSettings, sums: Reduction, bags: Sequence[int], date: Array, chance: float,
) -> tuple[list[_Stretch], str]:
    """Divide the bags of an arm where its load changes, and describe that change."""
    every = _compared(sums, bags, chance)
    first = _change(every, date)
    if not first or every.compared is None:
        return [every], ''
    before, after = bags[:first], bags[first:]
    # Of the fit to the larger part, the other one deviates.
    later = every.belongs[0]
    moved = sums.merge(after if later else before)
    load = deviations([moved], settings.arm, every.compared.fit, False).load[0]
    return ([_compared(sums, part, chance) for part in (before, after)],
            load_text(load if later else -load))


def _compared(sums: Reduction, bags: Sequence[int], chance: float) -> _Stretch:
    if len(bags) < FEWEST:
        return _Stretch(bags, np.ones(len(bags), dtype=np.bool_), None)
    compared = compare(sums, bags, chance)
    return _Stretch(bags, ~compared.odd, compared)


def _change(stretch: _Stretch, date: Array) -> int:
    """
    Find the first bag after a change of load; zero without one.

    It is one where all bags up to a date, or all since then, carry another load than the others,
    on two days or more: what an arm carries for a part of a day is no change of it.
    """
    if stretch.compared is None:
        return 0
    when, belongs = np.floor(date[stretch.bags] / DAY), np.append(stretch.belongs, True)
    last = len(when) - int(np.argmax(np.append(stretch.belongs[::-1], True)))
    start = int(np.argmax(belongs))
    for first, own in ((last, slice(last, None)), (start, slice(0, start))):
        before, after = when[:first], when[first:]
        if (min(len(before), len(after)) >= SHORTEST and np.ptp(before) > 0 < np.ptp(after)
                and stretch.compared.loaded[own].mean() > 0.5):
            return first
    return 0


def _other_arms(
    settings: FleetSettings, sums: Reduction, groups: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    """Compare arms as bags are compared, and describe those that differ from the others."""
    if len(groups) < FEWEST:
        return {}
    arms = Reduction(settings, [sums.merge(bags) for bags in groups.values()])
    found = compare(arms, range(len(groups)), CHANCE / len(groups))
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
    settings: FleetSettings, name: str, stretch: _Stretch, date: Array,
) -> dict[tuple[str, str], tuple[Array, Array]]:
    """Return friction and gains of the bags that belong and have a date, over it."""
    when = date[stretch.bags]
    chosen = stretch.belongs & np.isfinite(when)
    if stretch.compared is None or chosen.sum() < FEWEST:
        return {}
    found = stretch.compared.found
    names = [*friction_names(settings.arm), *(f'gain {k + 1}' for k in range(settings.arm.n))]
    values = np.hstack([found.friction, found.gains])[chosen]
    return {(name, each): (when[chosen], column)
            for each, column in zip(names, values.T, strict=True)}
