"""The saved state of the identifier: a file beside the result."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from dynid_ros.errors import ResultError
from dynid_ros.online.online_identifier import OnlineIdentifier
from dynid_ros.storage.whole_file import write_whole

STATE = 'state.npz'


def write_state(online: OnlineIdentifier, folder: Path) -> None:
    """Write a session to `STATE` in a folder."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **online.state())
    write_whole(folder / STATE, buffer.getvalue())


def read_state(online: OnlineIdentifier, folder: Path) -> bool:
    """
    Go on from the state in a folder, if there is one.

    Returns
    -------
    bool
        False if there is no state, which is no error at the first start.

    Raises
    ------
    ResultError
        The state is damaged or belongs to other settings.

    """
    path = folder / STATE
    if not path.is_file():
        return False
    try:
        with np.load(path, allow_pickle=False) as arrays:
            online.restore(dict(arrays))
    except (BadZipFile, OSError, ValueError, KeyError, EOFError) as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, or start without resuming') from error
    except ResultError as error:
        raise ResultError(f'{path}: {error}') from error
    return True
