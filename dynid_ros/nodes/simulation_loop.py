"""What moves the simulated arm on: real time, or the answers of those who control it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
import sys
import threading
import time
from typing import Any, NamedTuple

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState

from dynid_ros.nodes.common.lockstep import BEHIND, DEPTH, LOOK, nanoseconds, simulated_time, TOPIC
from dynid_ros.simulation.live import LiveArm, PERIOD, Reading

#: Lag of real time behind which the simulation is not caught up, s.
LOST = 0.5
#: Wait of one thread for another: Python's own 5 ms are five periods.
SWITCH = 0.0005
#: Period of the clock, s, as simulators usually have it.
CLOCK = 0.02
#: States that are published at once where nobody answers each of them.
BURST = 50
#: Wall time without an answer after which users read who is waited for, s.
PATIENCE = 10.0
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

    """

    def __init__(self, node: Node, arm: LiveArm, every: int, publish: Publish) -> None:
        self._node = node
        self._arm = arm
        self._every = every
        self._publish = publish
        self._held = True
        self._ticked = 0
        self._clock: Any = None
        if simulated_time(node):
            self._clock = node.create_publisher(ClockMessage, '/clock', DEPTH)

    def begin(self, settle: Callable[[], None]) -> None:
        """Let the time begin; `settle`, where it is simulated, is called before each state."""
        raise NotImplementedError

    def now(self) -> float:
        """Time of the arm, s, also where the simulation is behind it."""
        return self._arm.time

    def time_of(self, stamp: Any) -> float:
        """Time of the arm at a stamp."""
        return nanoseconds(stamp) * 1e-9

    def commanded(self, efforts: Sequence[float]) -> None:
        """Take note of torques that have come."""

    def stop(self, idle: Callable[[], bool]) -> None:
        """End the time, once whoever commands the arm has brought it to rest, if it can."""

    def _tick(self, stamp: int) -> None:
        """Tell the simulated time, ns."""
        if self._clock is not None and stamp - self._ticked >= CLOCK * 1e9:
            self._ticked = stamp
            self._clock.publish(ClockMessage(clock=Time(nanoseconds=stamp).to_msg()))

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

    def time_of(self, stamp: Any) -> float:
        """Time of the arm at a stamp."""
        if self._clock is not None:
            return super().time_of(stamp)
        now: int = self._node.get_clock().now().nanoseconds
        return self.now() + (nanoseconds(stamp) - now) * 1e-9

    def begin(self, settle: Callable[[], None]) -> None:  # noqa: ARG002 - a timer does it
        """Let the time begin."""
        sys.setswitchinterval(SWITCH)
        self._thread.start()

    def stop(self, idle: Callable[[], bool]) -> None:
        """End the time, once whoever commands the arm has brought it to rest."""
        end = time.monotonic() + LAST
        while not (self._arm.held and idle()) and time.monotonic() < end:
            rclpy.spin_once(self._node, timeout_sec=0.01)
        self._gone.set()
        self._thread.join()

    def _live(self) -> None:
        self._began = time.monotonic()
        zero = 0 if self._clock is not None else self._node.get_clock().now().nanoseconds
        steps = 0
        while not self._gone.is_set():
            late = time.monotonic() - self._began - (steps + 1) * PERIOD
            if late < 0:
                time.sleep(-late)
            elif late > LOST:
                self._node.get_logger().warning(
                    f'the simulation lost {late:.1f} s: the machine is busy')
                self._began += late
                zero += 0 if self._clock is not None else int(late * 1e9)
            reading = self._step()
            steps += 1
            if steps % self._every == 0:
                stamp = zero + round(reading.t * 1e9)
                self._tick(stamp)
                self._publish(reading, stamp)


class Listener(NamedTuple):
    """
    A node that answers.

    Attributes
    ----------
    pairs : tuple of str
        Nodes and topics that must have met.
    behind : int
        States by which it may be behind.

    """

    pairs: tuple[str, ...]
    behind: int


