# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that identifies the dynamics of an arm while it moves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
import math
from pathlib import Path
import time

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER
from dynid_ros.estimation.result_files.result_file import read_state, write_state
from dynid_ros.estimation.result_files.starting_model import read_start
from dynid_ros.ros.nodes.arm_report import ArmReport
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.arm_subscription import ArmSubscription
from dynid_ros.ros.nodes.common.joint_state_reader import PROBLEMS
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer, simulated_time
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.ros.nodes.common.readiness import Readiness
from dynid_ros.ros.nodes.common.runtime import declare, run, Setting
from dynid_ros.ros.nodes.common.validation_marks import ValidationMarks
from dynid_ros.ros.nodes.payload_report import PayloadReport
from dynid_ros.ros.nodes.warm_up import load_stream_kernels
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import try_folder

SETTINGS = (
    Setting('arm', '', 'Shipped arm, or path of an arm.yaml, of its folder, or of a URDF; with '
            'payload or start, the arm of the result counts.'),
    Setting('start', '', 'Folder of dynid identify of the same arm, for friction terms, cut-off, '
            'delay, and load of friction by load; the estimate starts from nothing.'),
    Setting('friction', [], 'Friction terms that replace those in arm.yaml.'),
    Setting('cutoff_hz', 0.0, 'Cut-off of all filters, Hz; 0 for the cut-off in the result or '
            'arm.yaml, else from the first 10 s of motion.', 0.0, 1000.0),
    Setting('delay', math.nan, 'Time by which the drive signal lags behind the motion, s; NaN '
            'for the delay in the result or arm.yaml, else from the same motion if that shows '
            'the cut-off.'),
    Setting('memory', 0.0, 'Time after which the weight of old data falls to 1/e where new data '
            'replaces it, s; 0 for no forgetting.', 0.0, 1e6, changeable=True),
    Setting('report_rate', 2.0, 'Reports per second.', 0.1, 20.0, changeable=True),
    Setting('output_folder', '', 'Folder for result.yaml, or payload.json, and the state, written '
            'by ~/save; the node writes nowhere else.'),
    Setting('resume', False, 'Resume from the last saved state in the output folder; '
            'later samples are lost.'),
    Setting('save_at_end', False, 'Save when the node is stopped.'),
    Setting('validation', [], 'Stamps at which validation motions start and end by turns, s, '
            'beside those that the trajectory publisher runs: these are predicted, not fitted.',
            numbers=True),
    Setting('payload', False, 'LiveEstimate the load only; the parameters of the model stay.'),
    Setting('model', '', 'With payload: folder of dynid identify of the arm without the load.'),
    Setting('tool_frame', 'tool', 'With payload: TF frame of the tool, frame_id of ~/payload.'),
)
#: Rules of the stream that lose data.
LOSSES = ('not_finite', 'gaps', 'clock_reset', 'jumps')
#: Time for waiting messages when the node is stopped, s; and in simulated time, where this node
#: may be behind; and the pause that ends them, s.
WAITING_MESSAGES_SECONDS, SIMULATED_LAST_WORDS, SIMULATED_SILENCE_SECONDS = 1.0, 10.0, 0.5
#: Period of learning from samples that waited for a search, if no messages come, s.
CATCH_UP = 0.1


