# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bags of a fleet: their places, their arms, and whether they have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import hashlib
from pathlib import Path, PurePosixPath
import re
import tempfile
from typing import Any

from dynid_ros.data.files.recording_reader import BAG_SUFFIXES
from dynid_ros.data.files.sidecar import SIDECAR
from dynid_ros.errors import InputError, listed, RecordingError

#: Files that are recordings of their own; a .txt is as likely a note.
BAG_OR_TABLE_SUFFIXES = (*BAG_SUFFIXES, '.npz', '.csv')
METADATA = 'metadata.yaml'
#: Names under which file systems state a change.
CHANGED = ('ETag', 'mtime', 'LastModified', 'last_modified', 'updated')
#: Name of the arm in a pattern of places.
ARM_FIELD = '{arm}'


@dataclass(frozen=True)
class Bag:
    """
    One bag, without its factors.

    Attributes
    ----------
    name : str
        Path or URL.
    place : str
        Its path in the folder that was given, with forward slashes.
    identity : str
        Hash of names, sizes and times of change of its files: a bag that differs is read again.
    recorded_arm : str
        Serial number or name in its ``recording.yaml``; empty without one.
    date : float or None
        When it was recorded, s since 1970; None where nothing states it.
    seconds : float
        Length, s.
    samples : int
        Samples as recorded.
    reason : str
        Why it is skipped, a sentence; empty for a good bag.

    """

    name: str
    place: str
    identity: str
    recorded_arm: str = ''
    date: float | None = None
    seconds: float = 0.0
    samples: int = 0
    reason: str = ''


def find_bags(given: Sequence[str], left_out: Path) -> list[Bag]:
    """
    Find the bags in folders and URLs.

    Parameters
    ----------
    given : sequence of str
        Folders, searched with all folders in them; single bags; URLs of either that fsspec
        opens.
    left_out : Path
        Folder of the results, which may lie in one of the others.

    Returns
    -------
    list of Bag
        Each once, by name.

    Raises
    ------
    InputError
        A folder does not exist, or nothing is found.

    """
    found: dict[str, Bag] = {}
    own = left_out.resolve().as_posix() + '/'
    for word in given:
        found |= {bag.name: bag for bag in _found_in(word) if not bag.name.startswith(own)}
    if not found:
        raise InputError(
            f'no recording ({", ".join(BAG_OR_TABLE_SUFFIXES)}, or a rosbag2 folder) in '
            f'{listed(given)}')
    return [found[name] for name in sorted(found)]


def _found_in(word: str) -> Iterator[Bag]:
    fs, root = _system(word)
    try:
        infos = {root: fs.info(root)} if fs.isfile(root) else fs.find(root, detail=True)
    except Exception as error:
        # Each file system has exceptions of its own.
        raise InputError(f'{word} cannot be listed: {error}') from error
    if not infos and not fs.exists(root):
        raise InputError(f'{word} does not exist; give a folder of bags')
    paths = {path: PurePosixPath(path) for path in infos}
    folders = {path.parent for path in paths.values() if path.name == METADATA}
    files: dict[PurePosixPath, list[tuple[Any, ...]]] = {}
    for name, path in sorted(paths.items()):
        hidden = any(part.startswith('.') for part in PurePosixPath(name[len(root):]).parts)
        bag = path.parent if path.parent in folders else path
        if not hidden and (bag in folders or path.suffix in BAG_OR_TABLE_SUFFIXES):
            files.setdefault(bag, []).append((name, infos[name].get('size'), *(
                str(infos[name].get(key)) for key in CHANGED)))
    top = PurePosixPath(root)
    for bag, facts in files.items():
        name = str(fs.unstrip_protocol(str(bag))) if '://' in word else str(bag)
        place = bag.relative_to(top.parent if top in files else top)
        yield Bag(name, str(place), hashlib.sha256(repr(facts).encode()).hexdigest()[:32])


def _system(word: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, root = url_to_fs(word if '://' in word else str(Path(word).resolve()))
    except Exception as error:
        # An unknown protocol, a missing package, an invalid address.
        raise InputError(f'{word} cannot be opened: {error}') from error
    return fs, str(root).rstrip('/')


def owners(bags: Sequence[Bag], by: str | None) -> list[str | None]:
    """
    Name the arm of each bag by its place: empty without a pattern, None where it does not fit.

    In a pattern such as ``{arm}/*``, ``{arm}`` is a name and ``*`` anything.

    Raises
    ------
    InputError
        The pattern has no ``{arm}``, or several, or no bag fits it.

    """
    if by is None:
        return [''] * len(bags)
    if by.count(ARM_FIELD) != 1:
        raise InputError(
            f"the pattern must hold {ARM_FIELD} once, as '{ARM_FIELD}/*' does, not '{by}'")
    parts = (re.escape(part).replace(r'\*', '.*') for part in by.split(ARM_FIELD))
    pattern = re.compile('([^/]+)'.join(parts))
    found = [pattern.fullmatch(bag.place) for bag in bags]
    if not any(found):
        raise InputError(f"no bag fits '{by}'; the first one lies at '{bags[0].place}'")
    return [each and each[1] for each in found]


@contextmanager
def local_copy(bag: Bag) -> Iterator[Path]:
    """
    Provide a bag on this machine, with the ``recording.yaml`` in its folder or beside it.

    This is the bag itself, or a temporary copy.
    """
    if '://' not in bag.name:
        yield Path(bag.name)
        return
    with tempfile.TemporaryDirectory(prefix='dynid-fleet-') as folder:
        target = Path(folder) / PurePosixPath(bag.name).name
        try:
            fs, path = _system(bag.name)
            fs.get(path, str(target), recursive=fs.isdir(path))
            beside = f'{path.rpartition("/")[0]}/{SIDECAR}'
            if fs.exists(beside):
                fs.get(beside, str(target.with_name(SIDECAR)))
        except Exception as error:
            # Each file system has exceptions of its own.
            raise RecordingError(f'{bag.name} cannot be copied: {error}') from error
        yield target
