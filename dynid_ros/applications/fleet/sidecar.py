# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sidecars: all that the reduction needs of a bag, in a file that is written once."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
import zlib

import numpy as np

from dynid_ros.data.files.plain_values import from_plain, to_plain
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import ResultError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.utilities.atomic_write import write_whole

#: What NumPy raises for a damaged file.
DAMAGE = (OSError, BadZipFile, zlib.error, ValueError, KeyError, EOFError)


@dataclass(frozen=True)
class BagFacts:
    """
    One bag, without its factors.

    Attributes
    ----------
    name : str
        Path or URL.
    identity : str
        Size and time of change of its files: a bag that differs is read again.
    settings : str
        Hash of the settings.
    recorded_arm : str
        Serial number or name in the ``recording.yaml`` beside it; empty without one.
    date : float or None
        When it was recorded, s since 1970; None where nothing states it.
    seconds : float
        Length, s.
    samples : int
        Samples as recorded.
    fault : str
        Kind of the reason for which it is skipped; empty for a good bag.
    reason : str
        The reason, a sentence.
    defects : tuple of Defect
        Defects that were found and worked around.

    """

    name: str
    identity: str
    settings: str
    recorded_arm: str
    date: float | None
    seconds: float = 0.0
    samples: int = 0
    fault: str = ''
    reason: str = ''
    defects: tuple[Defect, ...] = ()


def write_sidecar(path: str, facts: BagFacts, factors: QRFactors | None) -> None:
    """Write a sidecar, completely or not at all; for seven joints it takes some 30 kB."""
    arrays: dict[str, Any] = {
        'facts': np.frombuffer(json.dumps(to_plain(facts)).encode(), dtype=np.uint8)}
    if factors is not None:
        arrays |= vars(factors)
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_whole(Path(path), buffer.getvalue())


def read_facts(path: str) -> BagFacts | None:
    """Read the facts of a sidecar; None where there is no complete sidecar."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts: BagFacts = from_plain(
                json.loads(arrays['facts'].tobytes()), BagFacts, 'facts')
    except DAMAGE:
        return None
    return facts


def read_factors(path: str) -> QRFactors:
    """Read the factors of a good bag."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return QRFactors(arrays['factors'], arrays['rows'])
    except DAMAGE as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, and run the command again') from error
