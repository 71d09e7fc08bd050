# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The linter of ROS 2 packages finds nothing; ``colcon test`` runs it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ('dynid_ros', 'launch', 'test', 'benchmarks', 'examples', 'setup.py')


@pytest.mark.flake8
@pytest.mark.linter
def test_ament_flake8_finds_nothing(monkeypatch):
    flake8 = pytest.importorskip('ament_flake8.main', reason='ament_flake8 is not installed')
    # Patterns of the configuration are relative to where it runs.
    monkeypatch.chdir(ROOT)
    status, errors = flake8.main_with_errors(['--config', '.flake8', *SOURCES])
    assert status == 0, '\n'.join(errors)
