# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""One bag, read, checked, conditioned and compressed in one task."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
import json
from pathlib import Path
import re
from typing import Any

from dynid_ros.applications.fleet.bags import Bag, date_in, local_copy, METADATA
from dynid_ros.applications.fleet.settings import FleetSettings, settings_of
from dynid_ros.applications.fleet.sidecar import BagFacts, write_sidecar
from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.data.files.plain_values import from_plain, to_plain
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.trial_samples import trial_samples
from dynid_ros.errors import DynidError, one_line
from dynid_ros.estimation.band.choice import band_of_motion
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recording,
    settings_for,
)
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels, clipped_samples
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.verdict.cause import with_cause
from dynid_ros.utilities.atomic_write import read_whole, write_whole

#: Seconds since 1970 below which a stamp is of simulated time, not of a clock that was set.
EARLIEST_DATE = 1e9
#: Start of a bag in its metadata, ns since 1970.
BEGIN = re.compile(r'nanoseconds_since_epoch:\s*(\d{10,20})')
#: Finding that stands for a bag that does not fit; the table of suspects looks for its cause.
MISFIT = Finding('residual', 'the bag does not fit its arm')


def summarise(text: str, bag: Bag, sidecar: str) -> BagFacts:
    """
    Summarise a bag by the text of the settings, and write its sidecar.

    A bag that cannot be used has a fault and its reason: a bad bag stops no fleet.
    """
    settings = settings_of(text)
    facts = BagFacts(bag.name, bag.identity, settings.sha256, '', None)
    factors = None
    try:
        with local_copy(bag) as path:
            facts = replace(facts, **_recorded(bag, path))
            recording = _read(settings, bag, path)
            facts = replace(
                facts, seconds=recording.seconds, samples=len(recording.t), fault='defect')
            recording, defects = checked_recording(recording, settings.arm)
            facts = replace(facts, defects=defects, fault='')
            factors = _factors(settings, recording)
            if not factors.rows.any() or not factors.torque_squares().any():
                facts = replace(facts, fault='still', reason=(
                    'no joint moves long enough, so that no row is left after the low-pass'))
    except DynidError as error:
        reason = str(error).removeprefix(f'{bag.name}: ')
        facts = replace(facts, fault=facts.fault or 'unreadable', reason=reason)
    except Exception as error:
        # Whatever one bag does to the decoders, the others are still to be read.
        facts = replace(facts, fault='failed',
                        reason=one_line(f'{type(error).__name__}: {error}'))
    write_sidecar(sidecar, facts, None if facts.fault else factors)
    return facts


def explain(text: str, bag: Bag, kept: str, recordings: int) -> tuple[Finding, ...]:
    """
    Find the cause for which a bag does not fit: none unless the table of suspects reports one.

    The bags of the fleet, as many as there are recordings, share the probability of a false cause.
    The file of a cause is read if it is there.
    """
    with suppress(OSError, ValueError):
        stored: tuple[Finding, ...] = from_plain(
            json.loads(read_whole(Path(kept))), tuple[Finding, ...], 'findings')
        return stored
    settings = settings_of(text)
    try:
        with local_copy(bag) as path:
            recording, _ = checked_recording(_read(settings, bag, path), settings.arm)
        own = band_of_motion(settings_for(settings.conditioning, recording), [recording])
    except DynidError:
        return ()
    arm = settings.arm.memoryless
    prepared = condition_recording(arm, recording, own)
    levels = clip_levels([recording])
    samples = trial_samples(prepared, own, clipped_samples(arm, prepared, levels))
    verdict, _ = with_cause(
        Verdict(False, (MISFIT,), 0.0), arm, samples, recordings=recordings)
    reported = any(line.reported for line in verdict.suspects)
    found = verdict.findings[:1] if reported else ()
    write_whole(Path(kept), json.dumps(to_plain(found)).encode())
    return found


def _read(settings: FleetSettings, bag: Bag, path: Path) -> Recording:
    recording = read_recording(
        path, settings.arm, topic=settings.topic, received=settings.received)
    return replace(recording, source=bag.name)


def _factors(settings: FleetSettings, recording: Recording) -> QRFactors:
    own = settings_for(settings.conditioning, recording)
    rows = settings.rows(condition_recording(settings.arm, recording, own), own)
    return rows.whole(settings.arm)


def _recorded(bag: Bag, path: Path) -> dict[str, Any]:
    """Whose bag it is and when it was recorded, as its own files or its name state."""
    about, dates = _about(bag), []
    arm = about.get('arm')
    name = about.get('serial') or (arm.get('name') if isinstance(arm, dict) else None)
    # The time of its file is no date: a copy may have made it.
    with suppress(KeyError, ValueError):
        dates.append(datetime.fromisoformat(str(about['started'])).timestamp())
    with suppress(OSError):
        text = read_whole(path / METADATA).decode(errors='replace')
        dates += [int(found) * 1e-9 for found in BEGIN.findall(text)[:1]]
    return {'recorded_arm': '' if name is None else str(name),
            'date': next((date for date in dates if date > EARLIEST_DATE), date_in(bag.place))}


def _about(bag: Bag) -> dict[str, Any]:
    if not bag.about:
        return {}
    from fsspec.core import url_to_fs

    try:
        fs, path = url_to_fs(bag.about)
        content = parse_yaml(fs.cat_file(path))
    except (OSError, YamlError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
