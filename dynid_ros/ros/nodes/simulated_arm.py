# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Node ``simulated_arm``: an arm in MuJoCo behind the topics of a real one.

It reads ``effort_commands`` (std_msgs/Float64MultiArray, Nm, in the order of its parameter
``joints``), or joint trajectories as a joint_trajectory_controller does: the action
``joint_trajectory_controller/follow_joint_trajectory`` and the topic
``joint_trajectory_controller/joint_trajectory``. Neither interrupts the other: commands that
come while the arm is moved in the other way are refused. It publishes ``joint_states``, with the
drive signal of the arm (torque, current or voltage, as in its arm.yaml) in the field
``effort``; of arms with currents or voltages that signal is on ``drive_signal`` as well. The
parameter ``fault`` makes the stream go wrong while it runs:
``ros2 param set /simulated_arm fault 'silent 0.2'``. Its kinds are

- ``silent``: no messages,
- ``nan``, ``slip``, ``outside``: the first position is NaN, 0.3 too large, beyond any limit,
- ``degrees``: positions are in degrees,
- ``reorder``: the joints come in reverse order,
- ``gripper``: another joint, finger_joint, comes first,
- ``short``: the last value of each field is missing,
- ``clock``, ``ahead``: stamps are two seconds early or ahead,
- ``repeat``, ``reverse``, ``zero``: stamps repeat within 8 ms, run backwards within 40 ms, or
  are zero,
- ``strain``, ``clip``, ``dead``: the first effort is beyond any limit, at its limit, zero,
- ``weightless``: efforts lack the torque that holds the arm against gravity,

each with an optional duration in seconds, and ``none``.

