"""Node ``trajectory_publisher``: moves an arm along an excitation, and never beyond its limits."""

from __future__ import annotations

from pathlib import Path
import time
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.errors import InputError
from dynid_ros.excitation.execution import Execution, Phase, Reference
from dynid_ros.excitation.motion_file import check_made_for, read_motion
from dynid_ros.excitation.room import room_of
from dynid_ros.excitation.scene import build_scene
from dynid_ros.excitation.supervision import check_motion, check_start, Supervision
from dynid_ros.nodes.motion_outputs import EffortOutput, Output, TrajectoryOutput
from dynid_ros.nodes.motion_state import MotionState, MotionStateReader
from dynid_ros.nodes.runtime import declare, run, Setting
from dynid_ros.nodes.state_subscription import StateSubscription

#: Periods of the watchdog and of the look at the graph, s.
WATCH = 0.01
LOOK = 0.2
#: Period of the reference, s.
REFERENCE = 0.01
#: Time in which the arm must be at rest after a signal, s.
LAST = 2.0

SETTINGS = (
    Setting('arm', '', 'A shipped arm, or the path of an arm.yaml'),
    Setting('excitation', '', 'The excitation.yaml to run'),
    Setting('output', 'joint_trajectory_controller',
            'joint_trajectory_controller: a FollowJointTrajectory goal; effort: PD control in '
            'this node, for simulations and arms without such a controller'),
    Setting('controller', 'joint_trajectory_controller',
            'Relative name of the joint_trajectory_controller'),
    Setting('effort_joints', [], "Joints in the order of effort_commands; the arm's if empty"),
    Setting('feedforward', 'gravity',
            'Of effort commands: gravity; none, for arms whose driver compensates gravity; or '
            'model, all rigid-body torques of the nominal parameters'),
    Setting('tracking_error', 0.1,
            'Distance from where the arm should be at which it is stopped, rad or m', 1e-4, 10.0),
    Setting('state_timeout', 0.1, 'Age of the last state at which it is stopped, s', 0.002, 0.1),
    Setting('start_speed', 0.2,
            'Share of the velocity and acceleration limits on the way to the start', 0.01, 1.0),
    Setting('dry_run', False, 'Publish the reference only, and command nothing'),
    Setting('once', False,
            'Start as soon as states come, and end when the motion has ended'),
)


