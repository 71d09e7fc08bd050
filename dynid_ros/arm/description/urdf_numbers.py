"""Numbers of a URDF that its parser would drop in silence."""

from __future__ import annotations

from pathlib import Path
import warnings
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dynid_ros.errors import ArmError, ArmWarning

#: Largest size, mass, inertia, position limit or ratio, in SI units, that an arm can have.
LARGEST = 1e9
#: Attributes of shapes, and how many numbers each holds.
_SIZES = {'box': {'size': 3}, 'sphere': {'radius': 1}, 'cylinder': {'radius': 1, 'length': 1},
          'capsule': {'radius': 1, 'length': 1}, 'mesh': {'scale': 3}}
_INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def check_numbers(root: Element, path: Path) -> None:
    """
    Make sure that a URDF places its joints, and states its inertias, by numbers.

    Parameters
    ----------
    root : Element
        Root of the URDF.
    path : Path
        Its file, for messages.

    Raises
    ------
    ArmError
        An attribute is missing or is no number of an arm; the message names the link or joint,
        the attribute and its value.

    Warns
    -----
    ArmWarning
        A link states a mass alone, and becomes a point.

    """
    for link in root.findall('link'):
        for inertial in link.findall('inertial'):
            where = f'link "{link.get("name")}" in {path}'
            _check_origin(inertial, where)
            _check(inertial, 'mass', ('value',), where)
            if inertial.find('inertia') is None:
                warnings.warn(f'{where} states a mass without <inertia>; it counts as a point',
                              ArmWarning, stacklevel=2)
                ElementTree.SubElement(inertial, 'inertia', dict.fromkeys(_INERTIA, '0'))
            _check(inertial, 'inertia', _INERTIA, where)
        for collision in link.findall('collision'):
            where = f'<collision> of link "{link.get("name")}" in {path}'
            _check_origin(collision, where)
            for shape in collision.findall('geometry/*'):
                _check_shape(shape, where)
    for joint in root.findall('joint'):
        _check_origin(joint, f'joint "{joint.get("name")}" in {path}')


def _check_origin(owner: Element, where: str) -> None:
    for origin in owner.findall('origin'):
        for key in ('xyz', 'rpy'):
            values = origin.get(key, '0 0 0').split()
            if len(values) != 3 or not all(map(_is_number, values)):
                raise ArmError(f'<origin {key}="{origin.get(key)}"> of {where} does not hold '
                               'three numbers of an arm; write them with decimal points')


def _check(inertial: Element, tag: str, keys: tuple[str, ...], where: str) -> None:
    element = inertial.find(tag)
    if element is None:
        raise ArmError(f'the <inertial> of {where} has no <{tag}>; add it, or remove the others')
    for key in keys:
        text = element.get(key)
        if text is None:
            raise ArmError(f'<{tag}> of {where} has no {key}; add it')
        if not _is_number(text):
            raise ArmError(f'<{tag} {key}="{text}"> of {where} is not the number of a body; write '
                           'it with a decimal point, or expand the xacro file')


def _check_shape(shape: Element, where: str) -> None:
    for key, count in _SIZES.get(shape.tag, {}).items():
        text = shape.get(key, '1 1 1' if key == 'scale' else '')
        values = text.split()
        if len(values) != count or not all(_is_number(value) and float(value) for value in values):
            raise ArmError(f'<{shape.tag} {key}="{text}"> of the {where} is not the size of a '
                           'shape; correct it')


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and '_' not in text and abs(float(text)) < LARGEST
    except ValueError:
        return False
