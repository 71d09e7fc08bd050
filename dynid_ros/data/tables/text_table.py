"""Text files of numbers in named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
import re

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.column_words import summary, UNITS
from dynid_ros.data.tables.text_lines import MOST, number_in, text_encoding, text_lines
from dynid_ros.errors import listed, RecordingError
from dynid_ros.utilities.arrays import Array

#: In the order in which they are looked for: a comma may be a decimal one.
SEPARATORS = (';', '\t', ',')
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
LONGEST = 40
_KNOWN = {'', '-', *(unit for units in UNITS.values() for unit in units), 'rad/s', 'deg/s', '°/s',
          'm/s'}


@dataclass(frozen=True)
class Columns:
    """
    Columns of a table.

    Attributes
    ----------
    arrays : dict of str to (N, c) ndarray
        Numbers, in one array or several; NaN in rows that cannot be read.
    places : dict of str to (str, int)
        Array and place of each column.
    unreadable : (N,) ndarray of bool
        Marks these rows.
    defects : tuple of Defect
        Reports them.

    """

    arrays: Mapping[str, Array]
    places: Mapping[str, tuple[str, int]]
    unreadable: NDArray[np.bool_]
    defects: tuple[Defect, ...] = ()

    def take(self, names: Sequence[str]) -> Array:
        """Take some columns, (N, k); those of a whole array without a copy."""
        keys, columns = zip(*(self.places[name] for name in names), strict=True)
        first = self.arrays[keys[0]]
        if len(set(keys)) > 1:
            return np.column_stack([self.arrays[key][:, k]
                                    for key, k in zip(keys, columns, strict=True)])
        if columns == tuple(range(first.shape[1])):
            return first
        return np.ascontiguousarray(first[:, columns])


def require(path: Path, there: Sequence[str], names: Sequence[str]) -> None:
    """
    Check that columns are there, once each.

    Raises
    ------
    RecordingError
        One is not.

    """
    for name in names:
        count = there.count(name)
        if not count:
            raise RecordingError(f'{path} has no column {name}; it has {summary(there)}')
        if count > 1:
            raise RecordingError(
                f'{path} has {count} columns {name}; give each column a name of its own')


@dataclass(frozen=True)
class TextTable:
    """
    A text file whose columns are known but not yet read.

    Attributes
    ----------
    path : Path
        File.
    names : tuple of str
        Column names.
    separator : str or None
        Between cells; None for any white space.
    skip : int
        Lines before the first row of numbers.
    encoding : str
        Of the text.

    """

    path: Path
    names: tuple[str, ...]
    separator: str | None
    skip: int
    encoding: str = 'utf-8-sig'

    def read(self, names: Sequence[str], time: Sequence[str] = ()) -> Columns:
        """
        Read columns by name, and those of the time, which may hold dates.

        A row that holds nothing of the first, as one of another topic, is left out.

        Raises
        ------
        RecordingError
            There are no rows, or too many that cannot be read.

        """
        every = [*time, *names]
        require(self.path, self.names, every)
        # The other reader finds the row and the cell.
        with suppress(ValueError):
            values = np.loadtxt(
                self._equal_rows(), delimiter=self.separator, ndmin=2,
                usecols=[self.names.index(name) for name in every])
            return _columns(every, values, np.zeros(len(values), dtype=np.bool_))
        return self._read_line_by_line(every, len(time), self._widths())

    def _equal_rows(self) -> Iterator[str]:
        """Yield the rows; raise ValueError where one has another width than those before."""
        width = None
        for _, text in self._lines():
            own = self._width(text)
            if own != (width := width or own):
                raise ValueError('the widths of the rows differ')
            yield text
        if width is None:
            raise RecordingError(f'{self.path} has a header but no rows')

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of each row, with decimal points."""
        for number, text in text_lines(self.path, self.encoding):
            if number > self.skip:
                yield number, text if self.separator == ',' else text.replace(',', '.')

    def _widths(self) -> NDArray[np.int64]:
        """Count the cells of each row."""
        return np.fromiter((self._width(text) for _, text in self._lines()), dtype=np.int64)

    def _width(self, text: str) -> int:
        return len(text.split()) if self.separator is None else text.count(self.separator) + 1

    def _read_line_by_line(
        self, names: Sequence[str], times: int, widths: NDArray[np.int64]
    ) -> Columns:
        """Leave out the rows that cannot be read, and report them; skip those of others."""
        usual, limit = int(np.bincount(widths).argmax()), quality.THRESHOLDS.missing_share
        places = [self.names.index(name) for name in names]
        values = np.full((len(widths), len(names)), np.nan)
        faults: list[tuple[int, str]] = []
        bad = np.zeros(len(widths), dtype=np.bool_)
        for row, (number, text) in enumerate(self._lines()):
            cells = text.split(self.separator)
            found = [number_in(cells[place].strip()) if place < len(cells) else None
                     for place in places]
            fault = _fault(cells, usual, names, places, found)
            if fault is None:
                values[row] = found
                continue
            bad[row] = True
            if len(cells) == usual and not any(cells[p].strip() for p in places[times:]):
                continue
            faults.append((number, fault))
            if len(faults) > limit * len(widths):
                first, why = faults[0]
                raise RecordingError(
                    f'{self.path}, line {first}{why}; more than {100 * limit:g} % of the '
                    f'{len(widths)} rows cannot be read')
        defects = (_unreadable(self.path, faults, len(widths)),) if faults else ()
        if bad.all():
            raise RecordingError(f'{self.path} has no row that holds {", ".join(names)}')
        return _columns(names, values, bad, defects)


