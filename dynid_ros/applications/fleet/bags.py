# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bags of a fleet: where they lie, whose they are, and whether they have changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
import hashlib
from pathlib import Path, PurePosixPath
import re
import tempfile
from typing import Any

from dynid_ros.data.files.recording_reader import BAG_SUFFIXES
from dynid_ros.data.files.sidecar import SIDECAR
from dynid_ros.errors import InputError, RecordingError

#: Files that are recordings of their own; a .txt is as likely a note.
BAG_OR_TABLE_SUFFIXES = (*BAG_SUFFIXES, '.npz', '.csv')
METADATA = 'metadata.yaml'
#: Names under which file systems state a change.
CHANGED = ('ETag', 'mtime', 'LastModified', 'last_modified', 'updated')
#: Prefix of a file that lists bags, one a line.
LIST = '@'
#: Name of the arm in a pattern of places.
ARM_FIELD = '{arm}'
#: A date in a name, such as 2026-03-14 or rosbag2_2026_03_14-09_26_53.
DATED = re.compile(
    r'(?<!\d)(20\d\d)[-_]?([01]\d)[-_]?([0-3]\d)(?:[-_T ]([0-2]\d)[-_:]?([0-5]\d)[-_:]?([0-5]\d))?'
    r'(?!\d)')


@dataclass(frozen=True)
class Bag:
    """
    One bag.

    Attributes
    ----------
    name : str
        Path or URL.
    place : str
        Its path in the folder that was given, with forward slashes.
    identity : str
        Hash of names, sizes and times of change of its files.
    about : str
        Path or URL of the ``recording.yaml`` of the recorder, in the bag or beside it; empty
        without one.

    """

    name: str
    place: str
    identity: str
    about: str = ''

    @property
    def sidecar(self) -> str:
        """Return the file name of its sidecar."""
        digest = hashlib.sha256(self.name.encode(errors='surrogateescape')).hexdigest()[:16]
        stem = re.sub(r'[^\w.-]', '_', PurePosixPath(self.place).stem)[:60]
        return f'{stem}-{digest}.npz'


def find_bags(given: Sequence[str], left_out: Path) -> list[Bag]:
    """
    Find the bags in folders, lists and URLs.

    Parameters
    ----------
    given : sequence of str
        Folders, searched with all folders in them; single bags; URLs of either that fsspec
        opens; or a ``@`` with the path of a file that lists these, one a line.
    left_out : Path
        Folder of the results, which may lie in one of the others.

    Returns
    -------
    list of Bag
        Each once, by name.

    Raises
    ------
    InputError
        A folder or list does not exist, or nothing is found.

    """
    found: dict[str, Bag] = {}
    own = left_out.resolve().as_posix() + '/'
    for word in _listed(given):
        before = len(found)
        for bag in _found_in(word):
            if not bag.name.startswith(own):
                found[bag.name] = bag
        if len(found) == before and not found:
            raise InputError(
                f'{word} holds no recording ({", ".join(BAG_OR_TABLE_SUFFIXES)}, or a rosbag2 '
                'folder)')
    return [found[name] for name in sorted(found)]


def _listed(given: Sequence[str]) -> Iterator[str]:
    for word in given:
        if not word.startswith(LIST):
            yield word
            continue
        try:
            lines = Path(word[len(LIST):]).read_text(encoding='utf-8').splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f'the list {word[len(LIST):]} cannot be read: {error}') from error
        yield from (line.strip() for line in lines if line.strip())


def _found_in(word: str) -> Iterator[Bag]:
    fs, root = _system(word)
    try:
        infos = {root: fs.info(root)} if fs.isfile(root) else fs.find(root, detail=True)
    except Exception as error:
        # Each file system has exceptions of its own.
        raise InputError(f'{word} cannot be listed: {error}') from error
    if not infos:
        if not fs.exists(root):
            raise InputError(f'{word} does not exist; give a folder of bags')
        return
    local = '://' not in word
    folders = {str(PurePosixPath(path).parent) for path in infos
               if PurePosixPath(path).name == METADATA}
    held: dict[str, dict[str, Any]] = {folder: {} for folder in folders}
    for path, info in infos.items():
        parent = str(PurePosixPath(path).parent)
        if any(part.startswith('.') for part in PurePosixPath(path[len(root):]).parts):
            continue
        if parent in folders:
            held[parent][path] = info
        elif PurePosixPath(path).suffix in BAG_OR_TABLE_SUFFIXES:
            held[path] = {path: info}
    top = PurePosixPath(root).parent if root in held else PurePosixPath(root)
    for path, files in held.items():
        near = ((path,) if path in folders else ()) + (str(PurePosixPath(path).parent),)
        about = next((f'{folder}/{SIDECAR}' for folder in near
                      if f'{folder}/{SIDECAR}' in infos), '')
        full = [where if local or not where else str(fs.unstrip_protocol(where))
                for where in (path, about)]
        yield Bag(
            full[0], str(PurePosixPath(path).relative_to(top)), _identity(files), full[1])


def _system(word: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, root = url_to_fs(word if '://' in word else str(Path(word).resolve()))
    except Exception as error:
        # An unknown protocol, a package that is missing, an address that is none.
        raise InputError(f'{word} cannot be opened: {error}') from error
    return fs, str(root).rstrip('/')


def _identity(files: Mapping[str, Mapping[str, Any]]) -> str:
    facts = [(path, info.get('size'), *(str(info.get(key)) for key in CHANGED))
             for path, info in sorted(files.items())]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


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
    """Have a bag on this machine: itself, or a copy for as long as it is needed."""
    if '://' not in bag.name:
        yield Path(bag.name)
        return
    with tempfile.TemporaryDirectory(prefix='dynid-fleet-') as folder:
        target = Path(folder) / PurePosixPath(bag.name).name
        try:
            fs, path = _system(bag.name)
            fs.get(path, str(target), recursive=fs.isdir(path))
        except Exception as error:
            # Each file system has exceptions of its own.
            raise RecordingError(f'{bag.name} cannot be copied: {error}') from error
        yield target


def date_in(name: str) -> float | None:
    """Find the date in a name, s since 1970 (UTC)."""
    found = DATED.search(name)
    if found is None:
        return None
    year, month, day, *time = (part or '00' for part in found.groups())
    try:
        return datetime.fromisoformat(
            f'{year}-{month}-{day}T{":".join(time)}+00:00').timestamp()
    except ValueError:
        return None
