"""Mesh files of a URDF: a URI becomes the path of a file, where one exists."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Schemes of which the first part names a package; Gazebo writes ``model``.
PACKAGE_SCHEMES = ('package', 'model')


def find_mesh(uri: str, urdf: Path) -> Path | None:
    """
    Find the file of a mesh.

    A package is sought in ROS 2's index (``AMENT_PREFIX_PATH``), along ``ROS_PACKAGE_PATH`` and
    Gazebo's ``GZ_SIM_RESOURCE_PATH``, and from the folder of the URDF upwards, where its folder
    may have another name. A plain path is relative to the folder of the URDF.

    Parameters
    ----------
    uri : str
        ``package://``, ``model://`` or ``file://``, or a path.
    urdf : Path
        The file that mentions it.

    Returns
    -------
    Path or None
        The first file that exists; None where there is none.

    """
    parts = urlsplit(uri)
    if parts.scheme in PACKAGE_SCHEMES:
        found = _in_package(parts.netloc, unquote(parts.path).lstrip('/'), urdf)
    else:
        plain = unquote(parts.path) if parts.scheme == 'file' else uri
        found = iter([urdf.resolve().parent / plain])
    return next((path for path in found if path.is_file()), None)


def _in_package(package: str, inner: str, urdf: Path) -> Iterator[Path]:
    """Candidates for a file of a package, the surest first."""
    for prefix in _folders('AMENT_PREFIX_PATH'):
        yield prefix / 'share' / package / inner
    for folder in _folders('ROS_PACKAGE_PATH') + _folders('GZ_SIM_RESOURCE_PATH'):
        yield folder / package / inner
        # An entry may be the package itself.
        if folder.name == package:
            yield folder / inner
    for folder in urdf.resolve().parents:
        yield folder / package / inner
    for folder in urdf.resolve().parents:
        yield folder / inner


def _folders(variable: str) -> list[Path]:
    return [Path(text) for text in os.environ.get(variable, '').split(os.pathsep) if text]
