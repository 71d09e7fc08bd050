"""Clocks, times and durations with the names of rclpy."""

from __future__ import annotations

from enum import Enum
import time
from typing import Any

from dynid_ros.embedded.messages import message_class


class ClockType(Enum):
    """What a clock shows."""

    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3


class Duration:
    """A span of time."""

    MESSAGE = 'builtin_interfaces/msg/Duration'

    def __init__(self, *, seconds: float = 0, nanoseconds: int = 0) -> None:
        self.nanoseconds = int(seconds * 1e9) + nanoseconds

    def to_msg(self) -> Any:
        """Return it as a message."""
        seconds, rest = divmod(self.nanoseconds, 10**9)
        return message_class(self.MESSAGE)(sec=seconds, nanosec=rest)


class Time(Duration):
    """A point in time."""

    MESSAGE = 'builtin_interfaces/msg/Time'


class Clock:
    """
    A clock; that of a node shows the system's time, or the simulated one.

    Attributes
    ----------
    simulated : int or None
        Simulated time, ns, which somebody else moves on; None for a clock that runs by itself.

    """

    def __init__(self, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> None:
        self._tell = time.monotonic_ns if clock_type is ClockType.STEADY_TIME else time.time_ns
        self.simulated: int | None = None

    def now(self) -> Time:
        """Tell the time."""
        return Time(nanoseconds=self._tell() if self.simulated is None else self.simulated)
