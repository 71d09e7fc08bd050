# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated time of the arm, driven by the answers of nodes that control or identify it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
import time

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState

from dynid_ros.ros.nodes.common.lockstep import (
    ANSWER_DEPTH,
    ANSWERS_TOPIC,
    create_steady_timer,
    GRAPH_CHECK_SECONDS,
    LEAVES,
    MOST_BEHIND,
    nanoseconds,
    NODES_TOPIC,
    READS,
    time_message,
)
from dynid_ros.ros.nodes.common.qos import node_of
from dynid_ros.ros.nodes.simulated.simulation_loop import Publish, SimulationLoop, STOPPING_SECONDS
from dynid_ros.simulation.live import LiveArm, PHYSICS_PERIOD

#: States published at once if no node answers each of them.
STATES_PER_BURST = 50
#: Wall time without an answer after which the log names the awaited nodes, s.
UNANSWERED_SECONDS = 10.0
#: Reports of a node that it lacks the last state, after which it was started later or has lost it.
#: A slow node reads the state between two checks.
MISSING = 10
#: Wall time without an answer after which the existence of a node is checked, s.
ABSENCE = 1.0
#: Simulated time for which the arm must rest before it ends, s, as its control may lag.
REST_BEFORE_START_SECONDS = 0.3


@dataclass
class Listener:
    """
    A node that answers.

    Attributes
    ----------
    pairs : set of (str, str)
        Nodes and topics that must be connected.
    behind : int
        Largest lag, in states.
    answered : int
        Number of the last state that it has answered; stamps may go back.
    missing : tuple of (int, int, float), or None
        Stamp of the last state that it has received, if that is old, number of such reports, and
        time of the last, s.

    """

    pairs: set[tuple[str, str]] = field(default_factory=set)
    behind: int = 0
    answered: int = 0
    missing: tuple[int, int, float] | None = None


