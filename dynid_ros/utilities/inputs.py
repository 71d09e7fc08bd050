# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check arguments of the public functions once, at the boundary."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf, isfinite
import os
from pathlib import Path
from typing import Annotated, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array

Number = TypeVar('Number', int, float)


def numbers(name: str, value: ArrayLike) -> Array:
    """
    Convert an argument to an array of float64, or raise an `InputError` that names it.

    Text is refused even if it reads as a number, and complex numbers even if they are real: their
    source is wrong.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiub':
            kinds = {type(entry).__name__ for entry in array.ravel().tolist()
                     } & {'str', 'bytes', 'complex', 'datetime', 'date', 'timedelta'}
            if kinds:
                raise ValueError(f'it holds values of the type {min(kinds)}')
        return array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f'{name} must hold numbers: {error}') from None


def one_number(name: str, value: object) -> float:
    """Convert an argument to one number, or raise an `InputError` that names it."""
    array = numbers(name, value)  # type: ignore[arg-type]
    if array.ndim:
        raise InputError(f'{name} must be one number, not {value!r}')
    return float(array)


@dataclass(frozen=True)
class Range(Generic[Number]):
    """
    Numbers that an argument may be, in Python and on the command line.

    Attributes
    ----------
    kind : int or float
        Their type.
    wanted : str
        The range in words, for messages.
    fits : callable
        Whether a number lies in it.

    """

    kind: type[Number]
    wanted: str
    fits: Callable[[float], bool]

    def take(self, name: str, value: object) -> Number:
        """Convert an argument, or raise an `InputError` that names it."""
        number = one_number(name, value)
        if not self.fits(number) or (self.kind is int and number % 1):
            raise InputError(f'{name} must be {self.wanted}, not {value!r}')
        return self.kind(number)

    def take_given(self, name: str, value: object | None) -> Number | None:
        """Convert an argument that may be left out."""
        return None if value is None else self.take(name, value)

    def read(self, text: str) -> Number:
        """Convert a word of the command line, or raise an `InputError` that cites it."""
        # Of no number, and of one with thousands of digits.
        with suppress(ValueError, OverflowError):
            number = self.kind(text)
            if self.fits(number):
                return number
        raise InputError(f'{text} is not {self.wanted}')


#: Largest number of starts, harmonics and periods.
LARGEST_COUNT = 1_000_000
FINITE = Range(float, 'a finite number', isfinite)
POSITIVE = Range(float, 'a number above zero', lambda value: 0 < value < inf)
NOT_NEGATIVE = Range(float, 'a number of zero or more', lambda value: 0 <= value < inf)
SHARE = Range(float, 'a share from 0 to below 1', lambda value: 0 <= value < 1)
COUNT = Range(int, f'a whole number from 1 to {LARGEST_COUNT}',
              lambda value: 0 < value <= LARGEST_COUNT)
SEED = Range(int, 'a whole number of zero or more, below 2**63', lambda value: 0 <= value < 2**63)
#: The same as types of arguments.
Finite: TypeAlias = Annotated[float, FINITE]
Positive: TypeAlias = Annotated[float, POSITIVE]
NotNegative: TypeAlias = Annotated[float, NOT_NEGATIVE]
Share: TypeAlias = Annotated[float, SHARE]
Count: TypeAlias = Annotated[int, COUNT]
Seed: TypeAlias = Annotated[int, SEED]


def as_path(name: str, value: object) -> Path:
    """Convert an argument to a path, or raise an `InputError` that names it."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong_type(name, 'a path', value)
    text = os.fspath(value)
    if not isinstance(text, str) or '\0' in text:
        raise InputError(f'{name} must be a path of text without NUL, not {text!r}')
    return Path(text)


def as_text(name: str, value: object) -> str:
    """Return an argument that is text, or raise an `InputError` that names it."""
    if not isinstance(value, str):
        raise wrong_type(name, 'text', value)
    return value


def as_flag(name: str, value: object) -> bool:
    """Return an argument that is true or false, or raise an `InputError` that names it."""
    if not isinstance(value, (bool, np.bool_)):
        raise wrong_type(name, 'True or False', value)
    return bool(value)


def wrong_type(name: str, wanted: str, given: object) -> InputError:
    """Return the error on an argument of another type."""
    return InputError(f'{name} must be {wanted}, not {type(given).__name__}')


def as_numbers(name: str, value: ArrayLike, dimensions: int, width: int | None = None) -> Array:
    """
    Convert an argument to an array of numbers, and check its shape.

    Parameters
    ----------
    name : str
        Argument, for the message.
    value : array_like
        Its value.
    dimensions : int
        Number of dimensions that it must have.
    width : int, optional
        Length that its last dimension must have.

    Returns
    -------
    ndarray
        Of float64; the same memory if nothing was converted.

    Raises
    ------
    InputError
        The value holds other things than numbers, or has another shape.

    """
    array = numbers(name, value)
    if array.ndim != dimensions or (width is not None and array.shape[-1] != width):
        wanted = {1: ['N'], 2: ['N', 'n']}[dimensions]
        wanted[-1] = wanted[-1] if width is None else str(width)
        shape = f'({", ".join(wanted)}{"," if dimensions == 1 else ""})'
        raise InputError(f'{name} must have the shape {shape}, but has {array.shape}')
    return array


def finite_rows(name: str, value: ArrayLike, width: int) -> Array:
    """
    Convert an argument to finite rows (N, width); one row may be given alone.

    Raises
    ------
    InputError
        The value has another shape, or holds NaN or infinity.

    """
    array = numbers(name, value)
    rows = np.atleast_2d(as_numbers(name, array, 1 if array.ndim == 1 else 2, width))
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise InputError(
            f'{name} must be finite, but is {rows[row, column]} in row {row}, joint {column + 1}')
    return rows
