# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pictures of the documentation."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure


def save(figure: Figure, path: Path) -> None:
    """Write an SVG file that has the same bytes whenever it shows the same."""
    with rc_context({'svg.hashsalt': 'dynid'}):
        figure.savefig(path, metadata={'Date': None})
