"""Texts as HTML; names and messages of others are hostile input."""

from __future__ import annotations

import html

import numpy as np

#: Characters of a name and of a sentence that are shown.
NAME, SENTENCE = 40, 400
GREEN, AMBER, RED, GREY, BLUE = '#2b8a3e', '#c77700', '#c92a2a', '#868e96', '#0b5cad'


def words(text: str, longest: int = SENTENCE) -> str:
    """Show a text of others: escaped, of limited length, without characters that are not seen."""
    seen = ''.join(letter if letter.isprintable() else '\ufffd' for letter in text[:longest])
    return html.escape(seen) + ('…' if len(text) > longest else '')


def chip(text: str, colour: str) -> str:
    """Return a word or two on a coloured ground."""
    return (f'<span style="background:{colour};color:#fff;border-radius:4px;padding:1px 7px;'
            f'font-weight:600;white-space:nowrap">{words(text, NAME)}</span>')


def number(value: float) -> str:
    """Return a value in three figures."""
    return f'{value:.3g}' if np.isfinite(value) else '–'
