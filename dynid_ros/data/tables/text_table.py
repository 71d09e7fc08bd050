# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Text files of numbers in named columns."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain, islice
from pathlib import Path
import re
from typing import TextIO

import numpy as np

from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.column_words import Column, COLUMN_UNITS, summary
from dynid_ros.errors import listed, RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask

#: In the order in which they are looked for: a comma may be a decimal one.
SEPARATORS = (';', '\t', ',')
#: First bytes of text in UTF-16.
UTF_16 = (b'\xff\xfe', b'\xfe\xff')
#: Lines in which a header is sought.
HEADER_LINES = 60
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
#: Characters of a cell that an error shows.
SHOWN_CHARACTERS = 40
#: Day from which seconds count.
EPOCH = date(1970, 1, 1).toordinal()
_DATE = re.compile(
    r'\s*(?:(\d{4})[-/](\d\d)[-/](\d\d)[T ])?(\d\d?):(\d\d):(\d\d(?:\.\d+)?)'
    r'\s*(?:Z|[+-]\d\d:?\d\d)?\s*')
_KNOWN = {'', '-', *(unit for units in COLUMN_UNITS.values() for unit in units), 'rad/s', 'deg/s',
          '°/s', 'm/s'}

#: Values (N, k) of each family of columns, rows (N,) of them that cannot be read, and a report of
#: these.
Rows = tuple[Sequence[Array], Mask, Sequence[Defect]]


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

    def require(self, names: Sequence[str]) -> None:
        """Raise RecordingError unless columns are there, once each."""
        for name in names:
            count = self.names.count(name)
            if not count:
                raise RecordingError(
                    f'{self.path} has no column {name}; it has {summary(self.names)}')
            if count > 1:
                raise RecordingError(f'{self.path} has {count} columns {name}; give each column a '
                                     'name of its own')