class Identifier(Node):
    """Joint states in, estimates out; saves the result of ``dynid replay`` of the same samples."""

    def __init__(self) -> None:
        super().__init__('identifier')
        self._settings = declare(self, SETTINGS, self._change)
        folder = self._settings['output_folder']
        self._folder = Path(folder).expanduser() if folder else None
        if self._folder is not None:
            try_folder(self._folder)
        self._known = self._read_result()
        self._arm = self._read_arm() if self._known is None else self._known.arm
        load_stream_kernels(self._arm, self.get_logger().info)
        self._fresh = False
        self._estimate: LiveEstimate | None = None
        self._online = self._start_online()
        self._shown: ArmReport | PayloadReport = (
            PayloadReport(self, self._online, self._settings['tool_frame'])
            if isinstance(self._online, LivePayload)
            else ArmReport(self, self._online, self._settings['arm']))
        self._publish()
        self._input = ArmSubscription(
            self, self._arm, self._settings, self._health, self._on_message)
        self._reader = self._input.reader
        self._marks = ValidationMarks(self, self._on_mark)
        self._readiness = Readiness(self, self._arm.name, self._ready)
        create_steady_timer(self, CATCH_UP, self._catch_up)
        # A session knows no stamps before its first sample.
        self._unmarked = list(self._settings['validation'])
        self._arm = self._online.arm
        self.get_logger().info(f'ready: {self._arm.name} on {" and ".join(self._input.topics)}')

    def stop(self) -> None:
        """Take in the messages that wait, and save if asked to."""
        self._readiness.leave()
        end = time.monotonic() + (
            SIMULATED_LAST_WORDS if simulated_time(self) else WAITING_MESSAGES_SECONDS)
        heard, since = self._heard, time.monotonic()
        while time.monotonic() < min(end, since + SIMULATED_SILENCE_SECONDS):
            self.executor.spin_once(timeout_sec=0.01)
            if self._heard > heard:
                heard, since = self._heard, time.monotonic()
        self._learn()
        self._input.leave()
        self._shown.stop()
        if self._settings['save_at_end']:
            try:
                self.get_logger().info(self._save())
            except RecordingError as error:
                self.get_logger().info(f'nothing was saved: {error}')

    def _change(self, name: str, value: float) -> None:
        if name == 'memory':
            if self._settings['payload']:
                raise InputError('with payload, memory is infinite: call ~/reset instead')
            self._online.forget_after(value or math.inf)

    def _read_arm(self) -> ArmModel:
        if not self._settings['arm']:
            raise InputError('no arm is given; set the parameter arm, such as arm:=panda')
        arm = load_arm(self._settings['arm'])
        friction = self._settings['friction']
        return arm.with_friction(tuple(friction)) if friction else arm

    def _read_result(self) -> IdentifiedModel | None:
        """Read the result that states arm, friction and filters, if there is one."""
        given = self._settings
        if given['payload'] != bool(given['model']):
            raise InputError('payload and model belong together: payload:=true and model:= the '
                             'folder of dynid identify of the arm without the load')
        folder = given['model'] or given['start']
        others = ('friction', 'start', 'memory') if given['payload'] else ('friction',)
        wrong = [name for name in others if given[name]]
        if folder and wrong:
            raise InputError(
                f'leave {" and ".join(wrong)} out: the result in {folder} states the friction '
                'terms, and with payload, only ~/reset forgets')
        return read_start(Path(folder).expanduser(), given['arm']) if folder else None

    def _start_online(self) -> OnlineIdentifier:
        delay, topic = self._settings['delay'], self.resolve_topic_name('joint_states')
        cutoff, memory = self._settings['cutoff_hz'] or None, self._settings['memory'] or math.inf
        late = None if math.isnan(delay) else delay
        online = (
            LivePayload(self._known, topic, cutoff_hz=cutoff, delay=late)
            if self._known is not None and self._settings['payload']
            else OnlineIdentifier(self._arm, topic, cutoff_hz=cutoff, delay=late, memory=memory,
                                  start=self._known, executor=ThreadPoolExecutor(1, 'cut-off')))
        if self._settings['resume'] and read_state(online, self._output()):
            self.get_logger().info(f'resumed after {online.samples} samples')
        return online

    def _publish(self) -> None:
        self._summary, self._validation = (self.create_publisher(
            DynamicJointState, f'~/{name}', LATCHED) for name in ('summary', 'validation'))
        self._residuals = self.create_publisher(JointState, '~/residuals', 100)
        self._predicted = self.create_publisher(JointState, '~/predicted_effort', 100)
        offer(self, '~/reset', self._reset)
        offer(self, '~/save', self._save)
        self.create_service(SetBool, '~/freeze', self._on_freeze)

    def _ready(self) -> tuple[bytes, str]:
        awaited = ', '.join(self._input.awaited)
        return (say.WARN, f'no message on {awaited} yet') if awaited else (say.OK, '')

    @property
    def _heard(self) -> int:
        return self._reader.counts['messages'] + self._reader.counts['signals']

    def _on_message(self) -> None:
        if len(self._reader) >= PROCESSED_TOGETHER:
            self._learn()

    def _catch_up(self) -> None:
        if self._online.holding:
            self._learn()

    def _on_mark(self) -> None:
        # A load is estimated from every motion.
        if not self._settings['payload']:
            self._online.validate(*self._marks.spans[-1])

    def _learn(self) -> None:
        before = self._online.pipeline.cutoff_hz
        for block, tau_hat in self._online.push_ns(*self._reader.take()):
            self._fresh = True
            self._show_rows(block, tau_hat)
        if self._unmarked and self._online.samples:
            for begin, end in zip(self._unmarked[::2], self._unmarked[1::2], strict=False):
                self._online.validate(begin, end)
            self._unmarked = []
        if (pipeline := self._online.pipeline).cutoff_hz != before:
            self.get_logger().info(
                f'the first seconds of motion give a cut-off of {pipeline.cutoff_hz:.3g} Hz and a '
                f'delay of {1000 * pipeline.delay:.3g} ms; estimates begin')

    def _show_rows(self, block: RowBlock, tau_hat: Array) -> None:
        residual = np.where(block.moving, block.tau - tau_hat, np.nan)
        stamps = self._online.intake.span[0] + np.rint(block.t * 1e9).astype(np.int64)
        for stamp, beyond, torque in zip(stamps.tolist(), residual, tau_hat, strict=True):
            self._residuals.publish(say.effort_message(self._arm, stamp, beyond))
            self._predicted.publish(say.effort_message(self._arm, stamp, torque))

    def _health(self) -> list[DiagnosticStatus]:
        """Publish the current estimates, and return all statuses."""
        now = self.get_clock().now().nanoseconds
        self._shown.look(now)
        if self._fresh:
            self._fresh = False
            self._estimate = estimate = self._online.estimate()
            self._shown.publish(now)
            self._validation.publish(say.joint_numbers(self._arm, now, estimate))
            self._summary.publish(say.summary_numbers(
                self._arm, now, estimate, self._online.samples))
        online = self._online
        known = [] if self._estimate is None else [
            say.estimate_status(self, self._arm, self._estimate)]
        return [self._input.status(
            online.pipeline.counters.as_dict(), LOSSES,
            {str(dead.joints): (say.WARN, dead.sentence) for dead in online.dead_signals},
            samples=online.samples, holding=online.holding, frozen=online.recursion.frozen,
            validating=online.validating), *known, *self._shown.health()]

    def _reset(self) -> str:
        self._input.reset()
        self._online.reset()
        self._unmarked = list(self._settings['validation'])
        self._shown.reset()
        self._estimate = None
        return 'the estimates are reset'

    def _on_freeze(self, request: SetBool.Request, answer: SetBool.Response) -> SetBool.Response:
        self._learn()
        self._online.freeze(request.data)
        answer.success = True
        answer.message = 'the estimates are frozen' if request.data else 'the estimates continue'
        return answer

    def _output(self) -> Path:
        if self._folder is None:
            raise InputError('no folder to save to; start with the parameter output_folder')
        return self._folder

    def _save(self) -> str:
        folder = self._output()
        self._learn()
        counts = self._reader.counts
        saved = self._shown.save(folder, [
            Defect(f'topic_{problem}', 'info', f'{counts[problem]} {meaning}.', None,
                   counts[problem]) for problem, meaning in PROBLEMS.items() if counts[problem]])
        write_state(self._online, folder)
        return saved


main = partial(run, Identifier)


if __name__ == '__main__':
    raise SystemExit(main())
