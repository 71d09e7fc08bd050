# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pages from the templates of all pages, with their numbers as text."""

from __future__ import annotations

from functools import cache
import math
import os
from pathlib import Path
import re
from typing import Any, TYPE_CHECKING

from dynid_ros.errors import listed
from dynid_ros.utilities.text import plain, within

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parents[1] / 'templates'
#: Where Python keeps the compiled modules of the wing, if it may, and Jinja the templates.
COMPILED = FOLDER.parent / '__pycache__'
_SUPERSCRIPT = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')


def render(template: str, **values: Any) -> bytes:
    """
    Fill in a template; every value is escaped unless it is a drawing.

    Parameters
    ----------
    template : str
        File in `FOLDER`.
    **values : Any
        Values that it needs; a missing name is an error.

    Returns
    -------
    bytes
        The page. Characters of a path that are not UTF-8 become question marks.

    """
    return part(template, **values).encode(errors='replace')


def part(template: str, **values: Any) -> str:
    """Fill in the template of a part of a page; see `render`."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Make the environment of all templates."""
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    # Compilation takes as long as all else of a report.
    kept = FileSystemBytecodeCache(str(COMPILED)) if os.access(COMPILED, os.W_OK) else None
    made = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, bytecode_cache=kept)
    made.filters |= {
        'fixed': fixed, 'listed': listed, 'percent': percent, 'significant': significant,
        'with_interval': with_interval, 'words': words}
    return made


def words(text: str, longest: int = 400) -> str:
    """Show a text from others: of limited length, without invisible characters."""
    seen = ''.join(letter if letter.isprintable() else '\ufffd' for letter in text[:longest])
    return seen + ('…' if len(text) > longest else '')


def significant(value: float, digits: int = 3) -> str:
    """Round to some significant digits, as `plain` does."""
    return typeset(plain(value, digits))


def percent(value: float, digits: int = 3) -> str:
    """Round to some significant digits and add a percent sign."""
    return typeset(plain(value, digits, '%'))


def with_interval(value: float, half: float) -> str:
    """Write ``value ± half`` with both rounded to where the second digit of ``half`` stands."""
    if math.isfinite(value) and math.isfinite(half):
        return typeset(within(value, half, '').rstrip())
    return f'{significant(value)} ± {significant(half)}'


def fixed(value: float, places: int) -> str:
    """Round to some places behind the point."""
    return typeset(f'{round(value, places) + 0.0:.{places}f}')


def typeset(text: str) -> str:
    """Give numbers the minus signs and powers of ten of a page."""
    return re.sub(
        r'e([+-]\d+)', lambda found: f'·{power_of_ten(int(found[1]))}', text).replace('-', '−')


def power_of_ten(exponent: int) -> str:
    """Write ``10⁻³`` for -3."""
    return f'10{str(exponent).translate(_SUPERSCRIPT)}'
