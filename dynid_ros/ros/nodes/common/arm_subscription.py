# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Subscriptions to the states of an arm, and the problems of their streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.streaming.sample_validation import RULES
from dynid_ros.data.tables.joint_names import remedy
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.joint_state_reader import (
    DRIVE_MESSAGES,
    JointStateReader,
    PROBLEMS,
)
from dynid_ros.ros.nodes.common.lockstep import (
    ANSWER_INTERVAL,
    Answers,
    create_steady_timer,
    READS,
    watch_clock,
)
from dynid_ros.ros.nodes.common.qos import STATE_DEPTH, state_qos

#: Period of the check for a due report, s.
REPORT_CHECK_SECONDS = 0.02
#: Time without a message after which a stream counts as stopped, s.
STREAM_STOPPED_SECONDS = 1.0
#: Meaning of each count.
MEANINGS = {**{rule: f'times: {text}' for rule, text in RULES.items()}, **PROBLEMS}
#: Time for which a problem stays in the reports, s.
PROBLEM_KEPT_SECONDS = 5.0
#: The node that logs the problems of a stream for all its listeners.
RECORDER = 'recorder'
#: Most messages taken before other work.
TAKEN_TOGETHER = 100


class Problem(NamedTuple):
    """A problem of a stream: its level, keys that stay the same while it lasts, and its text."""

    level: bytes
    keys: frozenset[str]
    text: str


class StateSubscription:
    """
    Subscription with the reliability of the publisher, whenever that appears.

    Parameters
    ----------
    node : Node
        Owner.
    kind : type
        Message.
    topic : str
        Relative name.
    callback : callable
        Takes the message.
    depth : int
        Messages that may wait.

    Attributes
    ----------
    others : list of str
        Other types published on the topic, which this node does not receive.

    """

    others: Sequence[str] = ()

    def __init__(
        self, node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None],
        depth: int = STATE_DEPTH,
    ) -> None:
        self._node, self._kind, self._callback, self._depth = node, kind, callback, depth
        self.type = f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
        self.topic: str = node.resolve_topic_name(topic)
        self._subscribe(state_qos(node, self.topic, depth))

    def follow(self) -> list[str]:
        """Adapt to the current publishers, and return the full names of their nodes."""
        wanted = state_qos(self._node, self.topic, self._depth)
        if self._qos.reliability != wanted.reliability:
            self._node.destroy_subscription(self._subscription)
            self._subscribe(wanted)
        infos = self._node.get_publishers_info_by_topic(self.topic)
        self.others = sorted({info.topic_type for info in infos} - {self.type})
        return sorted(f'{i.node_namespace.rstrip("/")}/{i.node_name}' for i in infos)

    def _subscribe(self, qos: QoSProfile) -> None:
        self._qos = qos
        self._subscription = self._node.create_subscription(
            self._kind, self.topic, self._take, qos)

    def _take(self, message: Any) -> None:
        self._callback(message)
        # With the public interface, rclpy prepares a wait for each message, which takes longer
        # than processing it: beside other work (load 10 on two processors), an identifier received
        # 13 954 and 11 312 of some 40 000 states at 1 kHz, but all 41 500 and 39 142 by the handle
        # (python benchmarks/nodes_at_1khz.py --seconds 20), which rclpy.wait_for_message uses,
        # too. The stand-in for rclpy spins faster, and has no handle.
        waiting = getattr(self._subscription, 'handle', None)
        if waiting is None:
            return
        with waiting:
            for _ in range(min(self._depth, TAKEN_TOGETHER) - 1):
                taken = waiting.take_message(self._kind, False)
                if taken is None:
                    return
                self._callback(taken[0])


