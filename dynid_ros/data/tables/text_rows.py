# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of text files: their lines, cells and numbers, and which of them cannot be read."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
import csv
from datetime import date
from itertools import chain, islice
from pathlib import Path
import re
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.column_words import summary
from dynid_ros.errors import listed, RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask

#: Lines in which a header is sought.
HEADER_LINES = 60
#: First bytes of text in UTF-16.
UTF_16 = (b'\xff\xfe', b'\xfe\xff')
#: Characters of a cell that an error shows.
SHOWN_CHARACTERS = 40
#: Day from which seconds count.
EPOCH = date(1970, 1, 1).toordinal()
_DATE = re.compile(
    r'(?:(\d{4})[-/](\d\d?)[-/](\d\d?)[T ])?(\d\d?):(\d\d):(\d\d(?:[.,]\d+)?)'
    r'\s*(?:Z|[+-]\d\d:?\d\d)?')
_DAY_FIRST = re.compile(r'(\d\d?)\.(\d\d?)\.(\d{4})\b')
#: Cells of lost values, beside those that Python reads: of R, databases and Microsoft's C.
_LOST = ('na', 'n/a', 'null', 'none', 'nan(ind)', '-nan(ind)')
_NUMBER_LIKE = re.compile(r"[-+\d., ']*\d")
#: A number that shows which mark it has before its decimals.
_DECIMALS = re.compile(r'[-+]?\d*([.,])\d+(?:[eE][-+]?\d+)?')

