# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Summarise a bag by its factors and facts, in a sidecar that is written once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from io import BytesIO
import json
from pathlib import Path
import re
from typing import Any
from zipfile import BadZipFile
import zlib

import numpy as np

from dynid_ros.applications.fleet.bags import Bag, local_copy, METADATA
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.data.files.plain_values import from_plain, to_plain
from dynid_ros.data.files.sidecar import read_sidecar
from dynid_ros.errors import DynidError, one_line, RecordingError, ResultError
from dynid_ros.estimation.blocks.preparation import condition_recording, settings_for
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.utilities.atomic_write import read_whole, write_whole

#: What NumPy raises for a damaged file.
DAMAGE = (OSError, BadZipFile, zlib.error, ValueError, KeyError, EOFError)
#: Seconds since 1970 below which a stamp is of simulated time, not of a clock that was set.
EARLIEST_DATE = 1e9
#: Start of a bag in its metadata, ns since 1970.
BEGIN = re.compile(r'nanoseconds_since_epoch:\s*(\d{10,20})')
#: A date in a name, such as 2026-03-14 or rosbag2_2026_03_14-09_26_53.
DATED = re.compile(
    r'(?<!\d)(20\d\d)[-_]?([01]\d)[-_]?([0-3]\d)(?:[-_T ]([0-2]\d)[-_:]?([0-5]\d)[-_:]?([0-5]\d))?'
    r'(?!\d)')
#: Bags whose factors stay in memory between passes over them: those of seven joints take 100 MB.
IN_MEMORY = 500


def write_summary(path: Path, bag: Bag, factors: QRFactors | None) -> None:
    """Write a sidecar, completely or not at all; for seven joints it takes some 30 kB."""
    arrays: dict[str, Any] = {
        'bag': np.frombuffer(json.dumps(to_plain(bag)).encode(), dtype=np.uint8)}
    if factors is not None:
        arrays |= vars(factors)
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_whole(path, buffer.getvalue())


def read_facts(path: Path) -> Bag | None:
    """Read the facts of a sidecar; None where there is no complete sidecar."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            bag: Bag = from_plain(json.loads(arrays['bag'].tobytes()), Bag, 'bag')
    except DAMAGE:
        return None
    return bag


def read_factors(path: Path) -> QRFactors:
    """Read the factors of a good bag."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return QRFactors(arrays['factors'], arrays['rows'])
    except DAMAGE as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, and run the command again') from error


def stored_factors(settings: FleetSettings, bags: Sequence[Bag]) -> Callable[[int], QRFactors]:
    """Return a function that reads the factors of a bag by its number, with the base columns."""
    return lru_cache(IN_MEMORY)(
        lambda k: read_factors(settings.sidecar(bags[k])).part(settings.columns))


def summarise(settings: FleetSettings, bag: Bag) -> Bag:
    """
    Read, check, condition and compress a bag, and write its sidecar.

    An unusable bag gets the reason: it does not stop the fleet.
    """
    facts, factors = bag, None
    try:
        with local_copy(bag) as local:
            facts = replace(facts, **_recorded(bag, local))
            recording = settings.read(bag, local)
        facts = replace(facts, seconds=recording.seconds, samples=len(recording.t))
        own = settings_for(settings.conditioning, recording)
        motions = condition_recording(settings.arm, recording, own)
        factors = stack(settings.rows(motions, own).groups(settings.arm))
        if not factors.rows.any() or not factors.torque_squares().any():
            raise RecordingError(
                'no joint moves long enough, so that no row is left after the low-pass')
    except DynidError as error:
        facts = replace(facts, reason=str(error).removeprefix(f'{bag.name}: '))
    except Exception as error:
        # Whatever a bag raises in the decoders, read the others.
        facts = replace(facts, reason=one_line(f'{type(error).__name__}: {error}'))
    write_summary(settings.sidecar(bag), facts, None if facts.reason else factors)
    return facts


def _recorded(bag: Bag, local: Path) -> dict[str, Any]:
    """Return arm and date of a bag, as its own files or its name state."""
    about: dict[str, Any] = {}
    with suppress(RecordingError):
        _, about = read_sidecar(local)
    arm, dates = about.get('arm'), []
    name = about.get('serial') or (arm.get('name') if isinstance(arm, dict) else None)
    # Do not take the time of its file, which may be that of a copy.
    with suppress(KeyError, ValueError):
        dates.append(datetime.fromisoformat(str(about['started'])).timestamp())
    with suppress(OSError):
        text = read_whole(local / METADATA).decode(errors='replace')
        dates += [int(found) * 1e-9 for found in BEGIN.findall(text)[:1]]
    return {'recorded_arm': '' if name is None else str(name), 'date': next(
        (date for date in dates if date > EARLIEST_DATE), _date_in(bag.place))}


def _date_in(name: str) -> float | None:
    """Find the date in a name, s since 1970 (UTC)."""
    if found := DATED.search(name):
        year, month, day, *time = (part or '00' for part in found.groups())
        with suppress(ValueError):
            return datetime.fromisoformat(
                f'{year}-{month}-{day}T{":".join(time)}+00:00').timestamp()
    return None
