"""Matplotlib figures as SVG that lives inside a page and takes the page's colours and font."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import io
import re
from typing import Any

# Stand-ins that Matplotlib can draw; in the page they become variables of the style sheet, so
# that one drawing serves light, dark and paper.
INK, GRID, MEASURED, PREDICTED, RESIDUAL = '#010101', '#020202', '#030303', '#040404', '#050505'
SOFT = '#060606'
_VARIABLES = {
    INK: 'var(--ink)',
    GRID: 'var(--grid)',
    MEASURED: 'var(--measured)',
    PREDICTED: 'var(--predicted)',
    RESIDUAL: 'var(--residual)',
    SOFT: 'var(--soft)',
}
_SETTINGS: dict[Any, Any] = {
    'svg.fonttype': 'none',
    'font.size': 9.5,
    'text.color': INK,
    'axes.labelcolor': INK,
    'axes.edgecolor': GRID,
    'axes.facecolor': 'none',
    'axes.linewidth': 0.8,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.grid': True,
    'axes.xmargin': 0.0,
    'grid.color': GRID,
    'grid.linewidth': 0.6,
    'xtick.color': GRID,
    'ytick.color': GRID,
    'xtick.labelcolor': INK,
    'ytick.labelcolor': INK,
}
_NO_METADATA = dict.fromkeys(('Creator', 'Date', 'Format', 'Type'))


@contextmanager
def drawing() -> Iterator[None]:
    """Give Matplotlib the settings of the page for a while."""
    from matplotlib import rc_context

    # The salt makes the names inside the drawing the same in every run.
    with rc_context({**_SETTINGS, 'svg.hashsalt': 'dynid_ros'}):
        yield


def inline_svg(figure: Any, name: str, description: str) -> str:
    """
    Draw a figure as an SVG element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure on an SVG canvas.
    name : str
        Told apart from the other drawings of the page by letters and digits.
    description : str
        What the drawing shows, for those who cannot see it; without markup.

    """
    buffer = io.StringIO()
    figure.savefig(buffer, format='svg', transparent=True, metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = text[text.index('<svg'):]
    view = re.search(r'viewBox="[^"]*"', text)
    body = text[text.index('>') + 1:]
    body = re.sub(r'<metadata>.*?</metadata>', '', body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', '<g', body)
    body = re.sub(r'<!--.*?-->\s*', '', body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf'\g<1>{name}-', body)
    body = body.replace('xlink:href', 'href')
    for stand_in, variable in _VARIABLES.items():
        body = body.replace(stand_in, variable)
    return f'<svg {view[0] if view else ""} role="img" aria-label="{description}">{body}'
