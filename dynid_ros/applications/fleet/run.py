# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""From a folder of bags to models, and to the faults of bags and arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dynid_ros.applications.fleet.arms import ArmReport, judged_fleet, OddBag
from dynid_ros.applications.fleet.bag_summary import explain, summarise
from dynid_ros.applications.fleet.bags import Bag, find_bags, local_copy, owners
from dynid_ros.applications.fleet.cluster import one_by_one, Spread
from dynid_ros.applications.fleet.drift import Series
from dynid_ros.applications.fleet.reduction import Reduction
from dynid_ros.applications.fleet.settings import choose_settings, FleetSettings, settings_of
from dynid_ros.applications.fleet.sidecar import BagFacts, read_facts
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import DynidError, RecordingError, ResultError
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.atomic_write import read_whole, write_whole
from dynid_ros.utilities.progress import progress

SETTINGS_FILE, SIDECARS, CAUSES = 'settings.json', 'sidecars', 'causes'
#: Bags from which settings are chosen, spread over all of them, and tries to find as many.
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
        How many were read in this run; the sidecars of the others were there.
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
        Pattern of the places of bags, with ``{arm}`` for the name of the arm.
    again : bool
        Whether to read all bags again, with settings chosen anew.
    topic, received
        How bags are read.

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
    facts, read = _summaries(settings, bags, folder, spread, again)
    groups = arms_of(named, facts, arm.name)
    if not groups:
        asked = [each for each, owner in zip(facts, named, strict=True) if owner is not None]
        raise RecordingError(f'none of {len(asked)} bags is usable; the first, {asked[0].name}: '
                             f'{asked[0].reason}')
    progress('merging the bags', 0.0)
    arms, whole, odd, series = judged_fleet(settings, facts, groups, Reduction(
        settings, [_sidecar(folder, bag) for bag in bags], spread))
    return FleetResult(settings, tuple(facts), read, arms, whole,
                       _explained(settings, bags, odd, folder, spread), series)


def arms_of(
    owners: Sequence[str | None], facts: Sequence[BagFacts], default: str,
) -> dict[str, list[int]]:
    """Group the usable bags by arm: by place, ``recording.yaml`` or default; ordered by date."""
    groups: dict[str, list[int]] = {}
    for k, (owner, each) in enumerate(zip(owners, facts, strict=True)):
        if owner is not None and not each.fault:
            groups.setdefault(owner or each.recorded_arm or default, []).append(k)
    return {name: sorted(groups[name], key=lambda k: (facts[k].date or 0.0, k))
            for name in sorted(groups)}


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
        sample = _sample(arm, bags, topic, received)
        settings = FleetSettings(arm, choose_settings(arm, sample), topic, received)
    write_whole(path, settings.text.encode())
    return settings_of(settings.text)


def _sample(arm: ArmModel, bags: Sequence[Bag], topic: str, received: bool) -> list[Recording]:
    """Read some good bags, spread over all of them."""
    count = min(SAMPLE_TRIES, len(bags))
    spread = np.unique(np.linspace(0, len(bags) - 1, count).round().astype(int))
    # From a stride to the next, so that the first few are spread, too.
    order = np.concatenate([spread[k::SAMPLE] for k in range(SAMPLE)]).tolist()
    found: list[Recording] = []
    reason = ''
    for k in order:
        if len(found) == SAMPLE:
            break
        try:
            with local_copy(bags[k]) as path:
                recording = read_recording(path, arm, topic=topic, received=received)
                recording = checked_recording(recording, arm)[0]
                choose_settings(arm, [recording])
                found.append(recording)
        except DynidError as error:
            reason = str(error)
    if not found:
        raise RecordingError(f'none of {len(order)} bags that were tried is usable: {reason}')
    return found


def _sidecar(folder: Path, bag: Bag) -> str:
    return str(folder / SIDECARS / bag.sidecar)


def _summaries(
    settings: FleetSettings, bags: Sequence[Bag], folder: Path, spread: Spread, again: bool,
) -> tuple[list[BagFacts], int]:
    """Read the bags that have no sidecar yet, or one of other settings or of a former content."""
    known = [None if again else read_facts(_sidecar(folder, bag)) for bag in bags]
    missing = [k for k, (bag, facts) in enumerate(zip(bags, known, strict=True))
               if facts is None
               or (facts.settings, facts.identity) != (settings.sha256, bag.identity)]
    work = {k: (settings.text, bags[k], _sidecar(folder, bags[k])) for k in missing}
    for done, (k, found) in enumerate(spread(summarise, work), len(bags) - len(missing) + 1):
        known[k] = found or BagFacts(
            bags[k].name, bags[k].identity, settings.sha256, '', None, fault='failed',
            reason='each worker that read it died; it may not fit the memory')
        progress(f'bags: {done} of {len(bags)}', done / len(bags))
    return [facts for facts in known if facts is not None], len(missing)


def _explained(
    settings: FleetSettings, bags: Sequence[Bag], odd: Sequence[OddBag], folder: Path,
    spread: Spread,
) -> tuple[OddBag, ...]:
    """Look for the causes of odd bags, which are kept beside the sidecars; a load is its own."""
    # A larger fleet asks for more evidence; up to the next power of two, the causes stay.
    count = 1 << (len(bags) - 1).bit_length()
    work = {}
    for k in (each.number for each in odd if not each.loaded):
        kept = '-'.join((Path(bags[k].sidecar).stem, bags[k].identity[:8], settings.sha256[:8],
                         f'{count}.json'))
        work[k] = settings.text, bags[k], str(folder / CAUSES / kept), count
    causes = {}
    for k, findings in spread(explain, work):
        causes[k] = findings or ()
        progress(f'causes: {len(causes)} of {len(work)}', len(causes) / len(work))
    return tuple(replace(each, findings=causes.get(each.number, ())) for each in odd)
