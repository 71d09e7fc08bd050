# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node ``trajectory_publisher``: moves an arm along an excitation, within its limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import time
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.errors import InputError
from dynid_ros.motion.execution.motion_control import MotionControl
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.execution.safety_monitor import Bound, Violation
from dynid_ros.motion.execution.start_checks import moving_joint
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.lockstep import (
    Answers,
    ControlTime,
    create_steady_timer,
    nanoseconds,
    watch_clock,
)
from dynid_ros.ros.nodes.common.readiness import Listeners
from dynid_ros.ros.nodes.common.runtime import declare, run
from dynid_ros.ros.nodes.motion.motion_report import MotionReport
from dynid_ros.ros.nodes.motion.motion_settings import load_motion, make_output, SETTINGS
from dynid_ros.ros.nodes.motion.motion_state import StateWatch

#: Periods of the watchdog and of the check of the graph, s; and of the latter in simulated time,
#: which may wait for it.
WATCH = 0.01
CONTROLLER_CHECK_SECONDS = 0.2
SOON = 0.05
#: Period of the reference, s.
REFERENCE_PERIOD = 0.01
#: Time in which the arm must be at rest after an abort, s.
REST_AFTER_ABORT_SECONDS = 2.0
#: Time at the end for the results to reach the senders of goals, s.
GOAL_ANSWER_SECONDS = 0.2