With ``use_sim_time`` the time is simulated: it starts at zero and is published on ``/clock``. The
nodes that ``lockstep`` names then lead it: the arm goes on when they have answered its last
state, whatever time that takes (see `dynid_ros.ros.nodes.common.lockstep`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.motion_file import read_motion
from dynid_ros.ros.nodes.common.lockstep import simulated_time, time_message
from dynid_ros.ros.nodes.common.qos import NEWEST, STATE_DEPTH
from dynid_ros.ros.nodes.common.runtime import declare, run, Setting
from dynid_ros.ros.nodes.common.trajectory_points import doubles
from dynid_ros.ros.nodes.simulated.lockstep_loop import Lockstep
from dynid_ros.ros.nodes.simulated.simulation_loop import RealTime
from dynid_ros.ros.nodes.simulated.trajectory_input import TrajectoryInput
from dynid_ros.simulation.faults import Fault, FAULT_KINDS
from dynid_ros.simulation.live import LiveArm, PHYSICS_PERIOD, Reading, sensors_for
from dynid_ros.simulation.plausible_drive import assumptions, with_plausible_drives

SETTINGS = (
    Setting('arm', 'panda', 'A shipped arm, or the path of an arm.yaml'),
    Setting('excitation', '',
            'An excitation.yaml: the arm stands at its start, with sensor noise to suit the '
            'motion; if empty, it stands in the middle of its position limits'),
    Setting('joints', [], "Joints in the order of effort_commands; the arm's if empty"),
    Setting('rate', 1000.0, 'Rate of joint_states, Hz; a divisor of 1000', 1.0, 1000.0),
    Setting('seed', 0, 'Seed of the sensor noise'),
    Setting('command_timeout', 0.1,
            'Time without a command after which the arm is held, s', 0.001, 10.0),
    Setting('lockstep', [], 'Nodes that the simulated time waits for, such as '
            'trajectory_publisher, identifier and recorder; needs use_sim_time, here and there'),
    Setting('fault', 'none', 'Fault to inject: ' + ', '.join(FAULT_KINDS) + ', and its seconds',
            changeable=True),
)


class SimulatedArmNode(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__('simulated_arm')
        values = declare(self, SETTINGS, lambda _name, text: self._inject(text))
        arm, assumed = with_plausible_drives(load_arm(values['arm']))
        if assumed:
            self.get_logger().info(assumptions(arm, assumed))
        start, sensors = planning_limits(arm).middle, None
        if values['excitation']:
            motion = read_motion(Path(values['excitation']), arm)
            start, sensors = motion.motion.start, sensors_for(arm, motion.motion)
        self._arm = LiveArm(arm, start, sensors, values['seed'], values['command_timeout'])
        self._inject(values['fault'])
        self._names = list(self._arm.arm.joint_names)
        joints = values['joints'] or self._names
        if sorted(joints) != sorted(self._names):
            raise InputError(f"the parameter 'joints' must hold {', '.join(self._names)} in any "
                             f"order, not {', '.join(joints)}")
        self._command_order = [joints.index(name) for name in self._names]
        self._states = self.create_publisher(JointState, 'joint_states', STATE_DEPTH)
        signal = self._arm.arm.drive.signal
        self._signal = None if signal == 'effort' else self.create_publisher(
            JointState, 'drive_signal', STATE_DEPTH)
        self.create_subscription(
            Float64MultiArray, 'effort_commands', self._on_command, NEWEST)
        self._loop = self._make_loop(values['lockstep'], values['rate'])
        self._trajectories = TrajectoryInput(self, self._arm, self._loop)
        self._loop.begin()
        self.get_logger().info(
            f"simulating '{self._arm.arm.name}', {signal} in the field effort; effort_commands "
            f'are for {", ".join(joints)}')

    def stop(self) -> None:
        """End the physics, once the arm has come to rest."""
        self._loop.stop(lambda: self._trajectories.idle)

    def _make_loop(self, lockstep: list[str], rate: float) -> Lockstep | RealTime:
        every = round(1 / (rate * PHYSICS_PERIOD))
        if abs(every * rate * PHYSICS_PERIOD - 1) > 1e-6:
            raise InputError(
                f'the rate of joint_states must be a divisor of 1000 Hz, not {rate:g} Hz')
        if not lockstep:
            return RealTime(self, self._arm, every, self._publish)
        if not simulated_time(self):
            raise InputError("the parameter 'lockstep' needs use_sim_time: set it to true")
        return Lockstep(self, self._arm, every, self._publish, lockstep, self._command)

    def _inject(self, text: str) -> None:
        fault = Fault(text)
        self._fault = (fault, self._arm.time + fault.seconds)
        if fault.kind != 'none':
            self.get_logger().warning(f'fault injected: {FAULT_KINDS[fault.kind]}')

    def _on_command(self, message: Float64MultiArray) -> None:
        if not self._loop.led:
            self._command(message.data)

    def _command(self, data: Sequence[float]) -> None:
        # A wrong number is left to be refused.
        ours = len(data) == len(self._command_order)
        try:
            self._arm.command([data[k] for k in self._command_order] if ours else data)
        except InputError as error:
            self.get_logger().error(f'refused: {error}', throttle_duration_sec=1.0)

    def _publish(self, reading: Reading, nanoseconds: int) -> int | None:
        self._trajectories.answer_ended()
        fault, until = self._fault
        fault = fault if reading.t <= until else Fault()
        if fault.kind == 'silent':
            return None
        nanoseconds = fault.stamp(nanoseconds)
        effort = fault.efforts(reading.u, self._arm.weight, self._arm.largest_signal)
        message = JointState(
            name=fault.names(self._names), position=doubles(fault.positions(reading.q)),
            velocity=doubles(fault.values(reading.qd)), effort=doubles(effort))
        message.header.stamp = time_message(nanoseconds)
        self._states.publish(message)
        if self._signal is not None:
            signal = JointState(name=self._names, effort=doubles(reading.u))
            signal.header.stamp = message.header.stamp
            self._signal.publish(signal)
        return nanoseconds


main = partial(run, SimulatedArmNode)


if __name__ == '__main__':
    raise SystemExit(main())
