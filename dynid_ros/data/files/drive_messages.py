# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Types of messages that hold drive signals, each with its parser."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dynid_ros.arm.drive import ARRAY, CONTROLLER_STATE, DriveTopic, DYNAMIC_STATE, JOINT_STATE
from dynid_ros.data.files.joint_state_cdr import Layout, NOTHING, parse_layout, Parser


def parse_commands(data: bytes) -> Layout:
    """
    Find the positions of a sensor_msgs/JointState that commands them, as the effort of joints.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    layout = parse_layout(data)
    layout.arrays = NOTHING, NOTHING, layout.arrays[0]
    return layout


def parse_controller(data: bytes) -> Layout:
    """
    Find the reference of a control_msgs/JointTrajectoryControllerState, as the effort of joints.

    It is the first point of the message, under the name ``desired`` in earlier versions; what
    follows has changed between versions, and is not read.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    layout = Layout(data, stamped=True)
    layout.names = layout.strings()
    layout.arrays = NOTHING, NOTHING, layout.doubles()
    return layout


def parse_dynamic(data: bytes, interface: str) -> Layout:
    """
    Find one interface in a control_msgs/DynamicJointState, as the effort of joints that have it.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    layout = Layout(data, stamped=True)
    names = layout.strings()
    if layout.count() != len(names):
        raise ValueError('the numbers of joints and of their values differ')
    chosen, parts = [], []
    for name in names:
        interfaces, values = layout.strings(), layout.doubles()
        if interface in interfaces:
            first = values.start + 8 * interfaces.index(interface)
            if first >= values.stop:
                raise ValueError(f'{name} has fewer values than interfaces')
            chosen.append(name)
            parts.append(np.arange(first, first + 8))
    if parts:
        layout.names, layout.arrays = tuple(chosen), (NOTHING, NOTHING, np.concatenate(parts))
    return layout.end()


def parse_array(data: bytes, joints: tuple[str, ...]) -> Layout:
    """
    Find the values of a std_msgs/Float64MultiArray, as the effort of joints.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    layout = Layout(data, stamped=False)
    for _ in range(layout.count()):
        layout.string(fixed=True)
        # Size and stride.
        layout.count()
        layout.count()
    # The offset of the data is ignored.
    layout.count()
    layout.names, layout.arrays = joints, (NOTHING, NOTHING, layout.doubles())
    return layout.end()


#: Parser of the messages of a topic by its `DriveTopic.kind`; `DRIVE_MESSAGES` of the
#: nodes are the same types.
DRIVE_PARSERS: dict[str, Callable[[DriveTopic], Parser]] = {
    JOINT_STATE: lambda topic: parse_layout if topic.field == 'effort' else parse_commands,
    DYNAMIC_STATE: lambda topic: partial(parse_dynamic, interface=topic.interface or ''),
    CONTROLLER_STATE: lambda _topic: parse_controller,
    ARRAY: lambda topic: partial(parse_array, joints=topic.joints),
}