class Lockstep(SimulationLoop):
    """
    Goes on when those who are waited for have answered, and stands still otherwise.

    Time begins at zero with the first state after all of them have met the arm, so that they get
    the same states in every run. Where a fault keeps a state back, nobody can answer it, and real
    time leads over it.

    Parameters
    ----------
    node, arm, every, publish
        As for `SimulationLoop`.
    names : sequence of str
        Names of the nodes that are waited for.

    """

    def __init__(
        self, node: Node, arm: LiveArm, every: int, publish: Publish, names: Sequence[str],
    ) -> None:
        super().__init__(node, arm, every, publish)
        self._names = [name if name.startswith('/') else node.resolve_topic_name(name)
                       for name in names]
        self._listeners: dict[str, Listener] = {}
        # States are counted: their stamps may go back.
        self._answered: dict[str, int] = {}
        self._stamps: deque[int] = deque(maxlen=4 * BEHIND)
        self._states = 0
        # Torques that an answer has announced, until they come; and those that came last.
        self._awaited: list[float] = []
        self._last: list[float] = []
        self._begun = self._kept = False
        self._since = time.monotonic()
        node.create_subscription(JointState, TOPIC, self._on_answer, DEPTH)

    def begin(self, settle: Callable[[], None]) -> None:
        """Let the time begin as soon as all have met."""
        self._settle = settle
        self._node.create_timer(
            LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def commanded(self, efforts: Sequence[float]) -> None:
        """Take note of torques that have come."""
        if self._awaited == list(efforts):
            self._awaited = []
        self._last = list(efforts)
        self._go_on()

    def _on_answer(self, message: JointState) -> None:
        name, stamp = message.header.frame_id, nanoseconds(message.header.stamp)
        if name not in self._names:
            return
        if len(message.position) and message.position[0] < 0:
            self._listeners.pop(name, None)
            return
        if len(message.name):
            self._listeners[name] = Listener(tuple(message.name), int(message.position[0]))
            self._answered.setdefault(name, 0)
        elif stamp in self._stamps:
            back = next(k for k, known in enumerate(reversed(self._stamps)) if known == stamp)
            self._answered[name] = self._states - back
        if len(message.effort):
            self._awaited = [] if self._last == list(message.effort) else list(message.effort)
        self._go_on()

    def _look(self) -> None:
        """Go on where no answer does it, and say who is waited for."""
        if self._kept:
            self._kept = False
            self._advance(max(1, round(LOOK / (self._every * PERIOD))))
        else:
            self._go_on()
        still = time.monotonic() - self._since
        if still < PATIENCE:
            return
        if not self._begun:
            awaited = [name for name in self._names if name not in self._listeners]
            said = f'has not begun: waiting for {", ".join([*awaited, *sorted(self._unmet())])}'
        elif late := [name for name in self._listeners if not self._keeps_up(name)]:
            said = f'stands still: {", ".join(late)} has not answered for {still:.0f} s'
        else:
            return
        self._node.get_logger().warning(f'the time {said}', throttle_duration_sec=PATIENCE)

    def _go_on(self) -> None:
        if not self._begun:
            self._begun = (
                all(name in self._listeners for name in self._names) and not self._unmet())
        for _ in range(BURST):
            if (self._kept or not self._begun or self._awaited
                    or not all(map(self._keeps_up, self._names))):
                return
            self._advance(1)

    def _keeps_up(self, name: str) -> bool:
        listener = self._listeners.get(name)
        return (listener is not None
                and self._states - self._answered.get(name, 0) <= listener.behind)

    def _unmet(self) -> set[str]:
        """Nodes and topics that must meet before the time begins."""
        pairs = {pair for listener in self._listeners.values() for pair in listener.pairs}
        for topic in {pair.split()[1] for pair in pairs}:
            infos = self._node.get_subscriptions_info_by_topic(topic)
            pairs -= {f'{i.node_namespace.rstrip("/")}/{i.node_name} {topic}' for i in infos}
        return pairs

    def _advance(self, states: int) -> None:
        self._since = time.monotonic()
        for _ in range(states):
            reading = self._step(self._every)
            self._settle()
            stamp = round(reading.t * 1e9)
            self._tick(stamp)
            published = self._publish(reading, stamp)
            if published is not None:
                self._stamps.append(published)
                self._states += 1
                return
            self._kept = True
