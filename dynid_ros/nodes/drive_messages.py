"""The messages of a drive signal that has a topic of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm.drive_topic import DriveTopic


def message_type(topic: DriveTopic) -> Any:
    """Return the type of the messages."""
    if topic.interface is not None:
        # A package that no other topic of an identifier needs.
        from control_msgs.msg import DynamicJointState

        return DynamicJointState
    return Float64MultiArray if topic.joints else JointState


def stamp_of(message: Any) -> int:
    """Header stamp, ns."""
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def signal_of(topic: DriveTopic, message: Any) -> tuple[int, tuple[str, ...], NDArray[np.float64]]:
    """
    Read one message.

    Returns
    -------
    stamp : int
        ns; zero if there is none.
    names : tuple of str
        Joints.
    values : (m,) ndarray
        Their signals.

    """
    if topic.joints:
        return 0, topic.joints, np.array(message.data)
    if topic.interface is None:
        return stamp_of(message), tuple(message.name), np.array(message.effort)
    held = {
        name: own.values[own.interface_names.index(topic.interface)]
        for name, own in zip(message.joint_names, message.interface_values, strict=True)
        if topic.interface in own.interface_names}
    return stamp_of(message), tuple(held), np.array(list(held.values()))
