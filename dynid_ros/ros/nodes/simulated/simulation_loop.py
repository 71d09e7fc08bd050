# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Loops that step the simulated arm, and the one in real time."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from dynid_ros.ros.nodes.common.lockstep import (
    ANSWER_DEPTH,
    create_steady_timer,
    nanoseconds,
    simulated_time,
    time_message,
)
from dynid_ros.simulation.live import LiveArm, PHYSICS_PERIOD, Reading

#: Lag behind real time above which the simulation does not catch up, s.
MOST_LAG_SECONDS = 0.5
#: Most states to catch up before commands are processed.
CAUGHT_UP_TOGETHER = 10
#: Period of the clock, s, as usual for simulators.
CLOCK_PERIOD = 0.02
#: Time left after a signal to bring the arm to rest, s.
STOPPING_SECONDS = 3.0

Publish = Callable[[Reading, int], int | None]


class SimulationLoop:
    """
    Step the arm, and publish a state every few steps.

    Parameters
    ----------
    node : Node
        Owner.
    arm : LiveArm
        The arm.
    every : int
        Steps from one state to the next.
    publish : callable
        Publishes a reading at a time, ns, and returns the stamp; None if it was withheld.

    Attributes
    ----------
    led : bool
        Whether torques come from this loop instead of a topic.

    """

    led = False

    def __init__(self, node: Node, arm: LiveArm, every: int, publish: Publish) -> None:
        self._node, self._arm, self._every, self._publish = node, arm, every, publish
        self._held = True
        # Stamp at which the time of the arm is zero, and of the last tick of the clock, ns.
        self._zero = self._ticked = 0
        self._clock: Any = None
        if simulated_time(node):
            self._clock = node.create_publisher(ClockMessage, '/clock', ANSWER_DEPTH)

    def now(self) -> float:
        """Time of the arm, s, even if the simulation is behind it."""
        return self._arm.time

    def time_of(self, stamp: Any) -> float:
        """Time of the arm at a stamp."""
        return (nanoseconds(stamp) - self._zero) * 1e-9

    def _advance(self) -> int | None:
        """Step to the next state, and publish it; return its stamp, None if it was withheld."""
        reading = self._arm.step(self._every)
        if self._arm.held != self._held:
            self._held = self._arm.held
            self._node.get_logger().info(
                'no commands: the arm is held' if self._held else 'commands move the arm')
        stamp = self._zero + round(reading.t * 1e9)
        if self._clock is not None and stamp - self._ticked >= CLOCK_PERIOD * 1e9:
            self._ticked = stamp
            self._clock.publish(ClockMessage(clock=time_message(stamp)))
        return self._publish(reading, stamp)


class RealTime(SimulationLoop):
    """Step in real time, and catch up after delays."""

    def begin(self) -> None:
        """Start the time."""
        if self._clock is None:
            self._zero = self._node.get_clock().now().nanoseconds
        self._began = time.monotonic()
        create_steady_timer(self._node, self._every * PHYSICS_PERIOD, self._catch_up)

    def now(self) -> float:
        """Time of the arm, s, even if the simulation is behind it."""
        return time.monotonic() - self._began

    def stop(self, idle: Callable[[], bool]) -> None:
        """End the time, once the arm has come to rest."""
        end = time.monotonic() + STOPPING_SECONDS
        while not (self._arm.held and idle()) and time.monotonic() < end:
            self._node.executor.spin_once(timeout_sec=0.01)

    def _catch_up(self) -> None:
        late = self.now() - self._arm.time
        if late > MOST_LAG_SECONDS:
            self._node.get_logger().warning(
                f'the simulation lost {late:.1f} s: the machine is busy')
            self._began += late
            if self._clock is None:
                self._zero += int(late * 1e9)
        for _ in range(CAUGHT_UP_TOGETHER):
            if self._arm.time + self._every * PHYSICS_PERIOD > self.now():
                return
            self._advance()
