"""Where the drive signal is published, if not in the joint states."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DriveTopic:
    """
    A topic of its own for the drive signal.

    Its messages are sensor_msgs/JointState with the signal in the field ``effort``,
    control_msgs/DynamicJointState if there is an `interface`, or std_msgs/Float64MultiArray if
    there are `joints`.

    Attributes
    ----------
    name : str
        Name; a relative one is in the namespace of the joint states.
    interface : str or None
        Interface that holds the signal.
    joints : tuple of str
        Joints in the order of the values.

    """

    name: str
    interface: str | None = None
    joints: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Type of the messages."""
        if self.interface is not None:
            return 'control_msgs/msg/DynamicJointState'
        return 'std_msgs/msg/Float64MultiArray' if self.joints else 'sensor_msgs/msg/JointState'

    def beside(self, states: str) -> str:
        """Full name, given the full name of the joint states."""
        if self.name.startswith('/'):
            return self.name
        return f'{states.rpartition("/")[0]}/{self.name}'
