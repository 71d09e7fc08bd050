# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How all commands print: one answer for a user or a script, and progress on a terminal."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
from functools import cache
import sys
from typing import Any

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.progress import listening


def add_answer(parser: ArgumentParser) -> None:
    """Add ``--verbose`` and ``--json``."""
    parser.add_argument('-v', '--verbose', action='store_true',
                        help='print all notes and details')
    parser.add_argument('--json', action='store_true', help='print one JSON object instead')


def print_answer(answer: Answer, args: Namespace) -> int:
    """Print an answer, or its facts as JSON; return the exit status."""
    from dynid_ros.data.files.plain_values import json_text

    print(json_text(answer.facts, 2) if args.json else answer.text(args.verbose), flush=True)
    return answer.status


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of the work and its remaining time, on a terminal alone."""
    with ExitStack() as shown:
        @cache
        def bar() -> Any:
            # Not before anything takes time, and where doctor would report it missing.
            from tqdm import tqdm

            return shown.enter_context(tqdm(
                total=1.0, leave=False, disable=not sys.stderr.isatty(), miniters=0, smoothing=0,
                bar_format='{desc} |{bar}| {percentage:3.0f} %, {remaining} left'))

        def listener(stage: str, done: float) -> None:
            bar().set_description_str(stage, refresh=False)
            bar().update(min(done, 1.0) - bar().n)

        with listening(listener):
            yield
