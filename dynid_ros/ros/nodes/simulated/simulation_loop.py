"""Loops that step the simulated arm; here in real time."""

from __future__ import annotations

from collections.abc import Callable
import sys
import threading
import time
from typing import Any

import rclpy
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from dynid_ros.ros.nodes.common.lockstep import DEPTH, nanoseconds, simulated_time, time_message
from dynid_ros.simulation.live import LiveArm, PERIOD, Reading

#: Lag of real time behind which the simulation is not caught up, s.
LOST = 0.5
#: Wait of one thread for another: Python's own 5 ms are five periods.
SWITCH = 0.0005
#: Period of the clock, s, as simulators usually have it.
CLOCK = 0.02
#: Time left after a signal to bring the arm to rest, s.
LAST = 3.0

Publish = Callable[[Reading, int], int | None]


class SimulationLoop:
    """
    Steps the arm, and publishes a state every few steps.

    Parameters
    ----------
    node : Node
        Owner.
    arm : LiveArm
        The arm.
    every : int
        Steps from one state to the next.
    publish : callable
        Publishes a reading at a time, ns, and returns the stamp; None if it was kept back.

    Attributes
    ----------
    led : bool
        Whether torques come from this loop instead of a topic.

    """

    led = False

    def __init__(self, node: Node, arm: LiveArm, every: int, publish: Publish) -> None:
        self._node, self._arm, self._every, self._publish = node, arm, every, publish
        self._held = True
        self._ticked = self._zero = 0
        self._clock: Any = None
        if simulated_time(node):
            self._clock = node.create_publisher(ClockMessage, '/clock', DEPTH)

    def begin(self, settle: Callable[[], None]) -> None:
        """Start the time; `settle`, where it is simulated, is called before each state."""
        raise NotImplementedError

    def now(self) -> float:
        """Time of the arm, s, also where the simulation is behind it."""
        return self._arm.time

    def time_of(self, stamp: Any) -> float:
        """Time of the arm at a stamp."""
        return (nanoseconds(stamp) - self._zero) * 1e-9

    def stop(self, idle: Callable[[], bool]) -> None:
        """End the time, once the arm has come to rest, if it does."""

    def _tick(self, stamp: int) -> None:
        """Publish the simulated time, ns."""
        if self._clock is not None and stamp - self._ticked >= CLOCK * 1e9:
            self._ticked = stamp
            self._clock.publish(ClockMessage(clock=time_message(stamp)))

    def _step(self, periods: int = 1) -> Reading:
        reading = self._arm.step(periods)
        if self._arm.held != self._held:
            self._held = self._arm.held
            self._node.get_logger().info(
                'no commands: the arm is held' if self._held else 'commands move the arm')
        return reading


class RealTime(SimulationLoop):
    """Steps in real time, in a thread of its own; steps that come late are made up for."""

    def __init__(self, node: Node, arm: LiveArm, every: int, publish: Publish) -> None:
        super().__init__(node, arm, every, publish)
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._began = time.monotonic()

    def now(self) -> float:
        """Time of the arm, s, also where the simulation is behind it."""
        return time.monotonic() - self._began

    def begin(self, settle: Callable[[], None]) -> None:  # noqa: ARG002 - a timer does it
        """Start the time."""
        sys.setswitchinterval(SWITCH)
        self._thread.start()

    def stop(self, idle: Callable[[], bool]) -> None:
        """End the time, once the arm has come to rest."""
        end = time.monotonic() + LAST
        while not (self._arm.held and idle()) and time.monotonic() < end:
            rclpy.spin_once(self._node, timeout_sec=0.01)
        self._gone.set()
        self._thread.join()

    def _live(self) -> None:
        self._began = time.monotonic()
        # The stamp at which the time of the arm is zero; that of simulated time is zero, too.
        if self._clock is None:
            self._zero = self._node.get_clock().now().nanoseconds
        steps = 0
        while not self._gone.is_set():
            late = time.monotonic() - self._began - (steps + 1) * PERIOD
            if late < 0:
                time.sleep(-late)
            elif late > LOST:
                self._node.get_logger().warning(
                    f'the simulation lost {late:.1f} s: the machine is busy')
                self._began += late
                if self._clock is None:
                    self._zero += int(late * 1e9)
            reading = self._step()
            steps += 1
            if steps % self._every == 0:
                stamp = self._zero + round(reading.t * 1e9)
                self._tick(stamp)
                self._publish(reading, stamp)
