# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Subscriptions of a node to the topics of an arm, and the problems of their streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.streaming.sample_validation import RULES
from dynid_ros.data.tables.joint_names import remedy
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.joint_state_reader import (
    Beside,
    drive_topic,
    JointStateReader,
    PROBLEMS,
)
from dynid_ros.ros.nodes.common.lockstep import (
    ANSWER_INTERVAL,
    Answers,
    create_steady_timer,
    READS,
)
from dynid_ros.ros.nodes.common.qos import node_of
from dynid_ros.ros.nodes.common.state_subscription import Problem, StateSubscription

#: Period of the check for a due report, s.
REPORT_CHECK_SECONDS = 0.02
#: Meaning of each count.
MEANINGS = {**{rule: f'times: {text}' for rule, text in RULES.items()}, **PROBLEMS}
#: Time for which a problem stays in the reports, s.
PROBLEM_KEPT_SECONDS = 5.0
#: The node that logs the problems of a stream for all its listeners.
RECORDER = 'recorder'


class ArmSubscription:
    """
    Subscribe to the joint states, and to a topic beside them: by default of the drive signal.

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
    callback : callable
        Called after the messages that waited.
    ready : callable, optional
        As for `Answers`.
    beside : Beside, optional
        Topic whose values are wanted instead of the drive signal.

    Attributes
    ----------
    states : StateSubscription
        Subscription to the joint states.
    reader : JointStateReader
        The samples.

    """

    def __init__(
        self, node: Node, arm: ArmModel, settings: Mapping[str, Any],
        health: Callable[[], Sequence[DiagnosticStatus]],
        callback: Callable[[], object] = lambda: None,
        ready: Callable[[], Sequence[tuple[str, str]] | None] = tuple,
        beside: Beside | None = None,
    ) -> None:
        self._node = node
        self._arm = arm
        self._settings, self._health = settings, health
        self._due = time.monotonic()
        self._callback = callback
        # A node that finds the subscription finds all publishers, too.
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        if beside is None:
            topic = node.resolve_topic_name('joint_states')
            arm.drive.check_topic(topic)
            beside = drive_topic(arm, topic)
        self.reader = JointStateReader(arm, beside, lambda: node.get_clock().now().nanoseconds)
        self.states = StateSubscription(
            node, JointState, 'joint_states', self.reader.add, done=self._after_states)
        self._followed = [self.states]
        if beside is not None:
            self._followed.append(StateSubscription(
                node, beside.kind, beside.name, self.reader.add_signal,
                done=lambda _: callback()))
        self._portions = 0
        # Counts at the last report with new messages; and when each last grew, s.
        self._before: Mapping[str, int] = {}
        self._met: dict[str, float] = {}
        self._logged: frozenset[str] = frozenset()
        self._answers = Answers(node, self.topics, READS, ready)
        create_steady_timer(node, REPORT_CHECK_SECONDS, self._look)

    @property
    def topic(self) -> str:
        """Return the full name of the joint states."""
        return self.states.topic

    @property
    def topics(self) -> list[str]:
        """Return the full names of all topics."""
        return [each.topic for each in self._followed]

    @property
    def awaited(self) -> list[str]:
        """Return the topics without a message so far."""
        return [each.topic for each in self._followed if each.awaited]

    def follow(self) -> None:
        """Adapt to the current publishers."""
        for each in self._followed:
            each.follow()

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
        for each in self._followed:
            if (found := each.problem) is not None:
                return found
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
        return own != recorder and recorder in map(
            node_of, self._node.get_subscriptions_info_by_topic(self.topic))

    def _after_states(self, newest: JointState) -> None:
        self._callback()
        self._answers.heard(newest.header.stamp)
        portions, before = self.reader.counts['messages'] // ANSWER_INTERVAL, self._portions
        self._portions = portions
        if portions != before:
            self._answers.answer()
