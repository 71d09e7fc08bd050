# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Text files of numbers in named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
import re

import numpy as np

from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.column_words import Column, plain, summary, unit_in
from dynid_ros.data.tables.text_rows import (
    HEADER_LINES,
    number_in,
    opened,
    read_rows,
    Rows,
    split,
    text_lines,
)
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask
from dynid_ros.utilities.text import several

#: In the order in which they are looked for: a comma may be a decimal one.
SEPARATORS = (';', '\t', '|', ',')
#: Characters that stand in no header; the last one replaces bytes that are no text.
_NO_TEXT = re.compile('[\x00-\x08\x0e-\x1f\ufffd]')
#: What files hold that are no tables, by their first two lines, and what to do.
_OTHERS = {
    r'header:\n': 'messages as "ros2 topic echo" prints them; print them with --csv ("rostopic '
                  'echo -p"), or record a bag',
    r'[<{]|\[[\[{]': 'XML or JSON; write a line of names, and below it one of numbers for each '
                     'sample',
    r'.*\n.*\[\s*-?\d': 'lists in its cells; write each number into a column of its own, such as '
                        'q_0',
}


@dataclass(frozen=True)
class Table:
    """
    A file whose columns are known but not yet read.

    Attributes
    ----------
    path : Path
        File.
    names : tuple of str
        Column names.
    load : callable
        ``load(families)`` reads families of columns by name, of which the first holds the time.

    """

    path: Path
    names: tuple[str, ...]
    load: Callable[[Sequence[Sequence[str]]], Rows]

    def read(
        self, columns: Mapping[str, Sequence[Column]],
    ) -> tuple[dict[str, Array], Mask, Sequence[Defect]]:
        """
        Read columns by quantity, ``time`` first; report rows that cannot be read.

        Raises
        ------
        RecordingError
            A column is not there, there are no rows, or too many that cannot be read.

        """
        families = [[column.name for column in family] for family in columns.values()]
        self.require([*chain(*families)])
        values, bad, defects = self.load(families)
        return dict(zip(columns, values, strict=True)), bad, defects

    def alike(self, names: Sequence[str]) -> bool:
        """Whether columns can be read and hold the same values."""
        try:
            first, *others = self.load([[name] for name in names])[0]
        except RecordingError:
            return False
        return all(np.array_equal(first, other) for other in others)

    def require(self, names: Sequence[str]) -> None:
        """Raise RecordingError unless columns are there, once each."""
        for name in names:
            count = self.names.count(name)
            if not count:
                raise RecordingError(
                    f'{self.path} has no column {name}; it has {summary(self.names)}')
            if count > 1:
                raise repeated(self.path, self.names, name)


def repeated(path: Path, names: Sequence[str], name: str) -> RecordingError:
    """Return the error that a header has a name several times, with its columns from 1 on."""
    places = [str(place) for place, other in enumerate(names, 1) if other == name]
    return RecordingError(
        f'{path}: the header has the name {name} {len(places)} times, for the columns '
        f'{several(places)}; give each column a name of its own')


def open_text(path: Path, header: Sequence[str] = (), joints: int = 0) -> Table:
    """
    Find the columns of a text file.

    Without header line and ``header``, the name of the file says what it holds of each joint.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Column names of a file without a header line.
    joints : int
        Number of joints; 0 if it is not known.

    Raises
    ------
    RecordingError
        The file is absent, empty or not text, or has no header.

    """
    lines = _first_lines(path)
    place = _header_place(lines)
    line = next((text for _, text in text_lines(path)), '') if header else lines[place]
    if _NO_TEXT.search(line):
        raise RecordingError(f'{path} cannot be read: it is not text; save it as text in UTF-8')
    if not line:
        raise RecordingError(f'{path} is empty, or its first line is')
    separator = _separator(line)
    cells, units = _cells(line, separator), _cells(lines[place + 1], separator)
    skip = place + 1
    if header:
        if len(header) != len(cells):
            raise RecordingError(f'{path} has {len(cells)} columns, but table.header of arm.yaml '
                                 f'names {len(header)}')
        cells, skip = list(header), 0
    elif any(number_in(cell.replace(',', '.')) is not None for cell in cells):
        cells, skip = _by_file(path, len(cells), separator, joints), 0
        if not cells:
            raise RecordingError(
                f'{path} has no header line, but {len(units)} columns; name them in arm.yaml: '
                'table: {header: [t, q_1, q_2, ..., tau_1, tau_2, ...]}, or, where each file '
                'holds one quantity of each joint, name the files by it, such as q.txt and '
                'tau.txt')
    elif len(units) == len(cells) and all(unit in ('', '-') or unit_in(unit) for unit in units):
        cells = [f'{name} [{unit_in(unit)}]' if unit else name
                 for name, unit in zip(cells, units, strict=True)]
        skip = place + 2
    return Table(path, tuple(cells), partial(read_rows, path, cells, separator, skip))


def _by_file(path: Path, width: int, separator: str | None, joints: int) -> list[str]:
    """Name columns by the file: one a joint, perhaps behind the time, or the time alone."""
    quantity = plain(path.stem).quantity
    if not quantity or (quantity == 'time' and width > 1):
        return []
    if quantity == 'time':
        return ['t']
    names = [f'{path.stem}_{k}' for k in range(joints or width)]
    if len(names) + 1 == width and _rises(path, separator):
        return ['t', *names]
    return names if len(names) == width else []


def _rises(path: Path, separator: str | None) -> bool:
    """Whether the first column is a time: joints go back, and a gripper may stand behind them."""
    first = [number_in(split(text, separator)[0].replace(',', '.'))
             for _, text in text_lines(path)]
    steps = np.diff([np.nan if value is None else value for value in first])
    return bool(np.mean(steps > 0) > 0.5 and np.mean(steps < 0) <= quality.MISSING_SHARE)


def _first_lines(path: Path) -> list[str]:
    """Return the lines in which a header is sought and one more, without marks of comments."""
    with opened(path) as file:
        lines = [line.lstrip('#%').strip() for line in islice(file, HEADER_LINES)]
    for form, text in _OTHERS.items():
        if re.match(form, '\n'.join(lines[:2])):
            raise RecordingError(f'{path} holds {text}')
    return [*lines, '', '']


def _header_place(lines: Sequence[str]) -> int:
    """Count the lines that a tool writes before the header, which is as wide as the rows."""
    for place, line in enumerate(lines[:-1]):
        separator = _separator(line)
        cells = _cells(line, separator)
        numbers = sum(number_in(cell.replace(',', '.')) is not None for cell in cells)
        widths = Counter(len(_cells(row, separator)) for row in lines[place + 1:] if row)
        if 2 * numbers > len(cells):
            # Behind a few words, these are rows without a header.
            return place if 2 * len(_cells(lines[0], separator)) < len(cells) else 0
        if widths and not numbers and 1 < len(cells) == widths.most_common(1)[0][0]:
            return place
    return 0


def _separator(line: str) -> str | None:
    """Find the separator of cells; None for white space."""
    bare = re.sub('"[^"]*"', '', line)
    return next((s for s in SEPARATORS if s in bare), None)


def _cells(line: str, separator: str | None) -> list[str]:
    """Split a header; a unit in brackets stays with its name."""
    cells = split(line, separator) if separator or '"' in line else re.split(
        r'\s+(?![\[(])', line)
    return [cell.strip() for cell in cells]
