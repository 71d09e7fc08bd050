# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An answer: a line, a small table, a few notes, then the rest; and the same facts for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dynid_ros.utilities.text import columns, counted, several

#: Notes that are printed without ``--verbose``.
NOTES = 5


@dataclass(eq=False)
class Answer:
    """
    The answer of a command.

    Attributes
    ----------
    facts : Any
        The answer under stable keys, for ``--json``.
    line : str
        The answer in a line.
    status : int
        Exit status.
    table : sequence of sequence of str
        A small table; its first row is the heading.
    notes : iterable of str
        Sentences in the order of their weight; the first `NOTES` of them are printed.
    details : iterable of str
        Further lines, of ``--verbose`` alone.
    wrote : sequence
        Files written.
    then : iterable of str
        Last lines: what to do next.

    """

    facts: Any
    line: str
    status: int = 0
    table: Sequence[Sequence[str]] = ()
    notes: Iterable[str] = ()
    details: Iterable[str] = ()
    wrote: Sequence[object] = ()
    then: Iterable[str] = ()

    def text(self, verbose: bool = False) -> str:
        """Lines of the answer: all notes and details, or `NOTES` notes and a count of the rest."""
        notes, details = list(self.notes), list(self.details)
        shown = notes if verbose else notes[:NOTES]
        lines = [self.line, *columns(self.table), *(f'- {note}' for note in shown)]
        left = len(notes) - len(shown)
        if verbose:
            lines += details
        elif left or details:
            more = [counted(left, 'more note')] if left else []
            more += ['details'] if details else []
            lines.append(f'--verbose prints {several(more)}.')
        if self.wrote:
            lines.append(f'Wrote {several(map(str, self.wrote))}.')
        return '\n'.join([*lines, *self.then])