class TrajectoryPublisher(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__('trajectory_publisher')
        values = declare(self, SETTINGS)
        self.finished = False
        self.status = 0
        self._values = values
        self._arm, scene, executor = load_motion(values)
        self._time = ControlTime(self)
        self._reported = self._changed = self._stamp = self._began = 0.0
        self._seconds = 1.0
        self._created = self._heard = time.monotonic()
        self._ran = self._refused = self._stale = False
        self._missed: str | None = None
        self._phase = executor.phase
        self._output = make_output(self, self._arm, values, self._on_failure, self._time)
        self._control = MotionControl(
            self._arm, executor, self._output, scene, values['tracking_error'],
            values['state_timeout'], values['dry_run'])
        self._reference = self.create_publisher(JointState, '~/reference', 10)
        self._report = MotionReport(self, self._arm, executor.motion, scene, values,
                                    self._on_start, self._on_stop)
        self._states = StateWatch(self, self._arm, self._time, self._on_state)
        self._listeners = Listeners(self, values['listeners'], self._time.now)
        self._stopped_by = self._uncommanded = ''
        self._answers = Answers(self, [self._states.topic])
        self.create_timer(WATCH, self._watch, clock=watch_clock(self))
        # Discovery does not depend on the simulated time, which may wait for it.
        period = SOON if self._time.simulated else CONTROLLER_CHECK_SECONDS
        create_steady_timer(self, period, self._look)
        offer(self, '~/start', self._on_start)
        offer(self, '~/stop', self._on_stop)
        # The first line of rclpy's logger takes up to a tenth of a second, during which nobody
        # would watch a motion.
        self.get_logger().info(f'waiting for states of {self._arm.name} on {self._states.topic}')

    def stop(self) -> None:
        """Bring the arm to rest and leave it with a last safe command."""
        if self._control.active:
            self._slow_down('the node is shutting down')
        self._heard = time.monotonic()
        # The arm slows down as long as states come, even on a busy machine.
        while (self._control.active and not self._states.gone
               and time.monotonic() < self._heard + self._time.patience):
            self.executor.spin_once(timeout_sec=WATCH)
        if self._control.active:
            self._control.fault(Violation(
                Bound.SILENCE, 'the node ends, and no state shows whether the arm is at rest'))
            self._notice_phase()
        self._spin_until(lambda: self._report.idle, self._time.patience)
        # rclpy sends the result of a goal in a callback after the one that ends it.
        self._spin_until(lambda: False, GOAL_ANSWER_SECONDS)
        # Answer no state after this, so that it stays the last command.
        self._control.leave()
        self._spin_until(lambda: self._output.settled, self._time.patience)
        self._answers.leave()

    def _spin_until(self, done: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=WATCH)

    def _on_state(self, message: JointState) -> None:
        """Check the state, command the arm, and answer a simulated one."""
        self._heard = time.monotonic()
        self._time.heard(message)
        self._answers.heard(message.header.stamp)
        self._stamp = nanoseconds(message.header.stamp) * 1e-9
        if self._time.simulated:
            self._notice_silence()
        state, now = self._states.read(message), self._time.now()
        sent = None if state is None else self._control.take(now, state, bool(self._states.mixed))
        if sent is not None:
            self._publish(now, message, *sent)
        self._notice_phase()
        if self._time.simulated:
            self._finish_once()
        self._answer()

    def _answer(self) -> None:
        """Answer the last state, unless the simulated time must wait for others."""
        starting = (self._values['once'] and self._control.period
                    and not (self._ran or self._refused))
        if (not self._answers.owed or self.finished or starting
                or not self._output.settled):
            return
        self._answers.answer(self._output.sent)
        self._output.sent = ()

    def _publish(self, now: float, message: JointState, wanted: Reference, tau: Any) -> None:
        if now - self._reported < REFERENCE_PERIOD:
            return
        self._reported = now
        reference = JointState(
            name=self._arm.joint_names, position=wanted.q.tolist(), velocity=wanted.qd.tolist(),
            effort=tau.tolist())
        reference.header.stamp = message.header.stamp
        self._reference.publish(reference)
        assert self._control.last is not None
        self._report.note(
            now - self._began, self._seconds, message.header.stamp, wanted, self._control.last)

    def _watch(self) -> None:
        """Stop the arm when its state becomes unknown."""
        if not self._time.simulated:
            self._finish_once()
        last, now = self._control.last, self._time.now()
        if last is None:
            return
        # If this process itself was late, it reads the waiting states before the next check.
        before, self._stale = self._stale, self._control.stale(now)
        if self._stale and before:
            self._notice_silence()
        since = now - self._changed
        aborted = self._control.phase is Phase.ABORTED
        if not self._stale and aborted and since > REST_AFTER_ABORT_SECONDS:
            moving = moving_joint(self._arm, last.qd)
            if moving:
                self.get_logger().error(
                    f'{moving} {since:.0f} s after the abort: use the emergency stop',
                    throttle_duration_sec=1.0)

    def _notice_silence(self) -> None:
        self._control.notice_silence(self._time.now(), self._states.mixed)
        self._notice_phase()

    def _finish_once(self) -> None:
        """End after the one motion and the controller's answer to it."""
        if not (self._values['once'] and self._ran
                and self._phase in (Phase.HOLDING, Phase.ABORTED)):
            return
        # In simulated time that is always after the same state, if one still comes.
        rested = self._states.gone or self._time.now() - self._changed > REST_AFTER_ABORT_SECONDS
        if rested or not (self._output.following or self._time.simulated):
            self.finished = True
            self.status = self.status or int(self._phase is Phase.ABORTED)

    def _look(self) -> None:
        """Check the publishers, listeners and controllers in the graph."""
        # A driver that dies takes its controllers along, one endpoint after the other: only what
        # is missing twice is the reason.
        before, self._uncommanded = self._uncommanded, self._output.missing
        self._states.follow()
        if (problem := self._states.violation) is not None:
            self._control.fault(problem)
            self._notice_phase()
        elif before and self._uncommanded:
            self._on_failure(self._uncommanded)
        lost = self._listeners.missing
        if lost and self._control.active and not self._stopped_by:
            self.status = 1
            self.get_logger().error(f'the motion stops: {lost}')
            self._slow_down(lost)
        if self._states.gone:
            self._finish_once()
        if not self._ran:
            missing = self._missing()
            self._announce(missing)
            if self._values['once'] and self._output.settled and not missing:
                self._start_once()
        self._answer()

    def _missing(self) -> str:
        """Name the missing nodes before a motion can start, in a clause; empty for none."""
        if self._states.mixed:
            return f'{self._states.mixed}; stop all but one'
        if self._control.stale(self._time.now()) or self._control.period is None:
            return (f"no states of all joints of '{self._arm.name}' with positions and velocities "
                    f'come on {self._states.topic}; start the arm first')
        return self._output.missing or self._listeners.missing

    def _announce(self, missing: str) -> None:
        """Log once that a motion can start, and each reason why none can start before."""
        soon = time.monotonic() - self._created <= self._time.patience
        if self._missed in ('', missing) or (missing and soon):
            return
        self._missed = missing
        if missing:
            self.get_logger().warning(f'not ready: {missing}')
        else:
            self.get_logger().info(f'ready: {self._arm.name} on {self._states.topic}')

    def _start_once(self) -> None:
        try:
            self.get_logger().info(self._start())
        except InputError as error:
            # Nodes may appear while the time stands still; other reasons may need it to advance.
            self._refused = True
            self.get_logger().warning(f'not started yet: {error}', throttle_duration_sec=2.0)

    def _on_start(self) -> str:
        try:
            return self._start()
        except InputError as error:
            self.get_logger().error(f'not started: {error}')
            raise

    def _start(self) -> str:
        """Start, and return a sentence on the motion."""
        self._control.check_free()
        self._states.follow()
        missing = self._missing()
        if missing:
            raise InputError(missing)
        now, period = self._time.now(), self._control.period
        assert period is not None
        self._output.prepare(period, self._states.names)
        self._began, self._seconds = now, self._control.start(now)
        self._ran, self._stopped_by = True, ''
        self._report.begin()
        self._notice_phase()
        return f'moving for {self._seconds:.1f} s' + (
            ' (dry run: nothing is commanded)' if self._values['dry_run'] else '')

    def _on_stop(self) -> str:
        aborted = self._control.phase is Phase.ABORTED
        self._slow_down()
        return 'reset after the abort' if aborted else self._control.phase.value

    def _slow_down(self, reason: str = '') -> None:
        self._stopped_by = self._stopped_by or reason
        self._control.stop(self._time.now())
        self._notice_phase()

    def _on_failure(self, reason: str) -> None:
        """Abort a motion that the controller gave up."""
        self._control.fault(Violation(Bound.CONTROLLER, reason))
        self._notice_phase()

    def _notice_phase(self) -> None:
        if self._control.phase is self._phase:
            return
        self._phase, self._changed = self._control.phase, self._time.now()
        if self._phase is Phase.ABORTED:
            # Publishers whose states may be trusted from now on.
            self._states.follow()
            self.get_logger().error(
                f'aborted: {self._control.violation}; the arm is held, ~/stop resets')
        else:
            self.get_logger().info(self._phase.value)
        violation = self._control.violation if self._phase is Phase.ABORTED else None
        self._report.enter(self._phase, violation or self._stopped_by, self._stamp)


main = partial(run, TrajectoryPublisher)


if __name__ == '__main__':
    raise SystemExit(main())
