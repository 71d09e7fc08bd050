# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Message, service and action classes, made from the definitions that rosbags brings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
import struct
from typing import Any, ClassVar

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.serde import SerdeError
from rosbags.typesys import get_types_from_idl, get_typestore, Stores

#: Longest sequence that is taken from the network.
LONGEST_SEQUENCE = 1_000_000
STORE = get_typestore(Stores.ROS2_JAZZY)
STORE.max_sequence_length = LONGEST_SEQUENCE
# rosbags brings messages only; these are the services and the action of the nodes.
STORE.register(get_types_from_idl(Path(__file__).with_name('interfaces.idl').read_text()))


class Byte(bytes):
    """One byte as in rclpy; an integer where it is packed."""

    def __new__(cls, value: Any = (0,)) -> Byte:  # noqa: D102
        return super().__new__(cls, value)

    def __index__(self) -> int:
        (only,) = self
        return only


class Message:
    """Base of all message classes."""

    TYPE: ClassVar[str]
    _defaults: ClassVar[dict[str, Callable[[], Any]]]
    _takers: ClassVar[dict[str, Callable[[Any], Any]]]

    def __init__(self, *wire: Any, **fields: Any) -> None:
        for name, value in zip(self._defaults, wire, strict=False):
            self.__dict__[name] = Byte((value,)) if self._defaults[name] is Byte else value
        for name, make in self._defaults.items():
            if not wire and name not in fields:
                self.__dict__[name] = make()
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(f'{self.TYPE} has no field {name}')
        self.__dict__[name] = self._takers[name](value) if name in self._takers else value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and encode(self) == encode(other)

    def __repr__(self) -> str:
        return f'{self.TYPE}({self.__dict__})'


@cache
def message_class(name: str) -> type[Any]:
    """
    Class of a message; or of a service or an action, which holds its messages.

    Parameters
    ----------
    name : str
        As ``sensor_msgs/msg/JointState`` or ``std_srvs/srv/Trigger``.

    Raises
    ------
    ImportError
        There is no definition of it.

    """
    base = name.rpartition('/')[2]
    if name not in STORE.fielddefs:
        parts = [part for part in _PARTS if f'{name}_{part}' in STORE.fielddefs]
        if not parts:
            raise ImportError(f'{name} is not known without ROS 2')
        group = {part: message_class(f'{name}_{part}') for part in parts}
        return type(base, (), {'TYPE': name, **group})
    constants, fields = STORE.fielddefs[name]
    content: dict[str, Any] = {
        key: Byte((int(value),)) if kind == 'byte' else value for key, kind, value in constants}
    STORE.types[name] = made = type(base, (Message,), {
        **content, 'TYPE': name, '__module__': name.partition('/')[0],
        '_defaults': {field: _default(desc) for field, desc in fields},
        '_takers': {field: _taker(desc) for field, desc in fields
                    if desc[0] in _SEVERAL or desc[1][0] == 'byte'}})
    return made


_PARTS = ('Request', 'Response', 'Goal', 'Result', 'Feedback')
_SEVERAL = (Nodetype.ARRAY, Nodetype.SEQUENCE)
_PLAIN: dict[str, Callable[[], Any]] = {
    'string': str, 'bool': bool, 'byte': Byte, 'float32': float, 'float64': float}


def _default(desc: Any) -> Callable[[], Any]:
    """Make the default of a field."""
    kind, detail = desc
    if kind == Nodetype.NAME:
        return message_class(detail)
    if kind == Nodetype.BASE:
        return _PLAIN.get(detail[0], int)
    size = detail[1] if kind == Nodetype.ARRAY else 0
    return lambda: _taker(desc)([0] * size)


def _taker(desc: Any) -> Callable[[Any], Any]:
    """Make a list, or an array of numbers, of several values; and a byte of a byte."""
    if desc[0] not in _SEVERAL:
        return Byte
    inner, content = desc[1][0]
    if inner == Nodetype.NAME:
        message_class(content)
    elif content[0] != 'string':
        return partial(np.array, dtype={'byte': 'i1', 'char': 'u1'}.get(content[0], content[0]))
    return list


def encode(message: Any) -> bytes:
    """
    Serialise a message as CDR.

    Raises
    ------
    TypeError
        A field holds a value that cannot be sent.

    """
    try:
        return bytes(STORE.serialize_cdr(message, message.TYPE))
    except (struct.error, SerdeError, AttributeError, TypeError, ValueError) as error:
        raise TypeError(f'{message!r} cannot be sent: {error}') from error


def decode(cdr: bytes, name: str) -> Any:
    """
    Read a message from CDR.

    Raises
    ------
    SerdeError
        The bytes are no such message.

    """
    return STORE.deserialize_cdr(cdr, name)
