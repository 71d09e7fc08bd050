"""Node ``trajectory_publisher``: moves an arm along an excitation, and never beyond its limits."""

from __future__ import annotations

import time
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.errors import InputError
from dynid_ros.execution.motion_executor import Phase, Reference
from dynid_ros.execution.safety_monitor import Bound, LimitWatch, SafetyMonitor
from dynid_ros.execution.start_checks import check_start, moving_joint
from dynid_ros.nodes.common.lockstep import Answers, ControlTime, watch_clock
from dynid_ros.nodes.common.runtime import declare, run
from dynid_ros.nodes.motion.motion_settings import load_motion, make_output, SETTINGS
from dynid_ros.nodes.motion.motion_state import StateWatch

#: Periods of the watchdog and of the look at the graph, s; and of the latter while simulated time
#: waits for it.
WATCH = 0.01
LOOK = 0.2
SOON = 0.02
#: Period of the reference, s.
REFERENCE = 0.01
#: Time in which the arm must be at rest after a signal or an abort, s.
LAST = 2.0
#: Time after which users read that no states come, s; and where simulated time waits for others.
PATIENCE = 3.0
SIMULATED_PATIENCE = 15.0


class NotThereError(InputError):
    """The arm, its controller or a listener is not there, or not known yet."""


class TrajectoryPublisher(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__('trajectory_publisher')
        values = declare(self, SETTINGS)
        self.finished = False
        self.status = 0
        self._values = values
        self._arm, self._scene, self._executor = load_motion(values)
        self._monitor = SafetyMonitor(self._arm, values['tracking_error'])
        self._limits = LimitWatch(self._arm)
        self._time = ControlTime(self)
        self._told = self._aborted = self._rested = 0.0
        self._created = time.monotonic()
        self._ran = self._refused = self._stale = False
        self._phase = self._executor.phase
        self._output = make_output(self, self._arm, values, self._abort, self._time)
        self._reference = self.create_publisher(JointState, '~/reference', 10)
        self._states = StateWatch(
            self, self._arm, self._time, values['state_timeout'], self._on_state)
        self._answers = Answers(self, [self._states.topic])
        self._unanswered: Any = None
        # Who else is there does not depend on the simulated time, which may wait for them.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(WATCH, self._watch, clock=watch_clock(self))
        self.create_timer(LOOK, self._look, clock=steady)
        if self._time.simulated:
            self.create_timer(SOON, self._look_soon, clock=steady)
        self.create_service(Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)
        # The first line of rclpy's logger takes up to a tenth of a second, in which a motion that
        # has begun would not be watched.
        self.get_logger().info(f'ready: {self._arm.name} on {self._states.topic}')

    def stop(self) -> None:
        """Bring the arm to rest and leave it with a last safe command."""
        # Simulated time may be slower than this computer's.
        end = time.monotonic() + (SIMULATED_PATIENCE if self._time.simulated else LAST)
        if self._executor.active:
            self._slow_down()
            while self._executor.active and not self._states.gone and time.monotonic() < end:
                rclpy.spin_once(self, timeout_sec=WATCH)
        if self._states.last is not None and self._executor.phase is not Phase.IDLE:
            self._output.hold(self._states.last)
        while not self._output.settled and time.monotonic() < end:
            rclpy.spin_once(self, timeout_sec=WATCH)
        self._answers.leave()

    @property
    def _now(self) -> float:
        """Time of the motion, s."""
        return self._output.clock(self._time.now())

    def _on_state(self, message: JointState) -> None:
        """Check the state, command what follows from it, and answer a simulated arm."""
        self._time.heard(message)
        self._answers.heard(message.header.stamp)
        if self._time.simulated:
            self._notice_silence()
        self._control(message)
        if self._time.simulated:
            self._finish_once()
        self._unanswered = message.header.stamp
        self._answer()

    def _answer(self) -> None:
        """Answer the last state, unless the simulated time must wait for others."""
        if self._unanswered is None or self.finished or not self._output.settled:
            return
        if self._values['once'] and not self._ran and not self._refused:
            return
        stamp, self._unanswered = self._unanswered, None
        self._answers.answer(stamp, self._output.sent)

    def _control(self, message: JointState) -> None:
        state = self._states.read(message)
        if state is None:
            return
        now = self._now
        executor = self._executor
        wanted = executor.reference(now)
        watched = executor.phase not in (Phase.IDLE, Phase.ABORTED)
        following = watched and not self._values['dry_run']
        problem = (
            self._monitor.violation(
                state.q, state.qd, wanted if following else None, self._output.ahead)
            or self._limits.violation(state.qd, state.tau))
        if problem and watched:
            self._abort(problem.text)
        if problem and problem.bound is Bound.NUMBER:
            return
        if self._states.mixed:
            # Whose state this is cannot be told, so no control may act on it, and after the last
            # safe command of the abort the arm is left to its own command timeout.
            return
        self._states.keep(state)
        if executor.phase is Phase.ABORTED and wanted is None:
            executor.brake(now, state.q, state.qd)
        wanted = executor.reference(now)
        if wanted is not None:
            tau, problem = self._output.follow(now, state, wanted)
            if problem and following:
                self._abort(problem.text)
            self._publish(now, message, wanted, tau)
        self._notice_phase()

    def _publish(self, now: float, message: JointState, wanted: Reference, tau: Any) -> None:
        if now - self._told < REFERENCE:
            return
        self._told = now
        reference = JointState(
            name=self._arm.joint_names, position=wanted.q.tolist(), velocity=wanted.qd.tolist(),
            effort=tau.tolist())
        reference.header.stamp = message.header.stamp
        self._reference.publish(reference)

    def _watch(self) -> None:
        """Stop the arm when its state is not known any more."""
        if not self._time.simulated:
            self._finish_once()
        if self._states.last is None:
            return
        # Where this process was late itself, states wait that are read before the next look.
        before, self._stale = self._stale, self._states.stale
        if self._stale and before:
            self._notice_silence()
        since = self._time.now() - self._aborted
        if not self._stale and self._executor.phase is Phase.ABORTED and since > LAST:
            moving = moving_joint(self._arm, self._states.last.qd)
            if moving:
                self.get_logger().error(
                    f'{moving} {since:.0f} s after the abort: use the emergency stop',
                    throttle_duration_sec=1.0)

    def _notice_silence(self) -> None:
        if (self._states.last is not None and self._states.stale
                and self._executor.phase is not Phase.IDLE):
            self._abort(self._states.silence)

    def _finish_once(self) -> None:
        """End after the one motion and the controller's answer to it."""
        if not (self._values['once'] and self._ran
                and self._phase in (Phase.HOLDING, Phase.ABORTED)):
            return
        # In simulated time that is always after the same state, if one still comes.
        rested = self._states.gone or self._time.now() - self._rested > LAST
        if rested or not (self._output.following or self._time.simulated):
            self.finished = True
            self.status = int(self._phase is Phase.ABORTED)

    def _look(self) -> None:
        """Look at the publishers, listeners and controllers in the graph."""
        self._states.follow()
        if self._executor.phase not in (Phase.IDLE, Phase.ABORTED):
            problem = self._states.mixed or self._states.gone or self._output.missing
            if problem:
                self._abort(problem)
        if self._states.gone:
            self._finish_once()
        if not self._executor.active:
            self._output.look()
        waiting = self._values['once'] and not self._ran
        if waiting and self._output.settled and (self._states.last is not None or self._patient):
            self._start_once()

    def _look_soon(self) -> None:
        if self._unanswered is not None:
            if not (self._ran or self._executor.active):
                self._look()
            self._answer()

    @property
    def _patient(self) -> bool:
        """Whether there was time for others to appear."""
        patience = SIMULATED_PATIENCE if self._time.simulated else PATIENCE
        return time.monotonic() - self._created > patience

    def _start_once(self) -> None:
        try:
            self.get_logger().info(self._start())
        except InputError as error:
            # Others may come while the time of the arm stands still; all else may need it.
            self._refused = not isinstance(error, NotThereError)
            if self._refused or self._patient:
                self.get_logger().warning(
                    f'not started yet: {error}', throttle_duration_sec=2.0)

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.success, response.message = True, self._start()
        except InputError as error:
            response.success, response.message = False, str(error)
            self.get_logger().error(f'not started: {error}')
        return response

    def _start(self) -> str:
        """Begin, and return a sentence on the motion."""
        self._executor.check_free()
        self._states.follow()
        if self._states.mixed:
            raise InputError(f'{self._states.mixed}; leave only that of the arm')
        if self._states.last is None or self._states.stale:
            raise NotThereError(
                f"no states of all joints of '{self._arm.name}' with positions and velocities "
                f'come on {self._states.topic}; start the arm first')
        listeners = self._values['listeners']
        problem = self._output.missing or self._output.look() or self._states.deaf(listeners)
        if problem:
            raise NotThereError(problem)
        state = self._states.last
        check_start(self._arm, state.q, state.qd, self._executor.motion.start, self._scene)
        now = self._now
        seconds = self._executor.start(now, state.q)
        self._output.begin(self._executor, now)
        self._ran = True
        return f'moving for {seconds:.1f} s' + (
            ' (dry run: nothing is commanded)' if self._values['dry_run'] else '')

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        aborted = self._executor.phase is Phase.ABORTED
        self._slow_down()
        response.success = True
        response.message = 'reset after the abort' if aborted else self._executor.phase.value
        return response

    def _slow_down(self) -> None:
        going = self._executor.phase in (Phase.MOVING, Phase.RUNNING)
        now = self._now
        self._executor.stop(now)
        if going:
            self._output.begin(self._executor, now)

    def _abort(self, reason: str) -> None:
        if self._executor.phase is Phase.ABORTED:
            return
        self._states.follow()
        self._aborted = self._time.now()
        self._executor.abort(reason)
        if self._states.last is not None:
            self._output.hold(self._states.last)
        self.get_logger().error(f'aborted: {reason}; the arm is held, ~/stop resets')
        self._notice_phase()

    def _notice_phase(self) -> None:
        if self._executor.phase is not self._phase:
            self._phase = self._executor.phase
            if self._phase is not Phase.ABORTED:
                self.get_logger().info(self._phase.value)
            self._rested = self._time.now()


def main() -> int:
    """Run the node."""
    return run(TrajectoryPublisher)


if __name__ == '__main__':
    raise SystemExit(main())
