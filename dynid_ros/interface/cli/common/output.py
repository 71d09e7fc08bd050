"""Answers that all commands print alike: a line, a small table, a few notes, then the rest."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
import sys
from typing import Any

from dynid_ros.utilities.progress import Listener, listening
from dynid_ros.utilities.text import columns, counted, several

#: Notes that are printed without ``--verbose``.
NOTES = 5


def add_answer(parser: ArgumentParser) -> None:
    """Add ``--verbose`` and ``--json``."""
    parser.add_argument('-v', '--verbose', action='store_true',
                        help='print all notes and details')
    parser.add_argument('--json', action='store_true', help='print one JSON object instead')


def answer(
    args: Namespace, facts: Any, line: str, *, table: Sequence[Sequence[str]] = (),
    notes: Iterable[str] = (), details: Iterable[str] = (), wrote: Sequence[object] = (),
    then: Iterable[str] = (),
) -> None:
    """
    Print the answer of a command, or its facts as JSON where `add_answer` gave the choice.

    Parameters
    ----------
    args : Namespace
        Parsed arguments.
    facts : Any
        The answer under stable keys.
    line : str
        The answer in a line.
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
    from dynid_ros.data.files.plain import json_text

    if args.json:
        print(json_text(facts, 2))
        return
    lines = answer_lines(line, table, notes, details, verbose=args.verbose)
    if wrote:
        lines.append(f'Wrote {several(map(str, wrote))}.')
    print('\n'.join([*lines, *then]))


def answer_lines(
    line: str, table: Sequence[Sequence[str]] = (), notes: Iterable[str] = (),
    details: Iterable[str] = (), *, verbose: bool,
) -> list[str]:
    """Lines of an answer: all notes and details, or `NOTES` notes and a count of the rest."""
    notes, details = list(notes), list(details)
    shown = notes if verbose else notes[:NOTES]
    lines = [line, *columns(table), *(f'- {note}' for note in shown)]
    left = len(notes) - len(shown)
    if verbose:
        lines += details
    elif left or details:
        more = [counted(left, 'more note')] if left else []
        lines.append(f'--verbose prints {several([*more, *(["details"] if details else [])])}.')
    return lines


@contextmanager
def shown_progress() -> Iterator[Listener]:
    """Show the progress of the work and its remaining time, on a terminal alone."""
    from tqdm import tqdm

    with tqdm(total=1.0, leave=False, disable=not sys.stderr.isatty(), miniters=0, smoothing=0,
              bar_format='{desc} |{bar}| {percentage:3.0f} %, {remaining} left') as bar:
        def listener(stage: str, done: float) -> None:
            bar.set_description_str(stage, refresh=False)
            bar.update(min(done, 1.0) - bar.n)

        with listening(listener):
            yield listener
