# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Strict reading of YAML: an error names the key, the file and the expected value."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
import math
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.errors import ArmError, LONGEST_WORD
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import read_whole

LENGTH_UNITS = {'m': 1.0, 'mm': 1e-3}
ANGLE_UNITS = {'rad': 1.0, 'deg': np.pi / 180}
# YAML 1.1 reads 1e-3, 1.5e3, -.087 and 010 as text.
_DECIMAL = re.compile(r'[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?')
#: Largest number, in any unit, that describes an arm; larger ones overflow in products.
LARGEST_NUMBER = 1e15
#: Most characters of a value in a message.
_CITED = 60


def read_yaml(path: Path) -> Any:
    """
    Content of a YAML file; a repeated key is an error.

    Raises
    ------
    ArmError
        The file cannot be read, is not YAML, or repeats a key.

    """
    try:
        return parse_yaml(read_whole(path))
    except OSError as error:
        raise ArmError(f'cannot read {path}: {error.strerror}') from error
    except YamlError as error:
        raise ArmError(f'{path} is not valid YAML: {error}') from error


def near(name: str, known: Sequence[str]) -> str:
    """Return ``; did you mean "..."?`` where a known name is near, else nothing."""
    # Comparing a very long name would take minutes.
    matches = get_close_matches(name, known, n=1) if len(name) < LONGEST_WORD else []
    return f'; did you mean "{matches[0]}"?' if matches else ''


