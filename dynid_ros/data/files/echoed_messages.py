# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint states as ``rostopic echo -p`` and ``ros2 topic echo --csv`` print them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
import re
from typing import Any

import numpy as np

from dynid_ros.data.files.bags import damaged_defects, DECODED_TOGETHER, JointStates
from dynid_ros.data.files.sample_blocks import JoinedBlocks, SampleBlock
from dynid_ros.data.tables.text_rows import number_in, text_lines
from dynid_ros.errors import RecordingError

ECHOED_FIELDS = ('position', 'velocity', 'effort')
_FIELD = re.compile(r'(?:.*[._/])?(name|position|velocity|effort)[_.\[]?\d+\]?')
#: Suffixes of the columns of stamps, and their units in ns.
_STAMPS = {'stamp.secs': 10**9, 'stamp.nsecs': 1, 'stamp.sec': 10**9, 'stamp.nanosec': 1,
           'header.stamp': 1}


@dataclass(frozen=True)
class _Form:
    """First cell of the names, and the cells of stamps with their units in ns."""

    first: int
    stamps: tuple[tuple[int, int], ...]
    received: int | None = None
    # The present arrays; None if an empty cell marks an absent one.
    fields: tuple[str, ...] | None = None


#: Joints of a message, stamp and time of reception, ns, and the arrays in the order of
#: `ECHOED_FIELDS`.
_Message = tuple[tuple[str, ...], int, int, list[list[float]]]


def read_echoed(path: Path) -> JointStates | None:
    """
    Read the messages that a text file holds, one a row with the names of its joints.

    Parameters
    ----------
    path : Path
        File.

    Returns
    -------
    JointStates or None
        The messages; None if the file is of another form.

    Raises
    ------
    RecordingError
        Too many rows are not messages.

    """
    lines = (_cells(text) for _, text in text_lines(path))
    first = next(lines, [])
    form = _form(first)
    if form is None:
        return None
    rows = chain([first], lines) if form.fields is None else lines
    joined = JoinedBlocks()
    damaged: list[tuple[int, str]] = []
    count = 0
    while batch := list(islice(rows, DECODED_TOGETHER)):
        groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
        for place, cells in enumerate(batch, start=count):
            try:
                names, stamp, received, arrays = _message(cells, form)
            except ValueError as error:
                damaged.append((place, str(error)))
                continue
            groups[(names, *map(len, arrays))].append((place, stamp, received, *arrays))
        for (names, *_), messages in groups.items():
            joined.add(SampleBlock(names, *map(np.array, zip(*messages, strict=True))))
        count += len(batch)
    if not count:
        raise RecordingError(f'{path} has a header but no rows')
    defects = damaged_defects(path, path.name, count, damaged)
    return JointStates(path.name, count - len(damaged), joined.take(), tuple(defects))


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.replace('"', '').split(',')]


def _form(cells: Sequence[str]) -> _Form | None:
    """Find the cells of names and stamps, by a header or by the first message."""
    found = [match[1] if (match := _FIELD.fullmatch(cell)) else '' for cell in cells]
    if 'name' in found:
        stamps = [(k, unit) for k, cell in enumerate(cells)
                  for end, unit in _STAMPS.items() if cell.endswith(end)]
        received = next((k for k, cell in enumerate(cells) if cell == '%time'), None)
        if not stamps and received is not None:
            stamps = [(received, 1)]
        fields = tuple(name for name in ECHOED_FIELDS if name in found)
        return _Form(found.index('name'), tuple(stamps), received, fields) if stamps else None
    numbers = len(cells) > 4 and cells[0].isdigit() and cells[1].isdigit()
    if numbers and cells[3] and number_in(cells[3]) is None:
        return _Form(3, ((0, 10**9), (1, 1)))
    return None


def _message(cells: Sequence[str], form: _Form) -> _Message:
    """Read a row: names of the joints, stamps, and the arrays behind the names."""
    stop = form.first
    while stop < len(cells) and cells[stop] and number_in(cells[stop]) is None:
        stop += 1
    names, at, arrays = tuple(cells[form.first:stop]), stop, []
    if not names:
        raise ValueError('the row names no joints')
    for field in ECHOED_FIELDS:
        empty = form.fields is None and cells[at:at + 1] == ['']
        there = not empty if form.fields is None else field in form.fields
        end = at + len(names) * there
        arrays.append([float(cell) for cell in cells[at:end]])
        at = end + empty
    if at != len(cells):
        raise ValueError(f'{len(cells)} cells, where {len(names)} joints have {at}')
    stamp = sum(int(cells[place]) * unit for place, unit in form.stamps)
    received = stamp if form.received is None else int(cells[form.received])
    if max(abs(stamp), abs(received)) >= 2**63:
        raise ValueError('the stamp is none in ns')
    return names, stamp, received, arrays
