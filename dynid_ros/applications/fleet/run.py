# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identify models from a folder of bags, and find faults of bags and arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
import re
from typing import Any

from dynid_ros.applications.fleet.arms import ArmReport, different_arms, judge_arm, OddBag
from dynid_ros.applications.fleet.bags import Bag, find_bags, owners
from dynid_ros.applications.fleet.causes import explain
from dynid_ros.applications.fleet.cluster import one_by_one, Spread
from dynid_ros.applications.fleet.drift import drifts, Series
from dynid_ros.applications.fleet.models import fleet_model
from dynid_ros.applications.fleet.settings import fleet_settings, FleetSettings
from dynid_ros.applications.fleet.summary import read_facts, summarise
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError, ResultError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import RESULT, write_result

#: Probability that any bag or arm is reported in a fleet without faults.
FALSE_ACCUSATION = 1e-2


@dataclass(frozen=True, eq=False)
class FleetResult:
    """
    Outcome of a fleet.

    Attributes
    ----------
    settings : FleetSettings
        Settings of all bags.
    bags : tuple of Bag
        All of them.
    read : int
        How many were read in this run; the others have sidecars.
    arms : dict of str to ArmReport
        Arms by name.
    whole : IdentifiedModel or None
        Model of all usual bags before a change of load, without arms that differ from the others;
        None with too few rows.
    odd : tuple of OddBag
        Bags that do not belong.
    series : tuple of Series
        Friction and gains over date.

    """

    settings: FleetSettings
    bags: tuple[Bag, ...]
    read: int
    arms: dict[str, ArmReport]
    whole: IdentifiedModel | None
    odd: tuple[OddBag, ...]
    series: tuple[Series, ...]

    @property
    def skipped(self) -> tuple[Bag, ...]:
        """Return the bags that could not be used."""
        return tuple(bag for bag in self.bags if bag.reason)

    @property
    def folders(self) -> dict[str, str]:
        """Return the folder of the model of each arm, by its name."""
        return {name: 'arms/' + re.sub(r'[^\w.-]', '_', name) for name in self.arms}

    def save(self, folder: Path) -> list[Path]:
        """Write the model of each arm and the one of all; return their folders."""
        wrote = []
        for place, model in {'all': self.whole, **{
                self.folders[name]: report.model for name, report in self.arms.items()}}.items():
            if model is not None:
                write_result(model, folder / place)
                wrote.append(folder / place)
            else:
                # One of an earlier run would be taken for this one's.
                (folder / place / RESULT).unlink(missing_ok=True)
        return wrote

    @property
    def findings(self) -> tuple[str, ...]:
        """Return a sentence for each thing that somebody should look at."""
        return (*(text for report in self.arms.values() for text in report.sentences),
                *(each.sentence for each in self.series if each.drifts),
                *(each.sentence for each in self.odd))


def run_fleet(
    arm: ArmModel, given: Sequence[str], folder: Path, spread: Spread = one_by_one, *,
    by: str | None = None, topic: str = 'joint_states', received: bool = False,
) -> FleetResult:
    """
    Identify a fleet.

    Parameters
    ----------
    arm : ArmModel
        The kind of arm.
    given : sequence of str
        As for `find_bags`.
    folder : Path
        Folder of sidecars, which are reused where they fit, and of settings.
    spread : Spread
        Where the work is done; in this process, bag by bag, if not given.
    by : str, optional
        Whose bag it is, from its path in its folder: ``{arm}/*`` for a folder of each arm; by
        default serial number or name in recording.yaml, else one arm.
    topic, received
        As for `read_recording`.

    Raises
    ------
    InputError
        There are no bags, or none fits the pattern.
    RecordingError
        None is usable.

    """
    found = find_bags(given, folder)
    named = owners(found, by)
    settings = fleet_settings(arm, found, folder, topic, received)
    bags, read = _summaries(settings, found, spread)
    groups: dict[str, list[Bag]] = {}
    for owner, bag in zip(named, bags, strict=True):
        if owner is not None and not bag.reason:
            groups.setdefault(owner or bag.recorded_arm or arm.name, []).append(bag)
    if not groups:
        asked = [bag for bag, owner in zip(bags, named, strict=True) if owner is not None]
        raise RecordingError(f'none of {len(asked)} bags is usable; the first, {asked[0].name}: '
                             f'{asked[0].reason}')
    arms = _judged(settings, groups, spread)
    different = different_arms(arm, arms, FALSE_ACCUSATION)
    alike = [report for name, report in arms.items() if name not in different]
    arms |= {name: replace(arms[name], sentences=(text, *arms[name].sentences))
             for name, text in different.items()}
    [whole] = [report.model for report in arms.values()] if len(arms) == 1 else _finished(spread(
        'model of all', fleet_model,
        {0: (settings, 'the fleet', [bag for report in alike for bag in report.usual])}))
    odd = [each for report in arms.values() for each in report.odd]
    # A load needs no other cause.
    causes = spread('causes', explain, {
        k: (settings, each.bag, len(bags)) for k, each in enumerate(odd) if not each.loaded})
    return FleetResult(
        settings, tuple(bags), read, arms, whole,
        tuple(replace(each, findings=causes.get(k) or ()) for k, each in enumerate(odd)),
        drifts({(name, each): values for name, report in arms.items()
                for each, values in report.series.items()}))


def _summaries(
    settings: FleetSettings, bags: Sequence[Bag], spread: Spread,
) -> tuple[list[Bag], int]:
    """Read the bags that have no sidecar yet, or one of a former content."""
    known = [read_facts(settings.sidecar(bag)) for bag in bags]
    found = spread('bags', summarise, {
        k: (settings, bag)
        for k, (bag, facts) in enumerate(zip(bags, known, strict=True)) if facts is None
        or facts.identity != bag.identity})
    return [found.get(k, facts) or replace(
                bag, reason='each worker that read it died; it may not fit the memory')
            for k, (bag, facts) in enumerate(zip(bags, known, strict=True))], len(found)


def _judged(
    settings: FleetSettings, groups: Mapping[str, Sequence[Bag]], spread: Spread,
) -> dict[str, ArmReport]:
    """Judge each arm, as one task."""
    chance = FALSE_ACCUSATION / sum(map(len, groups.values()))
    names = sorted(groups)
    return dict(zip(names, _finished(spread('arms', judge_arm, {
        k: (settings, name, sorted(groups[name], key=lambda bag: bag.date or 0.0), chance)
        for k, name in enumerate(names)})), strict=True))


def _finished(results: Mapping[int, Any]) -> list[Any]:
    if any(result is None for result in results.values()):
        raise ResultError('workers died while merging sidecars; give them more memory')
    return [results[k] for k in sorted(results)]
