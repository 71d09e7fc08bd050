# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that records an arm into rosbag2, and reports the quality of the data meanwhile."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
import hashlib
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.sidecar import arm_entry, write_sidecar
from dynid_ros.errors import InputError, ResultError
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.arm_subscription import ArmSubscription
from dynid_ros.ros.nodes.common.lockstep import simulated_time
from dynid_ros.ros.nodes.common.qos import STATE_DEPTH, state_qos
from dynid_ros.ros.nodes.common.readiness import Readiness
from dynid_ros.ros.nodes.common.runtime import ARM, declare, run, Setting
from dynid_ros.ros.nodes.common.validation_marks import ValidationMarks
from dynid_ros.ros.nodes.recording.bag_process import BagProcess
from dynid_ros.ros.nodes.recording.rolling_quality import RollingQuality
from dynid_ros.utilities.atomic_write import try_folder

SETTINGS = (
    ARM,
    Setting('output_folder', 'recordings', 'Folder; each recording makes one of its own in it.'),
    Setting('topics', [], 'Topics to record beside the joint states and the drive signal of the '
            'arm.'),
    Setting('wrench_topic', '', 'Topic of a force-torque sensor at the wrist '
            '(geometry_msgs/WrenchStamped) to record, too; none if empty.'),
    Setting('record_at_start', False, 'Record without ~/start, as soon as there are joint '
            'states.'),
    Setting('report_rate', 1.0, 'Reports per second.', 0.1, 10.0, changeable=True),
)
_LEVELS = {'info': say.OK, 'warning': say.WARN, 'error': say.ERROR}


