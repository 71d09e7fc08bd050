"""Text files of numbers in named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import warnings

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError

Array = NDArray[np.float64]

SEPARATORS = (',', ';', '\t')


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
        Check that columns are there.

        Raises
        ------
        RecordingError
            One is not.

        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise RecordingError(
                f'{self.path} has no column {missing[0]}; it has {", ".join(self.names)}'
            )

    def read(self, names: Sequence[str]) -> dict[str, Array]:
        """
        Read columns by name, (N,) each.

        Raises
        ------
        RecordingError
            A cell is not a number, or there are no rows.

        """
        places = [self.names.index(name) for name in names]
        try:
            with warnings.catch_warnings():
                # A file without rows is reported below, as an error.
                warnings.simplefilter('ignore', UserWarning)
                values = np.loadtxt(
                    self.path,
                    delimiter=self.separator,
                    skiprows=self.skip,
                    usecols=places,
                    ndmin=2,
                )
        except ValueError as error:
            raise self._bad_cell(names, places, error) from error
        if not len(values):
            raise RecordingError(f'{self.path} has a header but no rows')
        return {name: values[:, i] for i, name in enumerate(names)}

    def _bad_cell(
        self, names: Sequence[str], places: Sequence[int], error: ValueError
    ) -> RecordingError:
        """Find the cell that the fast reader rejected, and report its place."""
        with self.path.open(encoding='utf-8-sig', errors='replace') as file:
            for number, line in enumerate(file, start=1):
                cells = line.split('#')[0].strip().split(self.separator)
                if number <= self.skip or not any(cells):
                    continue
                for name, place in zip(names, places, strict=True):
                    cell = cells[place].strip() if place < len(cells) else ''
                    if not _is_number(cell):
                        what = f'"{cell}" is not a number' if cell else 'the cell is empty'
                        return RecordingError(f'{self.path}, line {number}, column {name}: {what}')
        return RecordingError(f'{self.path} is not a table of numbers: {error}')


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
        with path.open(encoding='utf-8-sig') as file:
            line = file.readline().lstrip('#').strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not text'
        raise RecordingError(f'{path} cannot be read: {reason}') from error
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
    return True
