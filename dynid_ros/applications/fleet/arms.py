# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms of a fleet: their models, changes, and the bags that do not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from dynid_ros.applications.fleet.bags import Bag
from dynid_ros.applications.fleet.comparison import (
    coefficient_names,
    compare,
    Comparison,
    deviations,
    FEWEST_COMPARED,
    load_text,
    Mask,
    merged,
)
from dynid_ros.applications.fleet.drift import DAY, day
from dynid_ros.applications.fleet.models import fleet_model
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.summary import stored_factors
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.weights import solve
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array

#: Fewest bags before and after a change of load: fewer are odd bags.
FEWEST_WITH_LOAD = 3


@dataclass(frozen=True)
class OddBag:
    """
    A bag that does not belong.

    Attributes
    ----------
    bag : Bag
        The bag.
    arm : str
        Its arm.
    difference : str
        Difference from the other bags of its arm.
    loaded : bool
        Whether a load explains it.
    findings : tuple of Finding
        Its cause; empty if the table of suspects reports none.

    """

    bag: Bag
    arm: str
    difference: str
    loaded: bool
    findings: tuple[Finding, ...] = ()

    @property
    def sentence(self) -> str:
        """State the difference and its cause."""
        return '; '.join([f'{self.bag.name}: {self.difference}',
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
    usual : list of Bag
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
    usual: list[Bag]
    factors: QRFactors


def judge_arm(
    settings: FleetSettings, name: str, bags: Sequence[Bag], chance: float,
) -> ArmReport:
    """
    Judge one arm by the sidecars of its bags.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    name : str
        The arm.
    bags : sequence of Bag
        Its bags, in the order of their dates.
    chance : float
        Probability that a good bag is accused.

    """
    factors = stored_factors(settings, bags)
    # A bag without a date has NaN.
    date = np.array([bag.date for bag in bags], dtype=float)
    found = compare(settings.arm, factors, len(bags), chance)
    moved, odd = _with_other_load(found, np.floor(date / DAY)), found.odd
    usual = last = np.flatnonzero(~odd).tolist()
    sentences: tuple[str, ...] = ()
    if moved.any():
        odd = odd & ~moved
        other = np.flatnonzero(moved).tolist()
        # Bags before and after the change.
        usual, last = (other, usual) if moved[0] else (usual, other)
        # Stacked bags determine the load better than each alone.
        together = merged(map(factors, other))
        load = deviations([together], settings.arm, found.fit, [False]).load[0]
        # Relative gains need a reference with the same load.
        found.found.coefficients[other] = deviations(
            map(factors, other), settings.arm, solve(together, arm_prior(settings.arm)),
            repeat(True)).coefficients
        sentences = (
            f'the load of {name} changes on {day(date[last[0]])}: '
            f'{load_text(-load if moved[0] else load)}; its model is of the {len(last)} bags '
            'since then',)
    return ArmReport(
        len(bags), len(last), fleet_model(settings, name, [bags[k] for k in last]), sentences,
        tuple(OddBag(bags[k], name, found.difference(k), bool(found.loaded[k]))
              for k in np.flatnonzero(odd).tolist()),
        _series(settings.arm, found, date, last), [bags[k] for k in usual],
        merged(map(factors, usual)))


def _with_other_load(found: Comparison, days: Array) -> Mask:
    """
    Find the bags with another load before or after a change of load; none without a change.

    A change is a date up to which, or from which on, all bags carry another load than the others.
    Either side covers two days or more: a load for a part of a day is no change.
    """
    belongs, number = np.flatnonzero(~found.odd), np.arange(len(days))
    for side in (number < belongs[0], number > belongs[-1]):
        if (min(side.sum(), (~side).sum()) >= FEWEST_WITH_LOAD
                and np.ptp(days[side]) > 0 < np.ptp(days[~side])
                and found.loaded[side].mean() > 0.5):
            return np.asarray(side & found.loaded)
    return np.zeros_like(found.odd)


def different_arms(
    arm: ArmModel, reports: Mapping[str, ArmReport], chance: float,
) -> dict[str, str]:
    """Compare arms as bags are compared, and describe those that differ from the others."""
    if len(reports) < FEWEST_COMPARED:
        return {}
    names, arms = list(reports), [report.factors for report in reports.values()]
    found = compare(arm, arms.__getitem__, len(arms), chance / len(arms))
    return {names[k]: f'{names[k]} carries another load or tool than the other arms: '
            f'{load_text(found.found.load[k])}' if found.loaded[k]
            else f'{names[k]} differs from the other arms: {found.difference(k)}'
            for k in np.flatnonzero(found.odd).tolist()}


def _series(
    arm: ArmModel, found: Comparison, date: Array, bags: Sequence[int],
) -> dict[str, tuple[Array, Array]]:
    """Return friction and gains of those of some bags that have a date, over it."""
    dated = [k for k in bags if np.isfinite(date[k])]
    if len(dated) < FEWEST_COMPARED:
        return {}
    return {name: (date[dated], values) for name, values in zip(
        coefficient_names(arm), found.found.coefficients[dated].T, strict=True)}
