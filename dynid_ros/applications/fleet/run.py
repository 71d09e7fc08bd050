# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identify models from a folder of bags, and find faults of bags and arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
import re

import numpy as np

from dynid_ros.applications.fleet.arms import ArmReport, judge_arms, OddBag
from dynid_ros.applications.fleet.bags import Bag, find_bags, local_copy, owners
from dynid_ros.applications.fleet.causes import cause_file, explain
from dynid_ros.applications.fleet.cluster import one_by_one, Spread
from dynid_ros.applications.fleet.drift import drifts, Series
from dynid_ros.applications.fleet.settings import (
    common_conditioning,
    FleetSettings,
    settings_of,
)
from dynid_ros.applications.fleet.summary import BagFacts, read_facts, StoredBag, summarise
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.errors import DynidError, RecordingError, ResultError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import RESULT, write_result
from dynid_ros.utilities.atomic_write import read_whole, write_whole

SETTINGS_FILE, SIDECARS, CAUSES = 'settings.json', 'sidecars', 'causes'
#: Bags that determine the settings, spread over all, and most tries to find as many.
SAMPLE, SAMPLE_TRIES = 7, 40


@dataclass(frozen=True, eq=False)
class FleetResult:
    """
    Outcome of a fleet.

    Attributes
    ----------
    settings : FleetSettings
        Settings of all bags.
    bags : tuple of BagFacts
        All of them.
    read : int
        How many were read in this run; the others have sidecars.
    arms : dict of str to ArmReport
        Arms by name.
    whole : IdentifiedModel or None
        Model of all bags that belong; None with too few.
    odd : tuple of OddBag
        Bags that do not belong.
    series : tuple of Series
        Friction and gains over date.

    """

    settings: FleetSettings
    bags: tuple[BagFacts, ...]
    read: int
    arms: dict[str, ArmReport]
    whole: IdentifiedModel | None
    odd: tuple[OddBag, ...]
    series: tuple[Series, ...]

    @property
    def skipped(self) -> tuple[BagFacts, ...]:
        """Return the bags that could not be used."""
        return tuple(bag for bag in self.bags if bag.fault)

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
    by: str | None = None, again: bool = False, topic: str = 'joint_states',
    received: bool = False,
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
    again : bool
        Choose the settings anew and read all bags again.
    topic, received
        As for `read_recording`.

    Raises
    ------
    ResultError
        The folder holds sidecars of other settings.
    InputError
        There are no bags, or none is usable, or none fits the pattern.

    """
    bags = find_bags(given, folder)
    named = owners(bags, by)
    settings = _settings(arm, bags, folder, again, topic, received)
    paths = [folder / SIDECARS / f'{bag.stem}.npz' for bag in bags]
    facts, read = _summaries(settings, bags, paths, spread, again)
    groups: dict[str, list[StoredBag]] = {}
    for owner, each, path in zip(named, facts, paths, strict=True):
        if owner is not None and not each.fault:
            groups.setdefault(owner or each.recorded_arm or arm.name, []).append((each, path))
    if not groups:
        asked = [each for each, owner in zip(facts, named, strict=True) if owner is not None]
        raise RecordingError(f'none of {len(asked)} bags is usable; the first, {asked[0].name}: '
                             f'{asked[0].reason}')
    groups = {name: sorted(groups[name], key=lambda each: each[0].date or 0.0)
              for name in sorted(groups)}
    arms, whole = judge_arms(settings, groups, spread)
    odd = [each for report in arms.values() for each in report.odd]
    return FleetResult(
        settings, tuple(facts), read, arms, whole,
        _explained(settings, {bag.name: bag for bag in bags}, odd, folder / CAUSES, spread),
        drifts({(name, each): values for name, report in arms.items()
                for each, values in report.series.items()}))


def _settings(
    arm: ArmModel, bags: Sequence[Bag], folder: Path, again: bool, topic: str, received: bool,
) -> FleetSettings:
    """Take the settings of an earlier run in the same folder, or choose them."""
    path = folder / SETTINGS_FILE
    if path.exists() and not again:
        try:
            stored = settings_of(read_whole(path).decode())
        except (OSError, UnicodeDecodeError) as error:
            raise ResultError(f'{path} cannot be read: {error}; start with --again') from error
        settings = FleetSettings(arm, stored.conditioning, topic, received)
        if settings.sha256 != stored.sha256:
            raise ResultError(
                f'{folder} holds sidecars that were made with another arm description or other '
                'settings, and these cannot be mixed; give another folder, or make them anew with '
                '--again')
    else:
        settings = FleetSettings(arm, _conditioning(arm, bags, topic, received), topic, received)
    write_whole(path, settings.text.encode())
    return settings


def _conditioning(
    arm: ArmModel, bags: Sequence[Bag], topic: str, received: bool,
) -> ConditioningSettings:
    """Choose the conditioning of a fleet from some good bags, spread over all of them."""
    arm.drive.check_scale()
    count = min(SAMPLE_TRIES, len(bags))
    places = np.unique(np.linspace(0, len(bags) - 1, count).round().astype(int))
    # In strides, so that the first few are spread, too.
    order = np.concatenate([places[k::SAMPLE] for k in range(SAMPLE)]).tolist()
    chosen: list[ConditioningSettings] = []
    reason = ''
    for bag in (bags[k] for k in order):
        try:
            with local_copy(bag) as path:
                recording = read_recording(path, arm, topic=topic, received=received)
                recording, _ = checked_recording(recording, arm)
                chosen.append(choose_conditioning(arm.memoryless, [recording]))
        except DynidError as error:
            reason = str(error)
        if len(chosen) == SAMPLE:
            break
    if not chosen:
        raise RecordingError(f'none of {len(order)} bags that were tried is usable: {reason}')
    return common_conditioning(chosen)


def _summaries(
    settings: FleetSettings, bags: Sequence[Bag], paths: Sequence[Path], spread: Spread,
    again: bool,
) -> tuple[list[BagFacts], int]:
    """Read the bags that have no sidecar yet, or one of other settings or of a former content."""
    known = [None if again else read_facts(path) for path in paths]
    found = spread('bags', summarise, {
        k: (settings, bag, paths[k])
        for k, (bag, facts) in enumerate(zip(bags, known, strict=True)) if facts is None
        or (facts.settings, facts.identity) != (settings.sha256, bag.identity)})
    for k, facts in found.items():
        known[k] = facts or BagFacts(
            bags[k].name, bags[k].identity, settings.sha256, fault='failed',
            reason='each worker that read it died; it may not fit the memory')
    return [facts for facts in known if facts is not None], len(found)


def _explained(
    settings: FleetSettings, bags: Mapping[str, Bag], odd: Sequence[OddBag], folder: Path,
    spread: Spread,
) -> tuple[OddBag, ...]:
    """Find the causes of odd bags, which are kept beside the sidecars; a load needs none."""
    # A larger fleet needs more evidence; round up to a power of two to keep causes.
    count = 1 << (len(bags) - 1).bit_length()
    causes = spread('causes', explain, {
        k: (settings, bag, folder / cause_file(settings, bag, count), count)
        for k, bag in enumerate(bags[each.name] for each in odd) if not odd[k].loaded})
    return tuple(replace(each, findings=causes.get(k) or ()) for k, each in enumerate(odd))