class TrajectoryPublisher(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__('trajectory_publisher')
        values = declare(self, SETTINGS)
        self.finished = False
        self._values = values
        self._load(values)
        self._supervision = Supervision(self._arm, values['tracking_error'])
        self._reader = MotionStateReader(self._arm)
        self._state: MotionState | None = None
        self._seen = self._told = 0.0
        self._ran = self._mixed = False
        self._phase = self._execution.phase
        self._output = self._make_output(values)
        self._reference = self.create_publisher(JointState, '~/reference', 10)
        self._subscription = StateSubscription(self, JointState, 'joint_states', self._on_state)
        # Timers on ROS time stand still when the clock steps back.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(WATCH, self._watch, clock=steady)
        self.create_timer(LOOK, self._look, clock=steady)
        self.create_service(Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)

    def stop(self) -> None:
        """Bring the arm to rest and leave it with a last safe command."""
        if self._execution.active:
            self._slow_down()
            end = time.monotonic() + LAST
            while self._execution.active and time.monotonic() < end:
                rclpy.spin_once(self, timeout_sec=WATCH)
        if self._state is not None and self._execution.phase is not Phase.IDLE:
            self._output.hold(self._state)

    def _load(self, values: dict[str, Any]) -> None:
        """Read arm and excitation, and check the motion whole."""
        for name in ('arm', 'excitation'):
            if not values[name]:
                raise InputError(f"set the parameter '{name}' of trajectory_publisher")
        self._arm = load_arm(values['arm'])
        path = Path(values['excitation'])
        excitation = read_motion(path)
        check_made_for(excitation, self._arm, path)
        self._scene = build_scene(self._arm, load_surroundings(values['arm'], self._arm))
        check_motion(self._arm, excitation.motion, self._scene)
        self._execution = Execution(
            excitation.motion, room_of(self._arm), values['start_speed'])

    def _make_output(self, values: dict[str, Any]) -> Output:
        if values['output'] == 'joint_trajectory_controller':
            return TrajectoryOutput(
                self, self._arm, values['controller'], self._abort, values['dry_run'])
        if values['output'] != 'effort':
            raise InputError(
                "the parameter 'output' must be joint_trajectory_controller or effort, not "
                f"'{values['output']}'")
        self.get_logger().warning(
            'torques are commanded by this node, which is not in real time: only for simulations '
            'and for arms that their driver keeps safe')
        return EffortOutput(
            self, self._arm, values['effort_joints'] or self._arm.joint_names,
            values['feedforward'], values['dry_run'])

    def _on_state(self, message: JointState) -> None:
        """Check the state, and command what follows from it."""
        state = self._reader.read(message)
        if state is None:
            return
        now = time.monotonic()
        execution = self._execution
        wanted = execution.reference(now)
        watched = execution.phase not in (Phase.IDLE, Phase.ABORTED)
        following = watched and not self._values['dry_run']
        problem = self._supervision.violation(*state, wanted if following else None)
        if problem and watched:
            self._abort(problem)
        if 'no number' in problem:
            return
        if self._mixed:
            # Whose state this is cannot be told, so no control may act on it.
            if self._state is not None and execution.phase is Phase.ABORTED:
                self._output.hold(self._state)
            return
        self._state, self._seen = state, now
        if execution.phase is Phase.ABORTED and wanted is None:
            execution.brake(now, *state)
        wanted = execution.reference(now)
        if wanted is not None:
            tau, problem = self._output.follow(now, state, wanted)
            if problem and following:
                self._abort(problem)
            self._tell(now, message, wanted, tau)
        self._notice_phase()

    def _tell(self, now: float, message: JointState, wanted: Reference, tau: Any) -> None:
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
        age = time.monotonic() - self._seen
        if self._state is None or age <= self._values['state_timeout']:
            return
        if self._execution.phase not in (Phase.IDLE, Phase.ABORTED):
            self._abort(f'no usable joint state has come for {age * 1000:.0f} ms')
        elif self._execution.phase is Phase.ABORTED:
            self._output.hold(self._state)

    def _look(self) -> None:
        """Look at who else is there."""
        publishers = self._state_publishers()
        if self._execution.phase not in (Phase.IDLE, Phase.ABORTED):
            self._check_others(publishers)
        elif self._values['once'] and not self._ran and self._state is not None:
            self._start_once()

    def _state_publishers(self) -> list[str]:
        publishers = self._subscription.follow()
        self._mixed = len(publishers) > 1
        return publishers

    def _check_others(self, publishers: list[str]) -> None:
        if len(publishers) > 1:
            self._abort(f'{self._subscription.topic} has several publishers: '
                        f'{", ".join(publishers)}')
        elif self._output.missing:
            self._abort(self._output.missing)

    def _start_once(self) -> None:
        try:
            self.get_logger().info(self._start())
        except InputError as error:
            self.get_logger().warning(f'not started yet: {error}', throttle_duration_sec=2.0)

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.success, response.message = True, self._start()
        except InputError as error:
            response.success, response.message = False, str(error)
            self.get_logger().error(f'not started: {error}')
        return response

    def _start(self) -> str:
        """Begin, and say what was begun."""
        publishers = self._state_publishers()
        if self._mixed:
            raise InputError(
                f'{self._subscription.topic} has several publishers: {", ".join(publishers)}; '
                'leave only that of the arm')
        if (self._state is None
                or time.monotonic() - self._seen > self._values['state_timeout']):
            raise InputError(
                f"no states of all joints of '{self._arm.name}' with positions and velocities "
                f'come on {self._subscription.topic}; start the arm first')
        if self._output.missing:
            raise InputError(self._output.missing)
        check_start(self._arm, *self._state, self._execution.motion.start, self._scene)
        now = time.monotonic()
        seconds = self._execution.start(now, self._state.q)
        self._output.begin(self._execution, now)
        self._ran = True
        return f'moving for {seconds:.1f} s' + (
            ' (dry run: nothing is commanded)' if self._values['dry_run'] else '')

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        aborted = self._execution.phase is Phase.ABORTED
        self._slow_down()
        response.success = True
        response.message = 'reset after the abort' if aborted else self._execution.phase.value
        return response

    def _slow_down(self) -> None:
        moving = self._execution.active
        now = time.monotonic()
        self._execution.stop(now)
        if moving and self._execution.active:
            self._output.begin(self._execution, now)

    def _abort(self, reason: str) -> None:
        if self._execution.phase is Phase.ABORTED:
            return
        self._state_publishers()
        self._execution.abort(reason)
        self.get_logger().error(f'aborted: {reason}; the arm is held, ~/stop resets')
        if self._state is not None:
            self._output.hold(self._state)
        self._notice_phase()

    def _notice_phase(self) -> None:
        if self._execution.phase is not self._phase:
            self._phase = self._execution.phase
            if self._phase is not Phase.ABORTED:
                self.get_logger().info(self._phase.value)
            ended = self._phase in (Phase.HOLDING, Phase.ABORTED)
            self.finished = self._values['once'] and self._ran and ended


def main() -> int:
    """Run the node."""
    return run(TrajectoryPublisher)


if __name__ == '__main__':
    raise SystemExit(main())
