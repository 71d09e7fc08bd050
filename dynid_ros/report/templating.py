"""Pages from the templates beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TYPE_CHECKING

from dynid_ros.report.numbers import fixed, percent, significant, with_interval

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name('templates')


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
    return environment().get_template(template).render(values).encode(errors='replace')


@cache
def environment() -> Environment:
    """Make the environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        'fixed': fixed, 'percent': percent, 'significant': significant,
        'with_interval': with_interval}
    return made