class Lockstep(SimulationLoop):
    """
    Advance when the awaited nodes have answered, and stand still otherwise.

    Torques come with the answers: those on ``effort_commands`` are the same, but may come later.
    Time starts at zero with the first state after all nodes are connected to the arm, so that they
    get the same states in every run. If a fault withholds a state, which nobody can answer, time
    advances in real time.

    Parameters
    ----------
    node, arm, every, publish
        As for `SimulationLoop`.
    names : sequence of str
        Names of the nodes that are waited for.
    command : callable
        Takes the torques of an answer.

    """

    def __init__(
        self, node: Node, arm: LiveArm, every: int, publish: Publish, names: Sequence[str],
        command: Callable[[Sequence[float]], None],
    ) -> None:
        super().__init__(node, arm, every, publish)
        self._command = command
        self._names = [name if name.startswith('/') else node.resolve_topic_name(name)
                       for name in names]
        self._listeners: dict[str, Listener] = {}
        self._vanished: set[str] = set()
        self._stamps: deque[int] = deque(maxlen=4 * MOST_BEHIND)
        self._states = 0
        self._begun = self._kept = self._leaving = False
        self._since = time.monotonic()
        node.create_subscription(JointState, ANSWERS_TOPIC, self._on_answer, ANSWER_DEPTH)
        node.create_subscription(DiagnosticArray, NODES_TOPIC, self._on_part, ANSWER_DEPTH)

    def begin(self) -> None:
        """Start the time as soon as all nodes are connected."""
        create_steady_timer(self._node, GRAPH_CHECK_SECONDS, self._look)

    def stop(self, idle: Callable[[], bool]) -> None:
        """Continue with the remaining nodes until they have brought the arm to rest."""
        self._leaving = True
        moved, self._since = self._arm.time, time.monotonic()
        if self._arm.held and idle():
            moved -= REST_BEFORE_START_SECONDS
        while (self._listeners and self._arm.time < moved + REST_BEFORE_START_SECONDS
               and time.monotonic() < self._since + STOPPING_SECONDS):
            self._node.executor.spin_once(timeout_sec=GRAPH_CHECK_SECONDS)
            if not (self._arm.held and idle()):
                moved = self._arm.time

    def _on_answer(self, message: JointState) -> None:
        name, stamp = message.header.frame_id, nanoseconds(message.header.stamp)
        if name not in self._listeners:
            return
        if stamp in self._stamps:
            back = next(k for k, known in enumerate(reversed(self._stamps)) if known == stamp)
            self._listeners[name].answered = self._states - back
        if len(message.effort):
            self.led = True
            self._command(message.effort)
        self._go_on()

    def _on_part(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name not in self._names:
                continue
            if status.message == LEAVES:
                left = self._listeners.pop(status.name, None)
                if left is not None and left.behind:
                    # Do not wait for a node that only reads: another may have to slow the arm
                    # down.
                    self._vanished.add(status.name)
                else:
                    self.led = False
                continue
            self._vanished.discard(status.name)
            listener = self._listeners.setdefault(status.name, Listener())
            listener.pairs = {(pair.key, pair.value) for pair in status.values}
            listener.behind = MOST_BEHIND if status.message == READS else 0
            self._notice_missing(listener, nanoseconds(message.header.stamp))
            self._go_on()

    def _notice_missing(self, listener: Listener, heard: int) -> None:
        """Stop waiting for a node that repeatedly reports that it lacks the last state."""
        newest = bool(self._stamps) and heard == self._stamps[-1]
        if newest or self._keeps_up(listener):
            listener.missing = None
            if newest and listener.behind:
                # A node that only reads states has processed those it received. It may have
                # resumed so late that it answers none before the time advances.
                listener.answered = self._states
            return
        before, times, last = listener.missing or (heard, 0, self._since)
        now = time.monotonic()
        if before == heard and now < last + GRAPH_CHECK_SECONDS / 2:
            # The node reported this before the last state came, and this process reads it late.
            return
        listener.missing = heard, times + 1 if before == heard else 1, now
        if times >= MISSING:
            listener.answered = self._states

    def _look(self) -> None:
        """Advance without an answer if possible, and log the names of awaited nodes."""
        if self._kept:
            self._kept = False
            self._lead(max(1, round(GRAPH_CHECK_SECONDS / (self._every * PHYSICS_PERIOD))))
        else:
            self._go_on()
        if not self._begun and self._clock is not None:
            # rosbag2 subscribes once there is a nonzero time.
            self._clock.publish(ClockMessage(clock=time_message(1)))
        still = time.monotonic() - self._since
        # Before the start, messages of a node may arrive before ROS knows its name.
        if self._begun and still > ABSENCE:
            self._drop_vanished()
        if still < UNANSWERED_SECONDS:
            return
        if not self._begun:
            awaited = [name for name in self._names if name not in self._listeners]
            problem = f'has not begun: waiting for {", ".join([*awaited, *sorted(self._unmet())])}'
        elif late := [name for name, each in self._listeners.items() if not self._keeps_up(each)]:
            problem = f'stands still: {", ".join(late)} has not answered for {still:.0f} s'
        else:
            return
        self._node.get_logger().warning(
            f'the time {problem}', throttle_duration_sec=UNANSWERED_SECONDS)

    def _drop_vanished(self) -> None:
        """Stop waiting for nodes that ROS no longer knows, as after a kill."""
        there = map(node_of, self._node.get_publishers_info_by_topic(ANSWERS_TOPIC))
        for name in self._listeners.keys() - set(there):
            del self._listeners[name]
            self.led = False
            self._vanished.add(name)
            self._node.get_logger().warning(f'{name} has vanished: the time goes on without it')

    def _go_on(self) -> None:
        away = set(self._names) - self._listeners.keys()
        self._begun = self._begun or not (away or self._unmet())
        if not self._begun or (away - self._vanished and not self._leaving):
            return
        for _ in range(STATES_PER_BURST):
            if (self._kept or not self._listeners
                    or not all(map(self._keeps_up, self._listeners.values()))):
                return
            self._lead(1)

    def _keeps_up(self, listener: Listener) -> bool:
        return self._states - listener.answered <= listener.behind

    def _unmet(self) -> set[str]:
        """Return the nodes and topics that must be connected before the time starts."""
        pairs = {pair for listener in self._listeners.values() for pair in listener.pairs}
        for topic in {topic for _, topic in pairs}:
            pairs -= {(node_of(info), topic)
                      for info in self._node.get_subscriptions_info_by_topic(topic)}
        return {' '.join(pair) for pair in pairs}

    def _lead(self, states: int) -> None:
        """Advance by some states, but not beyond a published one."""
        self._since = time.monotonic()
        for listener in self._listeners.values():
            listener.missing = None
        for _ in range(states):
            published = self._advance()
            if published is not None:
                self._stamps.append(published)
                self._states += 1
                return
            self._kept = True
