"""Sidecars: all that the reduction needs of a bag, in a file that is written once."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.files.plain import from_plain, to_plain
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.npz_table import npz_bytes
from dynid_ros.errors import ResultError
from dynid_ros.estimation.regression.qr_factors import embedded, QRFactors
from dynid_ros.utilities.atomic_write import write_whole


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
        When it was recorded, s since 1970; None where nothing tells it.
    seconds : float
        Length, s.
    samples : int
        Samples as recorded.
    fault : str
        Kind of the reason for which it is skipped; empty for a good bag.
    reason : str
        The reason, a sentence.
    error_percent : float or None
        Share of its torque that a fit to it alone leaves; None with too few rows for one.
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
    error_percent: float | None = None
    defects: tuple[Defect, ...] = ()


def write_sidecar(path: Path, facts: BagFacts, factors: QRFactors | None) -> None:
    """
    Write a sidecar, whole.

    Of each joint the triangle of the columns that are not zero is kept, which for seven joints
    takes some 30 kB.

    Raises
    ------
    ResultError
        It cannot be written.

    """
    arrays: dict[str, NDArray[Any]] = {
        'facts': np.frombuffer(json.dumps(to_plain(facts, BagFacts)).encode(), dtype=np.uint8)}
    if factors is not None:
        used = [np.flatnonzero(R.any(axis=0)) for R in factors.factors]
        # Few arrays, as each costs a millisecond of reading.
        triangles = [R[:len(own), own][np.triu_indices(min(len(R), len(own)), 0, len(own))]
                     for R, own in zip(factors.factors, used, strict=True)]
        arrays |= {
            'rows': factors.rows, 'shape': np.array(factors.factors.shape),
            'lengths': np.array([len(own) for own in used]), 'used': np.concatenate(used),
            'triangles': np.concatenate(triangles)}
    write_whole(path, npz_bytes(**arrays))


def read_facts(path: Path) -> BagFacts | None:
    """Read the facts of a sidecar; None where there is no whole sidecar."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts: BagFacts = from_plain(
                json.loads(arrays['facts'].tobytes()), BagFacts, 'facts')
    except (OSError, BadZipFile, ValueError, KeyError, EOFError):
        return None
    return facts


def read_factors(path: Path) -> QRFactors:
    """
    Read the factors of a good bag.

    Raises
    ------
    ResultError
        The sidecar is damaged, or its bag was skipped.

    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            rows, used, values = (arrays[name] for name in ('rows', 'used', 'triangles'))
            (_, height, columns), lengths = arrays['shape'].tolist(), arrays['lengths'].tolist()
        triangles, first, start = [], 0, 0
        for length in lengths:
            R = np.zeros((min(height, length), length))
            places = np.triu_indices(len(R), 0, length)
            R[places] = values[start:start + len(places[0])]
            triangles.append((R, used[first:first + length]))
            first, start = first + length, start + len(places[0])
    except (OSError, BadZipFile, ValueError, KeyError, EOFError) as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, and run the command again') from error
    return QRFactors(embedded(triangles, columns), rows)