#: Values (N, k) of each family of columns, rows (N,) of them that cannot be read, and a report of
#: these.
Rows = tuple[Sequence[Array], Mask, Sequence[Defect]]


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not empty, without comments."""
    # A line further down may be damaged.
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.split('#', 1)[0].strip('\r\n ')
            if text:
                yield number, text


def number_in(cell: str, mark: str = '.') -> float | None:
    """Read a number by its decimal mark, or seconds of a date or a time of day."""
    cell = cell.strip()
    if cell.lower() in _LOST:
        return np.nan
    with suppress(ValueError):
        # Python takes 1_000 for a number, and other writers of tables never do.
        if '_' not in cell and (mark == '.' or '.' not in cell):
            return float(cell.replace(mark, '.'))
    found = _DATE.fullmatch(_DAY_FIRST.sub(r'\3-\2-\1', cell))
    if not found:
        return None
    year, month, day, hour, minute, second = found.groups()
    # There is no month 13.
    with suppress(ValueError):
        days = date(int(year), int(month), int(day)).toordinal() if year else EPOCH
        return (86400.0 * (days - EPOCH) + 3600 * int(hour) + 60 * int(minute)
                + float(second.replace(',', '.')))
    return None


def opened(path: Path) -> TextIO:
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


def split(text: str, separator: str | None) -> list[str]:
    """Split a row, in which quotes may hold separators."""
    if '"' in text:
        # A damaged line may be none of a table.
        with suppress(csv.Error):
            return next(csv.reader([text], delimiter=separator or ' ', skipinitialspace=True))
    return text.split(separator)


def read_rows(
    path: Path, header: list[str], separator: str | None, skip: int,
    families: Sequence[Sequence[str]],
) -> Rows:
    """
    Read columns; leave out rows that cannot be read, and report those that hold more than time.

    Parameters
    ----------
    path : Path
        File.
    header : list of str
        Names of all columns.
    separator : str or None
        Between cells; None for white space.
    skip : int
        Lines before the first row.
    families : sequence of sequence of str
        Names of columns; the first family holds the time.

    Raises
    ------
    RecordingError
        There are no rows, too many of them cannot be read, or they do not fit the header.

    """
    names, times = [*chain(*families)], len(families[0])
    places = [header.index(name) for name in names]
    values, widths, numbers = array('d'), array('l'), array('l')
    # Tools that end rows with a separator may end the header with one or not.
    width, named = len(header), max(k for k, name in enumerate(header, start=1) if name)
    faults: dict[int, str] = {}
    mark = ''
    for number, text in text_lines(path):
        if number <= skip:
            continue
        # One mark a file: in 1.234 the point may be before decimals or behind thousands.
        if not mark:
            mark = _decimal_mark(split(text, separator), places)
        line = text.replace('.', '_').replace(',', '.') if mark == ',' != separator else text
        # Without a call for each row, reading is 5 % faster.
        cells = split(line, separator) if '"' in line else line.split(separator)
        try:
            if '_' in line:
                raise ValueError
            row = [*map(float, [cells[place] for place in places])]
        except (ValueError, IndexError):
            cells = split(text, separator)
            used = [cells[place].strip() if place < len(cells) else '' for place in places]
            found = [number_in(cell, mark or '.') for cell in used]
            row = [np.nan if value is None else value for value in found]
            # Of a row that is cut, every cell is needed.
            fault = _fault(names, used, found, mark,
                           times if len(cells) >= named else len(names))
            if fault is not None:
                faults[len(widths)] = fault
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        values.extend(row)
        widths.append(width if named <= len(cells) < width else len(cells))
        numbers.append(number)
    if not widths:
        raise RecordingError(f'{path} has a header but no rows')
    bad, defects = _left_out(path, header, np.array(widths), np.array(numbers), faults)
    if bad.all():
        raise RecordingError(f'{path} has no row that holds {", ".join(names)}')
    whole, ends = np.frombuffer(values).reshape(len(widths), len(names)), [*map(len, families)]
    parts = np.split(whole, np.cumsum(ends)[:-1], axis=1)
    return [*map(np.ascontiguousarray, parts)], bad, defects


def _left_out(
    path: Path, header: Sequence[str], widths: NDArray[np.int64], numbers: NDArray[np.int64],
    faults: dict[int, str],
) -> tuple[Mask, Sequence[Defect]]:
    """Mark and report rows with a fault or of another width than the header; refuse many."""
    counts, width = np.bincount(widths, minlength=len(header) + 1), len(header)
    if counts[width] < counts.max():
        raise RecordingError(
            f'{path} has {width} names in its header ({summary(header)}), but rows of '
            f'{counts.argmax()} cells; name each column, and separate the cells of numbers with '
            'decimal commas by semicolons')
    for k in np.flatnonzero(widths != width).tolist():
        faults[k] = faults.get(k) or f': {widths[k]} cells, where other rows have {width}'
    bad = np.zeros(len(widths), dtype=np.bool_)
    bad[list(faults)] = True
    reported = [(str(numbers[k]), why) for k, why in sorted(faults.items()) if why]
    if not reported:
        return bad, ()
    limit, count, (first, why) = quality.MISSING_SHARE, len(reported), reported[0]
    if count > limit * len(widths):
        raise RecordingError(f'{path}, line {first}{why}; more than {100 * limit:g} % of the '
                             f'{len(widths)} rows cannot be read')
    text = (f'{count} of {len(widths)} rows of {path.name} cannot be read and are left out, in '
            f'lines {listed([number for number, _ in reported])}; line {first}{why}.')
    return bad, [Defect('rows_unreadable', 'warning', text, None, count, None,
                        count / len(widths), limit)]


def _decimal_mark(cells: Sequence[str], places: Sequence[int]) -> str:
    """Find the mark before the decimals of a row; empty if it shows none."""
    some = (_DECIMALS.fullmatch(cells[place].strip()) for place in places if place < len(cells))
    return next((found[1] for found in some if found), '')


def _fault(
    names: Sequence[str], cells: Sequence[str], found: Sequence[float | None], mark: str,
    times: int,
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
            marks = f' with "{mark}" before its decimals' if mark and _NUMBER_LIKE.fullmatch(
                cell) else ''
            return f', column {names[k]}: ' + (
                f'"{shown}" is not a number{marks}' if cell else f'the cell is empty{other}')
    return None
