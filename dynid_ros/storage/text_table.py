"""Text files of numbers in named columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arrays import Array
from dynid_ros.errors import listed, RecordingError
from dynid_ros.large_arrays import GrowingArray, large_array
from dynid_ros.recordings import quality
from dynid_ros.recordings.in_blocks import transformed
from dynid_ros.recordings.recording import Defect

SEPARATORS = (',', ';', '\t')
#: Stands for bytes that are not UTF-8.
REPLACED = '\ufffd'
#: Characters of a cell that an error shows.
LONGEST = 40
#: Rows that are read at once.
ROWS = 16_384


@dataclass(frozen=True)
class Columns:
    """
    Columns of a table.

    Attributes
    ----------
    names : tuple of str
        Their names.
    values : (N, c) ndarray
        Numbers; NaN in rows that cannot be read.
    unreadable : (N,) ndarray of bool
        Marks these rows.
    defects : tuple of Defect
        Reports them.

    """

    names: tuple[str, ...]
    values: Array
    unreadable: NDArray[np.bool_]
    defects: tuple[Defect, ...] = ()

    def take(self, names: Sequence[str]) -> Array:
        """Copy some columns, (N, k)."""
        places = [self.names.index(name) for name in names]
        # Taken by an index, rows would lie in memory column by column.
        return transformed(self.values, lambda part: part[:, places])


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

    """

    path: Path
    names: tuple[str, ...]
    separator: str | None
    skip: int

    def require(self, names: Sequence[str]) -> None:
        """
        Check that columns are there, once each.

        Raises
        ------
        RecordingError
            One is not.

        """
        for name in names:
            count = self.names.count(name)
            if not count:
                raise RecordingError(
                    f'{self.path} has no column {name}; it has {", ".join(self.names)}')
            if count > 1:
                raise RecordingError(
                    f'{self.path} has {count} columns {name}; give each column a name of its own')

    def read(self, names: Sequence[str]) -> Columns:
        """
        Read columns by name.

        Raises
        ------
        RecordingError
            There are no rows, or too many that cannot be read.

        """
        self.require(names)
        # The other reader finds the row and the cell.
        with suppress(ValueError):
            values = self._read_in_parts(names)
            return Columns(tuple(names), values, np.zeros(len(values), dtype=np.bool_))
        return self._read_line_by_line(names, self._widths())

    def _read_in_parts(self, names: Sequence[str]) -> Array:
        """
        Read rows of equal width.

        Raises
        ------
        ValueError
            Their widths differ, or a cell is no number.

        """
        places = [self.names.index(name) for name in names]
        whole, width = GrowingArray(), None
        rows = (text for _, text in self._lines())
        while part := list(islice(rows, ROWS)):
            widths = set(map(self._width, part))
            width = widths.pop() if width is None else width
            if widths - {width}:
                raise ValueError('the widths of the rows differ')
            whole.add(np.loadtxt(part, delimiter=self.separator, usecols=places, ndmin=2))
        if width is None:
            raise RecordingError(f'{self.path} has a header but no rows')
        values: Array = whole.take()
        return values

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of each row, without comments."""
        with self.path.open(encoding='utf-8-sig', errors='replace') as file:
            for number, line in enumerate(file, start=1):
                text = line.split('#', 1)[0].strip('\r\n ')
                if number > self.skip and text:
                    yield number, text

    def _widths(self) -> NDArray[np.int64]:
        """Count the cells of each row."""
        return np.fromiter((self._width(text) for _, text in self._lines()), dtype=np.int64)

    def _width(self, text: str) -> int:
        return len(text.split()) if self.separator is None else text.count(self.separator) + 1

    def _read_line_by_line(self, names: Sequence[str], widths: NDArray[np.int64]) -> Columns:
        """Leave out the rows that cannot be read, and report them."""
        usual, limit = int(np.bincount(widths).argmax()), quality.THRESHOLDS.missing_share
        places = [self.names.index(name) for name in names]
        values = large_array((len(widths), len(names)))
        values[:] = np.nan
        faults: list[tuple[int, str]] = []
        bad = np.zeros(len(widths), dtype=np.bool_)
        for row, (number, text) in enumerate(self._lines()):
            cells = text.split(self.separator)
            fault = _fault(cells, usual, names, places)
            if fault is None:
                values[row] = [float(cells[place].strip()) for place in places]
                continue
            bad[row] = True
            faults.append((number, fault))
            if len(faults) > limit * len(widths):
                first, why = faults[0]
                raise RecordingError(
                    f'{self.path}, line {first}{why}; more than {100 * limit:g} % of the '
                    f'{len(widths)} rows cannot be read')
        found = (_unreadable(self.path, faults, len(widths)),) if faults else ()
        return Columns(tuple(names), values, bad, found)


def _fault(
    cells: Sequence[str], usual: int, names: Sequence[str], places: Sequence[int]
) -> str | None:
    """Return why a row cannot be read, to follow its number; None if it can be."""
    for name, place in zip(names, places, strict=True):
        cell = cells[place].strip() if place < len(cells) else ''
        if not _is_number(cell):
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
    try:
        # A line further down may be damaged.
        with path.open(encoding='utf-8-sig', errors='replace') as file:
            line = file.readline().lstrip('#').strip()
    except OSError as error:
        raise RecordingError(f'{path} cannot be read: {error.strerror}') from error
    if REPLACED in line:
        raise RecordingError(f'{path} cannot be read: it is not text')
    if not line:
        raise RecordingError(f'{path} is empty, or its first line is')
    separator = next((s for s in SEPARATORS if s in line), None)
    cells = [cell.strip().strip('"') for cell in line.split(separator)]
    if header:
        if len(header) != len(cells):
            raise RecordingError(
                f'{path} has {len(cells)} columns, but table.header of arm.yaml names '
                f'{len(header)}'
            )
        return TextTable(path, tuple(header), separator, 0)
    if all(_is_number(cell) for cell in cells):
        raise RecordingError(
            f'{path} has no header line; name its columns in table.header of arm.yaml'
        )
    return TextTable(path, tuple(cells), separator, 1)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    # Python takes 1_000 for a number, and other writers of tables never do.
    return '_' not in cell