class ArmSubscription:
    """
    Subscribe to the joint states, and to the drive signal if it has a topic of its own.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm.
    settings : mapping of str to object
        Parameters of the node; ``report_rate``, reports per second, may change.
    health : callable
        Returns the statuses of a report on ``/diagnostics``, the one of `status` among them.
    callback : callable, optional
        Called after each message.
    ready : callable, optional
        As for `Answers`.

    Attributes
    ----------
    reader : JointStateReader
        The samples.
    topic : str
        Full name of the joint states.
    publishers : dict of str to list of str
        Full names of the nodes that publish each topic, at the last check.
    awaited : set of str
        Topics without a message so far.

    """

    def __init__(
        self, node: Node, arm: ArmModel, settings: Mapping[str, Any],
        health: Callable[[], Sequence[DiagnosticStatus]],
        callback: Callable[[], None] | None = None,
        ready: Callable[[], Sequence[tuple[str, str]] | None] = tuple,
    ) -> None:
        self._node = node
        self._arm = arm
        self._settings, self._health = settings, health
        self._due = time.monotonic()
        self._callback = callback
        # A node that finds the subscription finds all publishers, too.
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.reader = JointStateReader(arm)
        self._watch = watch_clock(node)
        states = StateSubscription(
            node, JointState, 'joint_states', lambda m: self._on(self.topic, self.reader.add, m))
        self.topic = states.topic
        arm.drive.check_topic(self.topic)
        self._followed = [states]
        apart = arm.drive.topic
        if apart is not None:
            name = apart.beside(self.topic)
            drive = StateSubscription(
                node, DRIVE_MESSAGES[apart.kind][0], name,
                lambda m: self._on(drive.topic, self.reader.add_signal, m))
            self._followed.append(drive)
        self._heard = dict.fromkeys(self.topics, self._watch.now().nanoseconds)
        self.publishers: dict[str, list[str]] = {}
        self.awaited = set(self.topics)
        # Counts at the last report with new messages; and when each last grew, s.
        self._before: Mapping[str, int] = {}
        self._met: dict[str, float] = {}
        self._logged: frozenset[str] = frozenset()
        self._answers = Answers(node, self.topics, READS, ready)
        create_steady_timer(node, REPORT_CHECK_SECONDS, self._look)

    @property
    def topics(self) -> list[str]:
        """Return the full names of all topics."""
        return [subscription.topic for subscription in self._followed]

    def follow(self) -> None:
        """Adapt to the current publishers."""
        self.publishers = {each.topic: each.follow() for each in self._followed}

    def leave(self) -> None:
        """Release a simulated arm, which need not wait for this node any more."""
        self._answers.leave()

    def reset(self) -> None:
        """Forget all samples and problems."""
        self.reader.reset()
        self._before, self._met = {}, {}

    def status(
        self, applied: Mapping[str, int], losses: Sequence[str],
        met: Mapping[str, tuple[bytes, str]] | None = None, **further: object,
    ) -> DiagnosticStatus:
        """
        Report whether a stream is good, and log when that changes.

        Parameters
        ----------
        applied : mapping of str to int
            How often each of `RULES` was applied to it.
        losses : sequence of str
            Rules that lose data.
        met : mapping of str to tuple, optional
            Levels and sentences of further problems.
        **further
            Values to show beside the counts.

        """
        met, now = met or {}, time.monotonic()
        counts = {**self.reader.counts, **{rule: applied[rule] for rule in losses}}
        new = {key: count - self._before.get(key, 0) for key, count in counts.items()}
        found = self._trouble(new)
        self._met = {key: since for key, since in self._met.items()
                     if now - since < PROBLEM_KEPT_SECONDS}
        self._met |= {key: now for key in new if key in MEANINGS and new[key] > 0}
        if new['messages'] or new['signals']:
            self._before = counts
        topics = ' and '.join(self.topics)
        every = [*(f'{counts[key]} {MEANINGS[key]}' for key in self._met),
                 *(text for _, text in met.values())]
        if found is None and every:
            level = max([say.WARN] * bool(self._met) + [each for each, _ in met.values()])
            found = Problem(level, frozenset([*self._met, *met]), f'{topics}: {"; ".join(every)}')
        shown = found or Problem(say.OK, frozenset(), f'{topics} is good')
        self._log(shown)
        text = shown.text if found or counts['messages'] else f'{topics}: no message yet'
        return say.status(
            self._node, self._arm, 'stream', shown.level, text,
            {**applied, **self.reader.counts, **further})

    def _look(self) -> None:
        """Report, if a report is due."""
        if time.monotonic() < self._due:
            return
        period = 1.0 / self._settings['report_rate']
        self._due = time.monotonic() + period - REPORT_CHECK_SECONDS / 2
        self.follow()
        self._diagnostics.publish(say.array(self._node, self._health()))

    def _trouble(self, new: Mapping[str, int]) -> Problem | None:
        """Find why identification is impossible now, by the counts since the last report."""
        now = self._watch.now().nanoseconds
        for each in self._followed:
            names = self.publishers.get(each.topic, [])
            listed = ', '.join(names)
            silent = (now - self._heard[each.topic]) * 1e-9
            if silent > STREAM_STOPPED_SECONDS and each.others:
                return Problem(say.ERROR, frozenset(['type']), (
                    f'{each.topic} is published as {" and ".join(each.others)} by {listed}, not '
                    f'as {each.type}; remap to a topic of this type'))
            if silent > STREAM_STOPPED_SECONDS:
                return Problem(say.STALE, frozenset(['silent']), (
                    f'{each.topic}: no message for {silent:.1f} s; '
                    f'{listed or "nobody"} publishes it'))
            if len(names) > 1:
                return Problem(say.ERROR, frozenset(['publishers']), (
                    f'{each.topic} has {len(names)} publishers: {listed}; stop all but one'))
        for topic, problem, received in zip(
                self.topics, ('joints_missing', 'signal_joints_missing'), ('messages', 'signals'),
                strict=False):
            if new[received] and new[problem] == new[received]:
                return Problem(say.ERROR, frozenset([problem]), (
                    f'the messages on {topic} lack joints of {self._arm.name}: they hold '
                    f'{", ".join(self.reader.others) or "no names"}; '
                    f'{remedy(self._arm, self.reader.others)}'))
        if new['messages'] and new['effort_missing'] == new['messages']:
            return Problem(say.ERROR, frozenset(['effort_missing']), (
                f'the messages on {self.topic} hold no effort; set up the driver to publish it, '
                'or name the topic of the drive signal in arm.yaml (drive: topic)'))
        if new['messages'] and new['signal_missing'] == new['messages']:
            return Problem(say.ERROR, frozenset(['signal_missing']), (
                f'no joint state has a signal near on {self.topics[-1]}; compare the header '
                'stamps of both topics'))
        return None

    def _log(self, found: Problem) -> None:
        """Log the start and the end of a problem, and others that join it, once each."""
        keys = found.keys
        if keys <= self._logged if keys else not self._logged:
            return
        self._logged = keys | self._logged if keys & self._logged else keys
        if self._recorded():
            return
        self._node.get_logger().warning(found.text if keys else f'{found.text} again')

    def _recorded(self) -> bool:
        """Whether the recorder of the arm hears the same: it logs all problems."""
        own = self._node.get_fully_qualified_name()
        recorder = f'{own.rpartition("/")[0]}/{RECORDER}'
        return own != recorder and recorder in {
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self._node.get_subscriptions_info_by_topic(self.topic)}

    def _on(self, topic: str, add: Callable[[Any, int], None], message: Any) -> None:
        self._heard[topic] = self._watch.now().nanoseconds
        self.awaited.discard(topic)
        add(message, self._node.get_clock().now().nanoseconds)
        if self._callback is not None:
            self._callback()
        if topic == self.topic:
            self._answers.heard(message.header.stamp)
            if self.reader.counts['messages'] % ANSWER_INTERVAL == 0:
                self._answers.answer()