def _columns(
    names: Sequence[str], values: Array, bad: NDArray[np.bool_], defects: tuple[Defect, ...] = (),
) -> Columns:
    return Columns({'': values}, {name: ('', k) for k, name in enumerate(names)}, bad, defects)


def _fault(
    cells: Sequence[str], usual: int, names: Sequence[str], places: Sequence[int],
    found: Sequence[float | None],
) -> str | None:
    """Return why a row cannot be read, to follow its number; None if it can be."""
    for name, place, value in zip(names, places, found, strict=True):
        cell = cells[place].strip() if place < len(cells) else ''
        if value is None:
            # Bytes of a damaged line may be commands to a terminal.
            shown = cell[:LONGEST] if cell.isprintable() else ascii(cell[:LONGEST])[1:-1]
            what = f'"{shown}" is not a number' if cell else 'the cell is empty'
            return f', column {name}: {what}'
    if len(cells) != usual:
        return f': {len(cells)} cells, where other rows have {usual}'
    return None


def _unreadable(path: Path, faults: Sequence[tuple[int, str]], total: int) -> Defect:
    count = len(faults)
    lines = listed([str(number) for number, _ in faults])
    first, why = faults[0]
    text = (f'{count} of {total} rows of {path.name} cannot be read and are left out, in lines '
            f'{lines}; line {first}{why}.')
    return Defect('rows_unreadable', 'warning', text, None, count, None, count / total,
                  quality.THRESHOLDS.missing_share)


def open_text(path: Path, header: Sequence[str] = ()) -> TextTable:
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
    encoding = text_encoding(path)
    place, line, second = _first_lines(path, encoding)
    if header:
        line = next((text for _, text in text_lines(path, encoding)), '')
    if _NO_TEXT.search(line):
        raise RecordingError(f'{path} cannot be read: it is not text')
    if not line:
        raise RecordingError(f'{path} is empty, or its first line is')
    separator = _separator(line)
    cells = _cells(line, separator)
    if header:
        if len(header) != len(cells):
            raise RecordingError(
                f'{path} has {len(cells)} columns, but table.header of arm.yaml names '
                f'{len(header)}'
            )
        return TextTable(path, tuple(header), separator, 0, encoding)
    if any(number_in(cell.replace(',', '.')) is not None for cell in cells):
        raise RecordingError(
            f'{path} has no header line, but {len(cells)} columns; name them in arm.yaml: '
            'table: {header: [t, q_1, q_2, ..., tau_1, tau_2, ...]}')
    units = _cells(second, separator)
    if len(units) == len(cells) and all(unit.strip('[]()').lower() in _KNOWN for unit in units):
        cells = [f'{name} [{unit.strip("[]()")}]' if unit else name
                 for name, unit in zip(cells, units, strict=True)]
        return TextTable(path, tuple(cells), separator, place + 2, encoding)
    return TextTable(path, tuple(cells), separator, place + 1, encoding)


def _first_lines(path: Path, encoding: str) -> tuple[int, str, str]:
    """Count the lines before the header, and find it and the line below it."""
    # A line further down may be damaged.
    with path.open(encoding=encoding, errors='replace') as file:
        lines = [line.lstrip('#%').strip() for line in islice(file, MOST)]
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
    """Find what stands between cells; None for white space."""
    return next((s for s in SEPARATORS if s in line), None)


def _cells(line: str, separator: str | None) -> list[str]:
    """Split a header; a unit in brackets stays with its name."""
    cells = line.split(separator) if separator else re.split(r'\s+(?![\[(])', line)
    return [cell.strip().strip('"') for cell in cells]
