# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""URDFs of real robots, from the PyPI package example-robot-data where that is installed."""

from importlib import metadata
from pathlib import Path

import pytest

PACKAGE = 'example-robot-data'
ABSENT = f'{PACKAGE} is not installed (pip install {PACKAGE})'


def robots_folder():
    """Folder of the robots, or None."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    # It has no Python module: its files lie in the prefix that cmeel makes in site-packages.
    urdf = next((Path(file.locate()) for file in files if file.suffix == '.urdf'), None)
    return next((up for up in urdf.parents if up.name == 'robots'), None) if urdf else None


def robot(inner):
    """Path of a URDF below the folder of the robots; skips where the package is absent."""
    folder = robots_folder()
    if folder is None:
        pytest.skip(ABSENT)
    return folder / inner


def urdf(name):
    """Path of the URDF of a name without suffix; skips where the package is absent."""
    return next(robot('').rglob(f'{name}.urdf'))
