# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check arguments of the public functions once, at the boundary."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array


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


def one_number(name: str, value: object, least: float = -np.inf, most: float = np.inf) -> float:
    """Convert an argument to one number within bounds, or raise an `InputError` that names it."""
    array = numbers(name, value)  # type: ignore[arg-type]
    if array.ndim or not least <= array <= most:
        bounds = f' from {least:g} to {most:g}' if least > -np.inf or most < np.inf else ''
        raise InputError(f'{name} must be one number{bounds}, not {value!r}')
    return float(array)


def one_count(name: str, value: object, least: int = 1) -> int:
    """Convert an argument to a whole number, or raise an `InputError` that names it."""
    number = one_number(name, value, least)
    if number % 1:
        raise InputError(f'{name} must be a whole number, not {value!r}')
    return int(number)


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
