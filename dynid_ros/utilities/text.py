# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Numbers and clauses for users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import math

#: Replaces a missing number.
NO_NUMBER = '-'
#: First characters of numbers.
NUMERIC = frozenset('0123456789-±')


def plain(value: float | None, digits: int = 3, unit: str = '') -> str:
    """
    Write a number without needless digits or powers of ten.

    Parameters
    ----------
    value : float or None
        The number; a dash stands for None, NaN and infinity.
    digits : int
        Significant digits.
    unit : str
        Follows it after a space.

    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    # Zero has no sign.
    rounded = float(f'{value:.{digits}g}') + 0.0
    text = (f'{rounded:.0f}' if 10**digits <= abs(rounded) < 1e7 else f'{rounded:#.{digits}g}')
    return f'{text.rstrip(".")} {unit}'.rstrip()


def within(value: float, half: float, unit: str) -> str:
    """Write a value with half of its interval, both to the second digit of the latter."""
    places = max(0, 1 - math.floor(math.log10(half))) if 0 < half < math.inf else 3
    return f'{round(value, places) + 0.0:.{places}f} ± {half:.{places}f} {unit}'


def sentence(clause: str) -> str:
    """End a clause with a full stop, and begin it with a capital letter, unless with a name."""
    word = clause.partition(' ')[0]
    text = clause[:1].upper() + clause[1:] if word.rstrip(':,;').isalpha() else clause
    return text if text.endswith(('.', '?', ':')) else f'{text}.'


def several(names: Iterable[str]) -> str:
    """Join names by commas, the last by "and"."""
    *first, last = names
    return f'{", ".join(first)} and {last}' if first else last


def span(low: str, high: str) -> str:
    """Join two ends, unless they read the same."""
    return low if low == high else f'{low} to {high}'


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural unless it is one."""
    return f'{number} {noun}{"" if number == 1 else "s"}'


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """
    Align rows of a table, numbers to the right; a row may lack its last columns.

    The first row is the heading.
    """
    count = max(map(len, rows), default=0)
    widths = [max(len(row[k]) for row in rows if len(row) > k) for k in range(count)]
    numeric = [k > 0 and all(row[k][:1] in NUMERIC for row in rows[1:]
                             if len(row) == count and row[k]) for k in range(count)]
    return ['  ' + '  '.join(
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(row, widths, numeric, strict=False)).rstrip()
        for row in rows]
