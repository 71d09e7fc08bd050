"""Pages from the templates of all pages, with their numbers as text."""

from __future__ import annotations

from functools import cache
import math
from pathlib import Path
from typing import Any, TYPE_CHECKING

from dynid_ros.errors import listed

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parents[1] / 'templates'
_SUPERSCRIPT = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')
NONE = '–'


def render(template: str, **values: Any) -> bytes:
    """
    Fill in a template; every value is escaped unless it is a drawing.

    Parameters
    ----------
    template : str
        File in `FOLDER`.
    **values : Any
        What it asks for; a name that it does not find is an error.

    Returns
    -------
    bytes
        The page. A path need not be text in UTF-8: what is not becomes a question mark.

    """
    return part(template, **values).encode(errors='replace')


def part(template: str, **values: Any) -> str:
    """Fill in the template of a part of a page; see `render`."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Make the environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        'fixed': fixed, 'listed': listed, 'percent': percent, 'significant': significant,
        'with_interval': with_interval, 'words': words}
    return made


def words(text: str, longest: int = 400) -> str:
    """Show a text of others: of limited length, without characters that are not seen."""
    seen = ''.join(letter if letter.isprintable() else '\ufffd' for letter in text[:longest])
    return seen + ('…' if len(text) > longest else '')


def significant(value: float, digits: int = 3) -> str:
    """Round to some significant digits; use powers of ten for very large or small values."""
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return '0'
    exponent = _exponent(value, digits)
    if -4 < exponent < 6:
        return fixed(value, digits - 1 - exponent)
    return f'{fixed(value / 10.0**exponent, digits - 1)}·{power_of_ten(exponent)}'


def percent(value: float, digits: int = 3) -> str:
    """Round to some significant digits and add a percent sign."""
    text = significant(value, digits)
    return text if text == NONE else f'{text} %'


def with_interval(value: float, half: float) -> str:
    """
    Write ``value ± half`` with both rounded to where the second digit of ``half`` stands.

    Parameters
    ----------
    value : float
        Estimate.
    half : float
        Half width of its interval.

    """
    if not math.isfinite(value):
        return NONE
    if half == 0 or not math.isfinite(half):
        return f'{significant(value, 5)} ± {significant(half)}'
    last = 1 - _exponent(half, 2)
    if -4 < last < 6:
        return f'{fixed(value, last)} ± {fixed(half, last)}'
    exponent = max(_exponent(value, 2) if value else -400, _exponent(half, 2))
    scale = 10.0**exponent
    inner = f'{fixed(value / scale, last + exponent)} ± {fixed(half / scale, last + exponent)}'
    return f'({inner})·{power_of_ten(exponent)}'


def power_of_ten(exponent: int) -> str:
    """Write ``10⁻³`` for -3."""
    return f'10{str(exponent).translate(_SUPERSCRIPT)}'


def _exponent(value: float, digits: int) -> int:
    # Of the rounded number: 9.99 with two digits is 10.
    return int(f'{abs(value):.{digits - 1}e}'.partition('e')[2])


def fixed(value: float, places: int) -> str:
    """Round to some places behind the point, with a minus where a digit is not zero."""
    text = f'{value:.{max(0, places)}f}'
    # A minus before zeros only is meaningless.
    return text.replace('-', '−' if text.strip('-0.') else '')
