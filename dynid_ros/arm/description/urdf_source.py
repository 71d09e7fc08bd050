"""The XML of a URDF, from a URDF, a xacro file, an MJCF or an SDF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import re
from types import ModuleType
from typing import Any, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dynid_ros.arm.description.packages import find_package
from dynid_ros.errors import ArmError, reason_of
from dynid_ros.utilities.atomic_write import read_whole

#: Endings of the files that describe a robot without an arm.yaml.
SUFFIXES = ('.urdf', '.xacro', '.xml', '.mjcf', '.sdf')


class _NoDoctype(ElementTree.TreeBuilder):
    """Stops at a document type, before any entity in it can be expanded."""

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
        The file is missing, is not XML, is of another kind or defines entities, or what reads it
        is not installed.

    """
    root = _converted(path, arguments or {})
    # Pinocchio finds frames by their names: a link must have another one than any joint.
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
    return root


def _converted(path: Path, arguments: Mapping[str, str]) -> Element:
    try:
        root = _parsed(read_whole(path), path)
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
    if any('xacro' in str(element.tag) for element in root.iter()):
        return _parsed(_expanded(path, arguments), path)
    return root


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
    # It brings asyncio and ssl, for which no other command should wait.
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
    # xacro evaluates expressions of the file, which may raise anything.
    except Exception as error:
        if missing:
            raise ArmError(f'{path} needs the package "{missing[0]}", which is not above it; set '
                           'ROS_PACKAGE_PATH to the folder that holds it') from error
        raise ArmError(f'xacro cannot expand {path}: {reason_of(error)}; give its arguments with '
                       'dynid init --xacro NAME:=VALUE') from error
    content: bytes = document.toxml(encoding='utf-8')
    return content
