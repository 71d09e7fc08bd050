"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

import dynid_ros.threads  # noqa: F401 (before anything imports NumPy)


@pytest.fixture(scope='session')
def shared_data() -> Path:
    """Folder with recordings of real arms, which are not part of the project."""
    folder = Path(__file__).resolve().parents[2] / 'shared' / 'data'
    if not folder.is_dir():
        pytest.skip('recordings of real arms (../shared/data) are not on this machine')
    return folder
