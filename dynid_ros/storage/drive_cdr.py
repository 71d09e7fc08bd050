"""Messages of a drive topic in CDR."""

from __future__ import annotations

from functools import partial

import numpy as np

from dynid_ros.arm.drive import DriveTopic
from dynid_ros.storage.joint_state_cdr import Cursor, Layout, parse_layout, Parser

_NOTHING = slice(0, 0)


def drive_parser(topic: DriveTopic) -> Parser:
    """Return the parser of the messages of a drive topic."""
    if topic.interface is not None:
        return partial(parse_dynamic, interface=topic.interface)
    return partial(parse_array, joints=topic.joints) if topic.joints else parse_layout


def parse_dynamic(data: bytes, interface: str) -> Layout:
    """
    Find one interface in a control_msgs/DynamicJointState, as the effort of joints that have it.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    cursor = Cursor(data, stamped=True)
    names = cursor.strings()
    if cursor.count() != len(names):
        raise ValueError('the numbers of joints and of their values differ')
    chosen, parts = [], []
    for name in names:
        interfaces, values = cursor.strings(), cursor.doubles()
        if interface in interfaces:
            first = values.start + 8 * interfaces.index(interface)
            if first >= values.stop:
                raise ValueError(f'{name} has fewer values than interfaces')
            chosen.append(name)
            parts.append(np.arange(first, first + 8))
    places = np.concatenate(parts) if parts else _NOTHING
    return cursor.layout(tuple(chosen), (_NOTHING, _NOTHING, places))


def parse_array(data: bytes, joints: tuple[str, ...]) -> Layout:
    """
    Find the values of a std_msgs/Float64MultiArray, as the effort of joints.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    cursor = Cursor(data, stamped=False)
    for _ in range(cursor.count()):
        cursor.string(fixed=True)
        # Size and stride.
        cursor.count()
        cursor.count()
    # The offset of the data is ignored.
    cursor.count()
    return cursor.layout(joints, (_NOTHING, _NOTHING, cursor.doubles()))
