# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Lockstep of nodes and a simulated arm in simulated time, for any speed of the processor.

Nodes that run on simulated time publish two topics, which only a simulated arm reads:

``lockstep/answers`` (sensor_msgs/JointState)
    A node has processed the state of this stamp. ``header.frame_id`` is the node, and ``effort``
    the torques that it commands for the state, in the order of ``effort_commands``.
``lockstep/nodes`` (diagnostic_msgs/DiagnosticArray)
    A node takes part, as in the ``message`` of its only status: it ``controls`` the arm, or it
    ``reads`` states and may be `MOST_BEHIND` of them behind, or it ``leaves``. ``values`` are
    the nodes and topics that must have met before the time starts, and ``header.stamp`` is the
    newest state that the node has received, zero if there was none. A node that has not answered
    for a second repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

ANSWERS_TOPIC, NODES_TOPIC = 'lockstep/answers', 'lockstep/nodes'
#: Roles of nodes.
CONTROLS, READS, LEAVES = 'controls', 'reads', 'leaves'
#: Period of checks of the graph while no state comes, s, and time after which none comes.
GRAPH_CHECK_SECONDS = 0.05
NO_STATE_SECONDS = 1.0
#: States between two answers of a node that only reads them, and its largest lag: a fraction of
#: the queue of a busy node.
ANSWER_INTERVAL = 50
MOST_BEHIND = 500
#: Largest lead of the stamp of a state over the clock, s.
MOST_AHEAD = 1.0
#: Wall time in which others must answer or appear, s; and the same in simulated time, which stops
#: meanwhile.
ANSWER_SECONDS, SIMULATED_PATIENCE = 2.0, 15.0
#: Answers that may wait for a busy arm.
ANSWER_DEPTH = 100


def simulated_time(node: Node) -> bool:
    """Whether a node runs on simulated time."""
    return bool(node.get_parameter('use_sim_time').value)


def create_steady_timer(node: Node, period: float, callback: Callable[[], None]) -> None:
    """Call something periodically in wall time, s, whatever the simulated time does."""
    node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


def watch_clock(node: Node) -> Clock:
    """Return the clock of watchdogs: the simulated one, or one that never steps back."""
    if simulated_time(node):
        return node.get_clock()
    return Clock(clock_type=ClockType.STEADY_TIME)


def nanoseconds(stamp: Any) -> int:
    """Nanoseconds of a builtin_interfaces/Time."""
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def time_message(nanoseconds: int) -> Time:
    """Return builtin_interfaces/Time of nanoseconds, which may be negative as in no rclpy.Time."""
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


class ControlTime:
    """
    Time by which a node controls an arm, s.

    For a real arm it is this computer's steady clock. For a simulated one it is the newest stamp
    of a state or of the clock, so that a command does not depend on which of the two messages came
    first.

    Parameters
    ----------
    node : Node
        Owner.

    Attributes
    ----------
    simulated : bool
        Whether the time is simulated.
    patience : float
        Wall time in which others must answer or appear, s.

    """

    def __init__(self, node: Node) -> None:
        self.simulated = simulated_time(node)
        self.patience = SIMULATED_PATIENCE if self.simulated else ANSWER_SECONDS
        self._clock = node.get_clock()
        self._stamp = 0

    def heard(self, message: Any) -> None:
        """Take note of the stamp of a state."""
        stamp = nanoseconds(message.header.stamp)
        if stamp < self._clock.now().nanoseconds + MOST_AHEAD * 1e9:
            self._stamp = max(self._stamp, stamp)

    def now(self) -> float:
        """Return the time, s."""
        if not self.simulated:
            return time.monotonic()
        return float(max(self._stamp, self._clock.now().nanoseconds) * 1e-9)


class Answers:
    """
    Answers of a node to the simulated arm; none in real time.

    Parameters
    ----------
    node : Node
        Owner.
    topics : sequence of str
        Full names of the topics of the arm that it hears.
    part : str
        Whether it controls the arm or reads its states.
    ready : callable, optional
        Returns each further node and topic that must be connected, or None while unknown.

    Attributes
    ----------
    owed : bool
        Whether a received state waits for an answer.

    """

    def __init__(
        self, node: Node, topics: Sequence[str], part: str = CONTROLS,
        ready: Callable[[], Sequence[tuple[str, str]] | None] = tuple,
    ) -> None:
        self._node = node
        self._topics = topics
        self._part = part
        self._ready = ready
        self._newest: Any = Time()
        self.owed = False
        self._answered = -math.inf
        self._efforts: Sequence[float] = ()
        self._answers: Any = None
        if simulated_time(node):
            self._answers = node.create_publisher(JointState, ANSWERS_TOPIC, ANSWER_DEPTH)
            self._parts = node.create_publisher(DiagnosticArray, NODES_TOPIC, ANSWER_DEPTH)
            create_steady_timer(node, GRAPH_CHECK_SECONDS, self._join)

    def heard(self, stamp: Any) -> None:
        """Take note of a state, which may be answered later."""
        self._newest, self.owed = stamp, True

    def answer(self, efforts: Sequence[float] = ()) -> None:
        """Report that the newest state is processed, and the commanded efforts."""
        self._answered, self.owed, self._efforts = time.monotonic(), False, efforts
        self._say()

    def leave(self) -> None:
        """Report that no more answers will come."""
        if self._answers is not None:
            self._parts.publish(part_message(self._node.get_fully_qualified_name(), LEAVES))

    def _join(self) -> None:
        """Repeat the last answer and the readiness to start while the time stands still."""
        if time.monotonic() - self._answered < NO_STATE_SECONDS:
            return
        if self._answered > -math.inf and not self.owed:
            self._say()
        others = self._ready()
        met = all(self._node.get_publishers_info_by_topic(topic) for topic in self._topics)
        if others is None or not met:
            return
        name = self._node.get_fully_qualified_name()
        pairs = [(name, topic) for topic in self._topics]
        self._parts.publish(part_message(name, self._part, [*pairs, *others], self._newest))

    def _say(self) -> None:
        if self._answers is None or not self._answers.get_subscription_count():
            return
        message = JointState(effort=self._efforts)
        message.header.frame_id = self._node.get_fully_qualified_name()
        message.header.stamp = self._newest
        self._answers.publish(message)


def part_message(
    node: str, part: str, pairs: Sequence[tuple[str, str]] = (), newest: Any = None,
) -> DiagnosticArray:
    """
    Return the message of ``lockstep/nodes``.

    Parameters
    ----------
    node : str
        Full name.
    part : str
        What it does.
    pairs : sequence of (str, str)
        Nodes and topics that must be connected.
    newest : builtin_interfaces/Time, optional
        Stamp of the newest state that the node has received.

    """
    status = DiagnosticStatus(
        name=node, message=part, values=[KeyValue(key=by, value=topic) for by, topic in pairs])
    message = DiagnosticArray(status=[status])
    message.header.stamp = newest or Time()
    return message