def open_text(path: Path, header: Sequence[str] = ()) -> Table:
    """
    Find the columns of a text file.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Column names of a file without a header line.

    Raises
    ------
    RecordingError
        The file is absent, empty or not text, or has no header.

    """
    place, line, second = _first_lines(path)
    if header:
        line = next((text for _, text in text_lines(path)), '')
    if _NO_TEXT.search(line):
        raise RecordingError(f'{path} cannot be read: it is not text')
    if not line:
        raise RecordingError(f'{path} is empty, or its first line is')
    separator = _separator(line)
    cells, units = _cells(line, separator), _cells(second, separator)
    skip = place + 1
    if header:
        if len(header) != len(cells):
            raise RecordingError(f'{path} has {len(cells)} columns, but table.header of arm.yaml '
                                 f'names {len(header)}')
        cells, skip = list(header), 0
    elif any(number_in(cell.replace(',', '.')) is not None for cell in cells):
        raise RecordingError(
            f'{path} has no header line, but {len(cells)} columns; name them in arm.yaml: '
            'table: {header: [t, q_1, q_2, ..., tau_1, tau_2, ...]}')
    elif len(units) == len(cells) and all(unit.strip('[]()').lower() in _KNOWN for unit in units):
        cells = [f'{name} [{unit.strip("[]()")}]' if unit else name
                 for name, unit in zip(cells, units, strict=True)]
        skip = place + 2
    return Table(path, tuple(cells), partial(_read, path, cells, separator, skip))


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not empty, without comments and quotes."""
    # A line further down may be damaged.
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.split('#', 1)[0].strip('\r\n ').replace('"', '')
            if text:
                yield number, text


def number_in(cell: str) -> float | None:
    """Read a number, or seconds of a date or a time of day."""
    with suppress(ValueError):
        # Python takes 1_000 for a number, and other writers of tables never do.
        return None if '_' in cell else float(cell)
    found = _DATE.fullmatch(cell)
    if not found:
        return None
    year, month, day, hour, minute, second = found.groups()
    # There is no month 13.
    with suppress(ValueError):
        days = date(int(year), int(month), int(day)).toordinal() if year else EPOCH
        return 86400.0 * (days - EPOCH) + 3600 * int(hour) + 60 * int(minute) + float(second)
    return None


def _opened(path: Path) -> TextIO:
    """Open a text in UTF-8 or UTF-16, or else in the encoding of Windows."""
    try:
        with path.open('rb') as raw:
            head = b''.join(islice(raw, HEADER_LINES))
    except OSError as error:
        raise RecordingError(f'{path} cannot be read: {error.strerror}') from error
    encoding = 'utf-16' if head[:2] in UTF_16 else 'utf-8-sig'
    try:
        head.decode()
    except UnicodeDecodeError:
        encoding = encoding if encoding == 'utf-16' else 'cp1252'
    return path.open(encoding=encoding, errors='replace')


def _first_lines(path: Path) -> tuple[int, str, str]:
    """Count the lines before the header, and find it and the line below it."""
    with _opened(path) as file:
        lines = [line.lstrip('#%').strip() for line in islice(file, HEADER_LINES)]
    for form, text in _OTHERS.items():
        if re.match(form, '\n'.join(lines[:2])):
            raise RecordingError(f'{path} holds {text}')
    place = _header_place(lines)
    lines += ['', '']
    return place, lines[place], lines[place + 1]


def _header_place(lines: Sequence[str]) -> int:
    """Count the lines that a tool writes before the header, which is as wide as the rows."""
    for place, line in enumerate(lines):
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
    return next((s for s in SEPARATORS if s in line), None)


def _cells(line: str, separator: str | None) -> list[str]:
    """Split a header; a unit in brackets stays with its name."""
    cells = line.split(separator) if separator else re.split(r'\s+(?![\[(])', line)
    return [cell.strip().strip('"') for cell in cells]


def _read(
    path: Path, header: list[str], separator: str | None, skip: int,
    families: Sequence[Sequence[str]],
) -> Rows:
    """Leave out rows that cannot be read, and report them, unless they hold the time alone."""
    names, times = [*chain(*families)], len(families[0])
    places = [header.index(name) for name in names]
    values, widths, numbers = array('d'), array('l'), array('l')
    faults: dict[int, str] = {}
    for number, text in text_lines(path):
        if number <= skip:
            continue
        cells = (text if separator == ',' else text.replace(',', '.')).split(separator)
        try:
            if '_' in text:
                raise ValueError
            row = [float(cells[place]) for place in places]
        except (ValueError, IndexError):
            used = [cells[place].strip() if place < len(cells) else '' for place in places]
            found = [number_in(cell) for cell in used]
            row = [np.nan if value is None else value for value in found]
            # Of a row that is cut, every cell is needed.
            fault = _fault(names, used, found, times if len(cells) == len(header) else len(names))
            if fault is not None:
                faults[len(widths)] = fault
        values.extend(row)
        widths.append(len(cells))
        numbers.append(number)
    if not widths:
        raise RecordingError(f'{path} has a header but no rows')
    usual = int(np.bincount(widths).argmax())
    for k in np.flatnonzero(np.array(widths) != usual).tolist():
        faults[k] = faults.get(k) or f': {widths[k]} cells, where other rows have {usual}'
    bad = np.zeros(len(widths), dtype=np.bool_)
    bad[list(faults)] = True
    reported = [(numbers[k], why) for k, why in sorted(faults.items()) if why]
    defects = _unreadable(path, reported, len(widths)) if reported else ()
    if bad.all():
        raise RecordingError(f'{path} has no row that holds {", ".join(names)}')
    whole, ends = np.frombuffer(values).reshape(len(widths), len(names)), [*map(len, families)]
    parts = np.split(whole, np.cumsum(ends)[:-1], axis=1)
    return [*map(np.ascontiguousarray, parts)], bad, defects


def _fault(
    names: Sequence[str], cells: Sequence[str], found: Sequence[float | None], times: int,
) -> str | None:
    """
    Return why a row cannot be read, to follow its number; nothing if it holds the time alone.

    Many tools leave the cell of a NaN empty: behind the first ``times`` columns, an empty cell is
    a lost value. None stands for a row that can be read.
    """
    if times < len(names) and not any(cells[times:]):
        return ''
    for k, (cell, value) in enumerate(zip(cells, found, strict=True)):
        if value is None and (cell or k < times):
            # Bytes of a damaged line may be commands to a terminal.
            begin = cell[:SHOWN_CHARACTERS]
            shown = begin if cell.isprintable() else ascii(begin)[1:-1]
            # Of a row that is cut, the time is not in doubt.
            other = '' if k >= times or times == len(names) else (
                ' (where another column holds the time of all rows, name it in table.time of '
                'arm.yaml)')
            return f', column {names[k]}: ' + (
                f'"{shown}" is not a number' if cell else f'the cell is empty{other}')
    return None


def _unreadable(path: Path, faults: Sequence[tuple[int, str]], total: int) -> list[Defect]:
    """Report rows by the numbers of their lines; refuse a file with many."""
    limit, count, (first, why) = quality.MISSING_SHARE, len(faults), faults[0]
    if count > limit * total:
        raise RecordingError(f'{path}, line {first}{why}; more than {100 * limit:g} % of the '
                             f'{total} rows cannot be read')
    lines = listed([str(number) for number, _ in faults])
    text = (f'{count} of {total} rows of {path.name} cannot be read and are left out, in lines '
            f'{lines}; line {first}{why}.')
    return [Defect('rows_unreadable', 'warning', text, None, count, None, count / total, limit)]