class Section:
    """
    One mapping of a YAML file whose keys are known and whose values are checked when read.

    Parameters
    ----------
    data : object
        Content of the file at this place; must be a mapping, or None where it is absent.
    path : Path
        The file, for messages.
    known : sequence of str
        Keys that may stand here.
    place : str
        Dotted keys that lead here, empty at the top of the file.

    Raises
    ------
    ArmError
        On construction if the data are not a mapping or a key is unknown; later for wrong values.

    """

    def __init__(self, data: Any, path: Path, known: Sequence[str], place: str = '') -> None:
        self.path = path
        self.place = place
        data = {} if data is None else data
        if not isinstance(data, dict):
            what = f'"{place}" in {path}' if place else str(path)
            raise ArmError(f'{what} must hold keys and values, not {_show(data)}')
        self._data: dict[str, Any] = data
        for key in data:
            if key not in known:
                under = f' under "{place}"' if place else ''
                hint = near(str(key), known) or f'; known are {", ".join(known)}'
                raise ArmError(f'unknown key "{key}"{under} in {path}{hint}')

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def error(self, key: str, problem: str) -> ArmError:
        """Error about the value of a key; ``problem`` continues the sentence."""
        return ArmError(f'"{self._full(key)}" in {self.path} {problem}')

    def raw(self, key: str) -> Any:
        """Value as it stands in the file, or None."""
        return self._data.get(key)

    def needed(self, key: str, value: Any) -> Any:
        """Return a value that was read from a key, which must be there."""
        if value is None:
            raise self.error(key, 'is missing')
        return value

    def section(self, key: str, known: Sequence[str]) -> Section:
        """Return the mapping below a key; an empty one where the key is absent."""
        return Section(self._data.get(key), self.path, known, self._full(key))

    def sections(self, key: str, known: Sequence[str], each: str) -> list[Section]:
        """Return the mappings of a list below a key, numbered from one; none if absent."""
        entries = self._items(key, self._data.get(key) or [], None, 'entries')
        return [Section(entry, self.path, known, f'{self._full(key)}, {each} {i}')
                for i, (_, entry) in enumerate(entries, start=1)]

    def number(self, key: str) -> float | None:
        """Finite number, or None where the key is absent."""
        return self._number(key, self._data[key]) if key in self else None

    def positive(self, key: str) -> float | None:
        """Return a number above zero, or None where the key is absent."""
        value = self.number(key)
        if value is not None and value <= 0:
            raise self.error(key, f'must be above zero, not {value:g}')
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Value that is true or false."""
        value = self._data[key] if key in self else default
        if not isinstance(value, bool):
            raise self.error(key, f'must be true or false, not {_show(value)}')
        return value

    def text(self, key: str) -> str | None:
        """Text, or None where the key is absent."""
        return self._text(key, self._data[key]) if key in self else None

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        """One of a few words."""
        value = self.text(key) or default
        if value not in options:
            hint = near(value, options)
            raise self.error(key, f'must be one of {", ".join(options)}, not "{value}"{hint}')
        return value

    def names(self, key: str, count: int | None = None) -> tuple[str, ...]:
        """List of different names, ``count`` of them if given; empty where the key is absent."""
        return self._names(key, self._data[key], count) if key in self else ()

    def lists_of_names(self, key: str, count: int) -> tuple[tuple[str, ...], ...]:
        """List of lists of ``count`` different names."""
        lists = self._items(key, self._data.get(key) or [], None, 'lists of names')
        return tuple(self._names(place, item, count) for place, item in lists)

    def vector(self, key: str, count: int, *, finite: bool = True) -> Array | None:
        """``count`` numbers, (count,), or None where the key is absent."""
        return self._vector(key, self._data[key], count, finite) if key in self else None

    def filled(
        self, key: str, count: int, default: ArrayLike, *, finite: bool = True,
    ) -> Array:
        """``count`` numbers, (count,), or the default where the key is absent."""
        found = self.vector(key, count, finite=finite)
        return np.full(count, default) if found is None else found

    def per_joint(self, key: str, count: int) -> Array | None:
        """``count`` numbers, (count,), or a single one for all; None if absent."""
        if isinstance(self._data.get(key), list) or key not in self:
            return self.vector(key, count)
        return np.full(count, self._number(key, self._data[key]))

    def matrix(self, key: str, count: int) -> Array:
        """``count`` rows of numbers; a flat list is a diagonal, the identity if absent."""
        value = self._data.get(key)
        if not isinstance(value, list) or not any(isinstance(row, list) for row in value):
            return np.diag(self.filled(key, count, 1.0))
        return np.array([self._vector(place, row, count)
                         for place, row in self._items(key, value, count, 'rows')])

    def _full(self, key: str) -> str:
        return f'{self.place}.{key}' if self.place else key

    def _items(
        self, key: str, value: Any, count: int | None, kind: str,
    ) -> list[tuple[str, Any]]:
        """Entries of a list, with a key for each."""
        if not isinstance(value, list) or count not in (None, len(value)):
            number = '' if count is None else f'{count} '
            raise self.error(key, f'must be a list of {number}{kind}, not {_show(value)}')
        return [(f'{key}[{k}]', item) for k, item in enumerate(value)]

    def _number(self, key: str, value: Any, finite: bool = True) -> float:
        number = math.nan
        if _DECIMAL.fullmatch(value) if isinstance(value, str) else (
                isinstance(value, int | float) and not isinstance(value, bool)):
            number = float(value)
        if math.isnan(number) or (finite and math.isinf(number)):
            raise self.error(key, f'must be a number, not {_show(value)}')
        if LARGEST_NUMBER < abs(number) < math.inf:
            raise self.error(key, f'is too large for an arm: {number:g}')
        return number

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.error(key, f'must be text, not {_show(value)}')
        return value

    def _vector(self, key: str, value: Any, count: int, finite: bool = True) -> Array:
        return np.array([self._number(place, item, finite)
                         for place, item in self._items(key, value, count, 'numbers')])

    def _names(self, key: str, value: Any, count: int | None) -> tuple[str, ...]:
        found = tuple(self._text(place, item)
                      for place, item in self._items(key, value, count, 'names'))
        for name in found:
            if found.count(name) > 1:
                raise self.error(key, f'names "{name}" twice')
        return found


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return 'a mapping'
    if isinstance(value, list):
        return f'a list of {len(value)}'
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= _CITED else f'{text[:_CITED]}... ({len(text)} characters)'


def units(section: Section) -> tuple[float, float]:
    """Metres and radians per unit of length and angle, from ``units``; m and rad if absent."""
    declared = section.section('units', ('length', 'angle'))
    return (LENGTH_UNITS[declared.choice('length', tuple(LENGTH_UNITS), 'm')],
            ANGLE_UNITS[declared.choice('angle', tuple(ANGLE_UNITS), 'rad')])
