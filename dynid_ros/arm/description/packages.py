# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Files and folders of ROS packages, with and without ROS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
import os
from pathlib import Path
import re
from urllib.parse import unquote, urlsplit

#: Schemes in which the first part names a package; Gazebo writes ``model``.
PACKAGE_SCHEMES = ('package', 'model')


def find_meshes(uris: Iterable[str], file: Path) -> dict[str, Path | None]:
    """
    Find the files of meshes.

    A package is sought as by `find_package`, and from the folder of the file upwards, where its
    folder may have another name. A plain path is relative to the folder of the file.

    Parameters
    ----------
    uris : iterable of str
        ``package://``, ``model://`` or ``file://``, or a path, each.
    file : Path
        The URDF or xacro file that mentions them.

    Returns
    -------
    dict of str to Path or None
        For each URI the first file that exists; None where there is none.

    """
    # Searching for one by its package.xml takes time.
    packages: dict[str, Path | None] = {}
    found: dict[str, Path | None] = {}
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme in PACKAGE_SCHEMES:
            name, inner = parts.netloc, unquote(parts.path).lstrip('/')
            near = [*_stated(name), *_above(name, file), *file.resolve().parents]
            found[uri] = _first(folder / inner for folder in near)
            if found[uri] is None:
                if name not in packages:
                    packages[name] = find_package(name, file)
                folder = packages[name]
                found[uri] = None if folder is None else _first([folder / inner])
        else:
            plain = unquote(parts.path) if parts.scheme == 'file' else uri
            found[uri] = _first([file.resolve().parent / plain])
    return found


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def find_package(name: str, file: Path) -> Path | None:
    """
    Find the folder of a package, as ``$(find NAME)`` of a xacro file asks for it.

    It is sought in ROS 2's index (``AMENT_PREFIX_PATH``), along ``ROS_PACKAGE_PATH`` and Gazebo's
    ``GZ_SIM_RESOURCE_PATH``, and from the folder of the file upwards: in a checkout beside it, by
    its package.xml or its name.

    Parameters
    ----------
    name : str
        The package.
    file : Path
        The file that mentions it.

    Returns
    -------
    Path or None
        The first folder that exists; None where there is none.

    """
    folders = chain(
        _stated(name),
        (package for folder in file.resolve().parents[:-1] for package in _with_children(folder)
         if _names(package / 'package.xml', name)),
        _above(name, file))
    return next((folder for folder in folders if folder.is_dir()), None)


def _stated(package: str) -> Iterator[Path]:
    """Candidates for the folder of a package by the environment, the surest first."""
    for prefix in _folders('AMENT_PREFIX_PATH'):
        yield prefix / 'share' / package
    for folder in _folders('ROS_PACKAGE_PATH') + _folders('GZ_SIM_RESOURCE_PATH'):
        yield folder / package
        # An entry may be the package itself.
        if folder.name == package:
            yield folder


def _above(package: str, file: Path) -> Iterator[Path]:
    return (folder / package for folder in file.resolve().parents)


def _with_children(folder: Path) -> Iterator[Path]:
    """Yield a folder and two levels below it, even if they change meanwhile."""
    level = [folder]
    for _ in range(3):
        yield from level
        inner: list[Path] = []
        for each in level:
            with suppress(OSError):
                inner += sorted(path for path in each.iterdir() if path.is_dir())
        level = inner


def _names(manifest: Path, package: str) -> bool:
    with suppress(OSError):
        text = manifest.read_text(errors='replace')
        return re.search(rf'<name>\s*{re.escape(package)}\s*</name>', text) is not None
    return False


def _folders(variable: str) -> list[Path]:
    return [Path(text) for text in os.environ.get(variable, '').split(os.pathsep) if text]
