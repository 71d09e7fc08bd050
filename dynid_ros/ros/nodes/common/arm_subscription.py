"""Everything that a node hears of an arm, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.streaming.sample_validation import RULES
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.joint_state_reader import JointStateReader, message_type, PROBLEMS
from dynid_ros.ros.nodes.common.lockstep import Answers, BEHIND, EVERY, watch_clock
from dynid_ros.ros.nodes.common.runtime import DEPTH, state_qos

#: Without a message for so long, s, a stream counts as stopped.
SILENCE = 1.0


class StateSubscription:
    """
    Subscription with the reliability that is published, whenever the publisher appears.

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

    """

    def __init__(
        self, node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None],
        depth: int = DEPTH,
    ) -> None:
        self._node = node
        self._kind = kind
        self._callback = callback
        self._depth = depth
        self.topic: str = node.resolve_topic_name(topic)
        self._subscribe()

    def follow(self) -> list[str]:
        """Adapt to the publishers of now, and return the full names of their nodes."""
        if self._qos.reliability != self._wanted().reliability:
            self._node.destroy_subscription(self._subscription)
            self._subscribe()
        infos = self._node.get_publishers_info_by_topic(self.topic)
        return sorted(f'{i.node_namespace.rstrip("/")}/{i.node_name}' for i in infos)

    def _wanted(self) -> QoSProfile:
        return state_qos(self._node, self.topic, self._depth)

    def _subscribe(self) -> None:
        self._qos = self._wanted()
        self._subscription = self._node.create_subscription(
            self._kind, self.topic, self._callback, self._qos)


class ArmSubscription:
    """
    Subscriptions to the joint states, and to the drive signal if it has a topic of its own.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm.
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

    """

    def __init__(
        self, node: Node, arm: ArmModel, callback: Callable[[], None] | None = None,
        ready: Callable[[], Sequence[str] | None] = tuple,
    ) -> None:
        self._node = node
        self._arm = arm
        self._callback = callback
        self.reader = JointStateReader(arm)
        self._watch = watch_clock(node)
        states = StateSubscription(
            node, JointState, 'joint_states', lambda m: self._on(self.topic, self.reader.add, m))
        self.topic = states.topic
        self._followed = [states]
        apart = arm.drive.topic
        if apart is not None:
            name = apart.beside(self.topic)
            drive = StateSubscription(
                node, message_type(apart), name,
                lambda m: self._on(drive.topic, self.reader.add_signal, m))
            self._followed.append(drive)
        self._heard = dict.fromkeys(self.topics, self._watch.now().nanoseconds)
        self._publishers: dict[str, list[str]] = {}
        self._answers = Answers(node, self.topics, BEHIND, ready)

    @property
    def topics(self) -> list[str]:
        """Return the full names of all topics."""
        return [subscription.topic for subscription in self._followed]

    def follow(self) -> list[str]:
        """Adapt to the publishers of now, and return the nodes that publish joint states."""
        self._publishers = {each.topic: each.follow() for each in self._followed}
        return self._publishers[self.topic]

    def leave(self) -> None:
        """Tell a simulated arm that it need not wait any more."""
        self._answers.leave()

    def values(self) -> dict[str, object]:
        """Return counts for diagnostics."""
        values: dict[str, object] = {'messages': self.reader.messages}
        if len(self._followed) > 1:
            values['signals'] = self.reader.signals
        publishers = sorted({name for names in self._publishers.values() for name in names})
        return {**values, 'publishers': ', '.join(publishers), **self.reader.counts}

    def trouble(self) -> tuple[bytes, str] | None:
        """Say why nothing can be learned now, if so: level and a sentence."""
        now = self._watch.now().nanoseconds
        for topic, names in self._publishers.items():
            listed = ', '.join(names)
            silent = (now - self._heard[topic]) * 1e-9
            if silent > SILENCE:
                return say.STALE, (f'{topic}: no message for {silent:.1f} s; '
                                   f'{listed or "nobody"} publishes it')
            if len(names) > 1:
                return say.ERROR, (f'{topic} has {len(names)} publishers: {listed}; stop all but '
                                   'one')
        reader, counts = self.reader, self.reader.counts
        for topic, problem, messages in zip(
                self.topics, ('joints_missing', 'signal_joints_missing'),
                (reader.messages, reader.signals), strict=False):
            if messages and counts[problem] == messages:
                return say.ERROR, (f'the messages on {topic} lack joints of {self._arm.name}: '
                                   f'they hold {", ".join(reader.others) or "no names"}')
        if reader.messages and counts['signal_missing'] == reader.messages:
            return say.ERROR, (f'no joint state has a signal near on {self.topics[-1]}; compare '
                               'the header stamps of both topics')
        return None

    def met(self) -> list[str]:
        """Say what was wrong so far."""
        counts = self.reader.counts
        return [f'{counts[problem]} {text}' for problem, text in PROBLEMS.items()
                if counts[problem]]

    def status(
        self, applied: Mapping[str, int], losses: Sequence[str], met: Iterable[str] = (),
        **further: object,
    ) -> DiagnosticStatus:
        """
        Report whether a stream is good.

        Parameters
        ----------
        applied : mapping of str to int
            How often each of `RULES` was applied to it.
        losses : sequence of str
            Those of them by which data is lost.
        met : iterable of str
            What else was wrong so far.
        **further
            Values to show beside the counts.

        """
        every = [*self.met(), *met,
                 *(f'{applied[rule]} times: {RULES[rule]}' for rule in losses if applied[rule])]
        topics = ' and '.join(self.topics)
        level, text = self.trouble() or (
            (say.WARN, f'{topics}: {"; ".join(every)}') if every else
            (say.OK, f'{topics} is good'))
        return say.status(f'{self._node.get_name()}: stream', self._arm.name, level, text,
                          {**applied, **self.values(), **further})

    def _on(self, topic: str, add: Callable[[Any, int], None], message: Any) -> None:
        self._heard[topic] = self._watch.now().nanoseconds
        add(message, self._node.get_clock().now().nanoseconds)
        if self._callback is not None:
            self._callback()
        if topic == self.topic:
            self._answers.heard(message.header.stamp)
            if self.reader.messages % EVERY == 0:
                self._answers.answer(message.header.stamp)
