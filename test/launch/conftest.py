# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launches that are gone after a test."""

from collections.abc import Callable, Iterator
from pathlib import Path

from launches import Launch
import pytest


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Launch]]:
    """Start commands of ros2 in sessions of their own."""
    begun = []

    def start(*command: str) -> Launch:
        begun.append(Launch(tmp_path / f'{len(begun)}.log', *command))
        return begun[-1]

    yield start
    for one in begun:
        one.kill()
