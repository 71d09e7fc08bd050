# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms that come with the package, by name; the help of commands lists them."""

from __future__ import annotations

from pathlib import Path


def shipped_files() -> dict[str, Path]:
    """Find each arm.yaml: beside the package in a checkout, else where the build put it."""
    package = Path(__file__).resolve().parents[1]
    beside = package.parent / 'config' / 'arms'
    installed = (folder / 'share' / package.name / 'config' / 'arms' for folder in package.parents)
    folder = next((folder for folder in (beside, *installed) if folder.is_dir()), beside)
    return {file.parent.name: file for file in sorted(folder.glob('*/arm.yaml'))}


def shipped_arms() -> tuple[str, ...]:
    """Names of the arms that come with the package."""
    return tuple(shipped_files())
