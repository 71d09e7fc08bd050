# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The files of the project, of a checkout or of a copy without Git."""

from collections.abc import Iterator
from functools import cache
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What `make`, colcon and pip write beside them.
MADE = {'build', 'install', 'log', 'dist', 'demo'}


def sources(pattern: str) -> Iterator[Path]:
    """Files whose name fits a pattern."""
    return (path for path in _files() if path.match(pattern))


@cache
def _files() -> tuple[Path, ...]:
    found = []
    for folder, below, names in os.walk(ROOT):
        made = MADE if folder == str(ROOT) else set()
        below[:] = [name for name in below if name not in made and name != '__pycache__'
                    and not name.endswith('.egg-info')
                    and (name == '.github' or not name.startswith('.'))]
        found += [Path(folder, name) for name in names]
    return tuple(sorted(found))
