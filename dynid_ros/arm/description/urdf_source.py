# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The XML of a URDF, from a URDF, a xacro file, an MJCF or an SDF."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
import re
from types import ModuleType
from typing import Any, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dynid_ros.arm.description.packages import find_package
from dynid_ros.errors import ArmError, listed, reason_of
from dynid_ros.utilities.atomic_write import read_whole

#: Endings of the files that describe a robot without an arm.yaml.
DESCRIPTION_SUFFIXES = ('.urdf', '.xacro', '.xml', '.mjcf', '.sdf')
#: Most xacro files of a package that are searched for one that includes a macro.
MOST_FILES = 1000


class _NoDoctype(ElementTree.TreeBuilder):
    """Stop at a document type, before any entity in it can be expanded."""

    def doctype(self, *_: str | None) -> None:
        raise _DoctypeError


class _DoctypeError(Exception):
    pass


def urdf_root(path: Path, arguments: Mapping[str, str] | None = None) -> Element:
    """
    Read a description of a robot as the root element of a URDF.

    Parameters
    ----------
    path : Path
        A URDF; a xacro file, which xacro expands; an MJCF, which MuJoCo compiles; or an SDF.
    arguments : mapping of str to str, optional
        Arguments of a xacro file.

    Raises
    ------
    ArmError
        The file is missing, is not XML, is of another kind or defines entities, or its reader is
        not installed.

    """
    root = _converted(path, arguments or {})
    # Pinocchio finds frames by name: links and joints must have different names.
    joints = {joint.get('name') for joint in root.findall('joint')}
    renamed = {}
    for link in root.findall('link'):
        name = link.get('name', '')
        if name in joints:
            renamed[name] = f'{name}_link'
            link.set('name', renamed[name])
    for joint in root.findall('joint'):
        for end in (*joint.findall('parent'), *joint.findall('child')):
            end.set('link', renamed.get(end.get('link', ''), end.get('link', '')))
    for link in root.findall('link'):
        for collision in link.findall('collision'):
            if _is_point(collision):
                link.remove(collision)
    return root


def _is_point(collision: Element) -> bool:
    """Whether a shape has no size at all: sensors get such boxes, so that nothing touches them."""
    sizes = [value for shape in collision.iterfind('geometry/*')
             for key in ('size', 'radius', 'length') if (value := shape.get(key)) is not None]
    return bool(sizes) and all(re.fullmatch(r'[.\s]*0[0.\s]*', value) for value in sizes)


def _converted(path: Path, arguments: Mapping[str, str]) -> Element:
    try:
        content = read_whole(path)
        root = _parsed(content, path)
    except OSError as error:
        raise ArmError(f'cannot read the URDF {path}: {error.strerror}') from error
    if root.tag == 'mujoco':
        from dynid_ros.arm.description.mjcf import mjcf_as_urdf

        return mjcf_as_urdf(path)
    if root.tag == 'sdf':
        from dynid_ros.arm.description.sdf import sdf_as_urdf

        return sdf_as_urdf(root, path)
    if root.tag != 'robot':
        raise ArmError(f'{path} is not a URDF: its first element is <{root.tag}>, not <robot>')
    # Old files bind the prefix to the address of another project.
    spaces = ('xacro', *re.findall(r'xmlns:xacro\s*=\s*["\']([^"\']+)', content.decode(
        errors='replace')))
    if any(space in str(element.tag) for element in root.iter() for space in spaces):
        expanded = _parsed(_expanded(path, arguments), path)
        if expanded.find('link') is None:
            _refuse_macros_alone(root, path)
        return expanded
    return root


def _refuse_macros_alone(root: Element, path: Path) -> None:
    """Refuse a xacro file that only defines macros, with the files that include it."""
    macros = [element.get('name', '') for element in root.iter()
              if str(element.tag).endswith('}macro')]
    if not macros:
        return
    users = _including(path.resolve())
    remedy = (f'give the file that uses it: {listed([str(file) for file in users])}' if users else
              'give a xacro file that includes it and uses a macro')
    raise ArmError(f'{path} defines the macro {listed(macros)} and no robot; {remedy}')


def _including(path: Path) -> list[Path]:
    """Find the xacro files of a package that include a given one, those beside it first."""
    package = next((folder for folder in path.parents if (folder / 'package.xml').is_file()), None)
    # Without a package, any folder may be above.
    files = path.parent.glob('*.xacro') if package is None else package.rglob('*.xacro')
    including = re.compile(rf'include\s[^>]*[/"\']{re.escape(path.name)}["\']')
    users = []
    for file in islice(files, MOST_FILES):
        with suppress(OSError):
            if including.search(file.read_text(errors='replace')):
                users.append(file)
    return sorted(users, key=lambda file: (file.parent != path.parent, str(file)))


def with_prefixes(content: bytes) -> bytes:
    """Declare the prefixes of elements and attributes that a file uses without, as ROS allows."""
    used = set(re.findall(rb'[<\s]/?([A-Za-z][\w.-]*):[A-Za-z]', content))
    known = {b'xml', b'xmlns', *re.findall(rb'xmlns:([\w.-]+)', content)}
    names = b''.join(b' xmlns:%b="%b"' % (prefix, prefix) for prefix in sorted(used - known))
    return re.sub(rb'<(robot|mujoco|sdf)\b', rb'<\1' + names, content, count=1)


def _parsed(content: bytes, path: Path) -> Element:
    parser = ElementTree.XMLParser(target=_NoDoctype())
    try:
        parser.feed(with_prefixes(content))
        root: Element = parser.close()
    except _DoctypeError:
        raise ArmError(f'{path} has a DOCTYPE, which could define entities that blow up; remove '
                       'it, a URDF needs none') from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ArmError(f'{path} is not XML: {error}') from error
    return root


def _expanded(path: Path, arguments: Mapping[str, str]) -> bytes:
    # It imports asyncio and ssl, for which no other command should wait.
    from unittest import mock

    try:
        import xacro
    except ImportError:
        raise ArmError(
            f'{path} is a xacro file, and xacro is not installed; install it (pip install xacro, '
            'or the ROS package xacro), or give the URDF that it makes') from None

    def share(name: str) -> str:
        folder = find_package(name, path)
        if folder is None:
            missing.append(name)
            raise LookupError(name)
        return str(folder)

    missing: list[str] = []
    # xacro asks the index of ROS 2, which lacks packages that are not installed.
    index = cast(Any, ModuleType('ament_index_python.packages'))
    index.get_package_share_directory = share
    try:
        with mock.patch.dict('sys.modules', {
                'ament_index_python': ModuleType('ament_index_python'), index.__name__: index}):
            document = xacro.process_file(str(path), mappings=dict(arguments))
    # xacro evaluates expressions of the file, which may raise any exception.
    except Exception as error:
        if missing:
            raise ArmError(f'{path} needs the package "{missing[0]}", which is not above it; set '
                           'ROS_PACKAGE_PATH to the folder that holds it') from error
        reason = reason_of(error)
        if lacking := re.search(r'Undefined substitution argument (\S+)', reason):
            raise ArmError(
                f'xacro cannot expand {path}: it needs the argument "{lacking[1]}"; give it with '
                f'dynid init --xacro {lacking[1]}:=VALUE') from error
        raise ArmError(f'xacro cannot expand {path}: {reason}; give its arguments with '
                       'dynid init --xacro NAME:=VALUE') from error
    content: bytes = document.toxml(encoding='utf-8')
    return content
