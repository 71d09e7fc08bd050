# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A simulated arm for nodes, which takes commands at any time and returns sensor readings."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.rigid_body import inverse_dynamics
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.loop_stability import proposed_gains
from dynid_ros.motion.execution.tracking_control import ComputedTorque, RigidArm
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.simulation.joint_friction import JointFriction
from dynid_ros.simulation.joint_trajectory import Code, TrajectoryError
from dynid_ros.simulation.physics import SimulatedArm, TIMESTEP
from dynid_ros.simulation.plausible_drive import typical_speed, typical_torque
from dynid_ros.simulation.sensors import drive_signal, measure, plausible_sensors, SensorModel
from dynid_ros.simulation.trajectory_controller import TrajectoryController, TrajectoryGoal
from dynid_ros.utilities.arrays import Array

#: Period of the physics as commands and readings see it, s.
PHYSICS_PERIOD = 0.001
#: Points of a motion at which its torque is evaluated.
TORQUE_POINTS = 1000


def sensors_for(arm: ArmModel, motion: Motion) -> SensorModel:
    """Sensors of `plausible_sensors` for a motion that an arm will follow."""
    t = np.linspace(0.0, motion.duration, TORQUE_POINTS)
    q, qd, qdd = motion.evaluate(t)
    tau = inverse_dynamics(arm, q, qd, qdd) + JointFriction(arm).torque(qd)
    return plausible_sensors(arm, tau.std(axis=0), qd.std(axis=0))


class Reading(NamedTuple):
    """
    Sensor readings at one time.

    Attributes
    ----------
    t : float
        Time since the start, s.
    q, qd, u : (n,) ndarray
        Measured position and velocity, and the drive signal in its unit.

    """

    t: float
    q: Array
    qd: Array
    u: Array


class LiveArm:
    """
    Physics and sensors, stepped by `PHYSICS_PERIOD`, that hold the arm without commands.

    Gravity torque and strong damping hold an arm without fresh commands, like the brakes of a real
    one. Torques and trajectories do not interrupt each other: a command is refused while the other
    kind moves the arm. At rest the arm takes both; after a trajectory its controller holds the arm
    until torques come.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    start : (n,) ndarray
        Position at the start, rad or m.
    sensors : SensorModel, optional
        By default from `plausible_sensors` for `typical_torque` and `typical_speed`, since no
        motion is known; see `sensors_for`. Coloured noise is not simulated here.
    seed : int
        Of the noise.
    command_timeout : float
        Time without a command until the arm is held, s.

    Attributes
    ----------
    held : bool
        Whether the arm is held, without commands and trajectories.

    Raises
    ------
    ArmError
        The arm cannot be simulated.

    """

    def __init__(
        self, arm: ArmModel, start: Array, sensors: SensorModel | None = None, seed: int = 0,
        command_timeout: float = 0.1,
    ) -> None:
        self.arm = arm
        self.held = True
        self._physics = SimulatedArm(arm)
        self._rigid = RigidArm(arm)
        gains = proposed_gains(arm, PHYSICS_PERIOD)
        self._damping = gains.damping
        # This control runs at every step, without delay by topics.
        self._controller = TrajectoryController(
            arm, ComputedTorque(self._rigid, PHYSICS_PERIOD), gains)
        self._rng = np.random.default_rng(seed)
        self._timeout = command_timeout
        if sensors is None:
            sensors = plausible_sensors(arm, typical_torque(arm), typical_speed(arm))
        self._sensors = sensors
        self._commanded: tuple[float, Array] | None = None
        # Compiles the physics, which takes seconds the first time.
        self._physics.step(np.zeros(arm.n))
        self._physics.reset(start)
        self._torque = self._rigid.gravity(start)

    @property
    def position(self) -> Array:
        """Return the true joint positions (n,), rad or m."""
        return self._physics.state.q

    @property
    def time(self) -> float:
        """Time since the start, s."""
        return self._physics.state.t

    def weight(self) -> Array:
        """Return the part of the drive signal (n,) that holds the arm against gravity."""
        gravity = self._rigid.gravity(self.position)
        return drive_signal(gravity, gravity, self.arm.drive)

    @cached_property
    def largest_signal(self) -> Array:
        """Return the drive signal (n,) at the effort limits."""
        return drive_signal(self.arm.limits.effort, np.zeros(self.arm.n), self.arm.drive)

    def command(self, tau: ArrayLike) -> None:
        """
        Command torques, in force until the next ones or until they are too old.

        Parameters
        ----------
        tau : (n,) array_like
            Nm (N for prismatic joints), in the order of the arm's joints.

        Raises
        ------
        InputError
            Another number of torques, one that is not finite, or a trajectory moves the arm;
            nothing changes.

        """
        wanted = np.array(tau, dtype=float)
        if wanted.shape != (self.arm.n,):
            raise InputError(
                f"a command for '{self.arm.name}' needs {self.arm.n} torques, in the order "
                f'{", ".join(self.arm.joint_names)}, but has {wanted.size}')
        if not np.isfinite(wanted).all():
            joint = int(np.argmin(np.isfinite(wanted)))
            raise InputError(
                f"joint '{self.arm.joint_names[joint]}' is commanded a torque of "
                f'{wanted[joint]}; command finite torques')
        if self._controller.moving:
            raise InputError(
                'torques are commanded while a trajectory moves the arm; wait until it has '
                'ended, or cancel it')
        self._controller.release()
        self._commanded = (self.time, wanted)

    def follow(self, goal: TrajectoryGoal) -> None:
        """
        Run a trajectory, instead of the one before.

        Raises
        ------
        TrajectoryError
            It has ended already, or torques are being commanded; nothing changes.

        """
        late = self.time - goal.start - goal.trajectory.end
        if late > 0:
            raise TrajectoryError(
                f'the trajectory has ended {late:.3g} s ago', Code.OLD_HEADER_TIMESTAMP)
        if self._torques_at(self.time) is not None:
            raise TrajectoryError('torques are being commanded; end that before a trajectory')
        self._controller.follow(goal)

    def cancel(self) -> None:
        """Cancel the trajectory: slow down and hold."""
        self._controller.cancel()

    def step(self, periods: int = 1) -> Reading:
        """Step some periods and read the sensors."""
        for _ in range(periods):
            self._move()
        t, q, qd, _ = self._physics.state
        readings = measure(
            self.arm, self._sensors, self._rng, q[None], qd[None], self._torque)
        return Reading(t, *(values[0] for values in readings))

    def _move(self) -> None:
        """Step one period under the current command."""
        state = self._physics.state
        tau = commanded = self._torques_at(state.t)
        if tau is None:
            tau = self._controller.torque(*state[:3])
        if tau is None:
            tau = self._rigid.gravity(state.q) - self._damping * state.qd
        self.held = commanded is None and not self._controller.moving
        self._torque = self._physics.step(tau, round(PHYSICS_PERIOD / TIMESTEP)).tau

    def _torques_at(self, t: float) -> Array | None:
        """Torques in force, (n,), or None if there are none."""
        commanded = self._commanded
        if commanded is None or t - commanded[0] > self._timeout:
            return None
        return commanded[1]
