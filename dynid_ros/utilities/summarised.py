# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Short texts of objects for a console, and tables of them for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(
    title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """
    Make a small table of HTML; every text is escaped.

    Parameters
    ----------
    title : str
        Caption.
    rows : iterable of sequence
        Cells, the first of each row its head.
    header : sequence of str
        Heads of the columns.
    notes : iterable of str
        Paragraphs below.

    """
    head = ''.join(f'<th>{escape(each)}</th>' for each in header)
    body = ''.join(
        f'<tr><th style="text-align:left">{escape(str(first))}</th>'
        + ''.join(f'<td style="text-align:left">{escape(str(cell))}</td>' for cell in cells)
        + '</tr>' for first, *cells in rows)
    below = ''.join(f'<p>{escape(each)}</p>' for each in notes)
    return (f'<table><caption style="text-align:left">{escape(title)}</caption>'
            f'{f"<thead><tr>{head}</tr></thead>" if head else ""}<tbody>{body}</tbody></table>'
            f'{below}')


class Summarised:
    """An object that shows itself by a title and a few facts."""

    def facts(self) -> Sequence[tuple[str, str]]:
        """Return names of facts and facts; the first pair is kind and name of the object."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Show a line for each fact."""
        (kind, name), *rows = self.facts()
        return '\n'.join([f'{kind} {name}', *(f'  {label}: {fact}' for label, fact in rows)])

    def _repr_html_(self) -> str:
        """Show a table in a notebook."""
        (kind, name), *rows = self.facts()
        return html_table(f'{kind} {name}', rows)