class Recorder(Node):
    """Joint states and further topics into a bag with a sidecar; their quality as diagnostics."""

    def __init__(self) -> None:
        super().__init__('recorder')
        self._settings = declare(self, SETTINGS)
        self._arm = load_arm(self._settings['arm'])
        self._output = Path(self._settings['output_folder']).expanduser()
        try_folder(self._output)
        self.status = 0
        self._bag: BagProcess | None = None
        self._said = say.OK
        self._sidecar: dict[str, Any] = {}
        self._input = ArmSubscription(
            self, self._arm, self._settings, self._health, ready=self._ready)
        self._quality = RollingQuality(self._arm, self._input.topic)
        self._marks = ValidationMarks(self, self._on_mark)
        offer(self, '~/start', self._start)
        offer(self, '~/stop', self._finish)
        self._waiting: bool = self._settings['record_at_start']
        self._readiness = Readiness(self, self._arm.name, self._look)

    def stop(self) -> None:
        """Close the bag."""
        self._readiness.leave()
        if self._bag is not None:
            try:
                self.get_logger().info(self._finish())
            except InputError as error:
                self.get_logger().error(str(error))
        self._input.leave()

    @property
    def _bag_node(self) -> str:
        # rosbag2 gives it no namespace, so the recorders of two arms would have the same name.
        return f'{self.get_fully_qualified_name().strip("/").replace("/", "_")}_bag'

    def _start(self) -> str:
        if self._bag is not None:
            if not self._trouble():
                raise InputError(f'{self._bag.bag} is being recorded; stop it first')
            with suppress(InputError):
                self._finish()
        if not self.get_publishers_info_by_topic(self._input.topic):
            raise InputError(f'nobody publishes {self._input.topic}; start the driver first')
        now = datetime.now(timezone.utc)
        self._folder = self._output / f'{self._arm.name}_{now:%Y%m%d_%H%M%S_%f}'
        further = [self.resolve_topic_name(topic) for topic in self._settings['topics']]
        wrench = self._settings['wrench_topic'] and self.resolve_topic_name(
            self._settings['wrench_topic'])
        topics = list(filter(None, dict.fromkeys([*self._input.topics, wrench, *further])))
        arm = arm_entry(self._arm)
        self._sidecar = {
            'started': now.isoformat(), 'joint_states': self._input.topic, 'topics': topics,
            'parameters': dict(self._settings), **arm}
        if wrench:
            self._sidecar['wrench'] = wrench
        write_sidecar(self._folder, self._sidecar | {'validation': self._marks.spans})
        # Simulated time may be much faster than the disk.
        depth = 3 * STATE_DEPTH if simulated_time(self) else STATE_DEPTH
        qos = {topic: state_qos(self, topic, depth) for topic in topics
               if self.get_publishers_info_by_topic(topic)}
        self._bag = BagProcess(
            self._folder, topics, self._bag_node,
            {'arm': self._arm.name, 'arm_sha256': arm['arm_sha256'],
             'started': now.isoformat()}, qos, self._input.reader.counts['messages'],
            # rosbag2 cannot remap the clock of one of several simulated arms.
            simulated_time(self) and self.resolve_topic_name('/clock') == '/clock')
        self._said = say.WARN
        return f'starting to record {", ".join(topics)}'

    def _finish(self) -> str:
        if self._bag is None:
            raise InputError('nothing is being recorded; call ~/start first')
        bag, self._bag = self._bag, None
        self._said = say.OK
        # A motion must not wait until the bag is closed.
        self._readiness.look()
        trouble = bag.stop()
        files = sorted(bag.bag.glob('*.mcap'))
        self._sidecar['files'] = {file.name: _sha256(file) for file in files}
        # A full disk prevents both: name that as the reason.
        unwritten = self._write_sidecar()
        trouble = trouble or unwritten
        if trouble:
            self.status = 1
            raise InputError(f'{bag.bag} is incomplete, {bag.size()} bytes are there: {trouble}')
        return f'{bag.size()} bytes in {bag.bag}'

    def _write_sidecar(self) -> str:
        """Write the marks of the motions so far; return the reason if that fails."""
        try:
            write_sidecar(self._folder, self._sidecar | {'validation': self._marks.spans})
        except ResultError as error:
            self.get_logger().error(str(error))
            return str(error)
        return ''

    def _on_mark(self) -> None:
        # Keep the mark even if this node is killed.
        if self._bag is not None:
            self._write_sidecar()

    def _look(self) -> tuple[bytes, str]:
        """Publish the state of the bag, and log its changes."""
        self._record_if_published()
        level, text, _ = self._bag_judgement()
        if self._bag is None:
            return say.WARN, f'nobody publishes {self._input.topic}' if self._waiting else (
                f'{text}; call {self.get_fully_qualified_name()}/start')
        if level != self._said:
            self._said = level
            if level == say.ERROR:
                self.status = 1
                self.get_logger().error(
                    f'{self._bag.bag} is incomplete: {text}; '
                    f'{self.get_fully_qualified_name()}/start begins another one')
            elif level == say.OK:
                self.get_logger().info(
                    f'recording {", ".join(self._bag.topics)} into {self._bag.bag}')
            else:
                self.get_logger().warning(f'{self._bag.bag}: {text}')
        return level, text

    def _health(self) -> list[DiagnosticStatus]:
        self._record_if_published()
        self._quality.add(*self._input.reader.take())
        defects = self._quality.defects()
        named = {f'{d.code} {d.joint or ""}'.strip(): d for d in defects}
        return [
            say.status(self, self._arm, 'bag', *self._bag_judgement()),
            self._input.status(
                {}, (), {key: (_LEVELS[defect.severity], defect.message)
                         for key, defect in named.items() if defect.severity != 'info'},
                rate_hz=self._quality.rate_hz,
                **{key: defect.message for key, defect in named.items()})]

    def _ready(self) -> list[tuple[str, str]] | None:
        """Topics that the bag must receive before simulated time starts; None while unknown."""
        if self._waiting:
            self._input.follow()
            self._record_if_published()
        if self._bag is None:
            return None if self._waiting else []
        return [(f'/{self._bag_node}', topic) for topic in self._input.topics]

    def _record_if_published(self) -> None:
        if self._waiting and self._input.states.publishers:
            self._waiting = False
            self.get_logger().info(self._start())

    def _bag_judgement(self) -> tuple[bytes, str, dict[str, object]]:
        if self._bag is None:
            return say.OK, 'not recording', {}
        values: dict[str, object] = {'bag': str(self._bag.bag), 'bytes': self._bag.size()}
        reason = self._trouble()
        if reason:
            return say.ERROR, reason, values
        # A further topic that appears later does not stop a motion.
        awaited = self._bag.awaited(
            self, self._bag.topics if self._said == say.WARN else self._input.topics)
        if awaited:
            return say.WARN, f'not yet subscribed to {", ".join(awaited)}', values
        return say.OK, 'recording', values

    def _trouble(self) -> str | None:
        assert self._bag is not None
        return self._bag.trouble(self, self._input.reader.counts['messages'])


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open('rb') as content:
        while part := content.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


main = partial(run, Recorder)


if __name__ == '__main__':
    raise SystemExit(main())
