# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Markdown tables."""


def heading(*names: str) -> None:
    """Print the names of the columns."""
    row(*names)
    print('|---' * len(names) + '|')


def row(*cells: object) -> None:
    """Print one row."""
    print('| ' + ' | '.join(map(str, cells)) + ' |', flush=True)
