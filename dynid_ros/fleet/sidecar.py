"""Sidecars: all that the reduction needs of a bag, in a file that is written once."""

from __future__ import annotations

from dataclasses import dataclass
import io
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import ResultError
from dynid_ros.recordings.recording import Defect
from dynid_ros.regression.weighted_least_squares import embedded, QRFactors
from dynid_ros.storage.plain import from_plain, to_plain
from dynid_ros.whole_file import write_whole

Array = NDArray[np.float64]


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
    date : float
        When it was recorded, s since 1970.
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
    date: float
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
        arrays |= {'rows': factors.rows, 'columns': np.array(factors.factors.shape[2])}
        for joint, R in enumerate(factors.factors):
            used = np.flatnonzero(R.any(axis=0))
            R = R[:min(len(R), len(used)), used]
            arrays |= {f'used{joint}': used, f'height{joint}': np.array(len(R)),
                       f'triangle{joint}': R[np.triu_indices(len(R), 0, R.shape[1])]
                       if len(R) else np.zeros(0)}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    write_whole(path, buffer.getvalue())


def read_facts(path: Path) -> BagFacts | None:
    """Read the facts of a sidecar; None where there is no whole sidecar."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _facts(arrays)
    except (OSError, BadZipFile, ValueError, KeyError, EOFError):
        return None


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
            rows, columns = arrays['rows'], int(arrays['columns'])
            triangles = []
            for joint in range(len(rows)):
                used = arrays[f'used{joint}']
                R = np.zeros((int(arrays[f'height{joint}']), len(used)))
                R[np.triu_indices(len(R), 0, R.shape[1])] = arrays[f'triangle{joint}']
                triangles.append((R, used))
    except (OSError, BadZipFile, ValueError, KeyError, EOFError) as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, and run the command again') from error
    return QRFactors(embedded(triangles, columns), rows)


def _facts(arrays: Any) -> BagFacts:
    facts: BagFacts = from_plain(json.loads(arrays['facts'].tobytes()), BagFacts, 'facts')
    return facts
