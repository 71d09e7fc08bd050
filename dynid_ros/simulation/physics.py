# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Physics of an arm in MuJoCo under joint torques."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.simulation.implicit_friction import apply_friction
from dynid_ros.simulation.joint_friction import RunningFriction
from dynid_ros.simulation.mjcf import joint_order, mujoco_model
from dynid_ros.simulation.plausible_drive import known_effort
from dynid_ros.utilities.arrays import Array

#: Default step of the integration, s.
TIMESTEP = 0.0005
#: Speed, rad/s or m/s, above which MuJoCo reports an error.
MUJOCO_FASTEST = 1e10


class ArmState(NamedTuple):
    """
    State of a simulated arm.

    Attributes
    ----------
    t : float
        Time since the last reset, s.
    q, qd : (n,) ndarray
        rad, rad/s (m for prismatic joints).
    tau : (n,) ndarray
        Torque of the motors over the last step, Nm.

    """

    t: float
    q: Array
    qd: Array
    tau: Array


class SimulatedArm:
    """
    Physics of an arm with joint friction and effort limits: torques in, state out.

    The rigid bodies move by MuJoCo's semi-implicit Euler method. Friction follows
    `RunningFriction`, at the velocity of the end of each step. An effort limit of zero counts as
    unknown.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters and its nominal friction.
    timestep : float
        Step of the integration, s.

    Raises
    ------
    ArmError
        The arm cannot be simulated; see `mujoco_model`.

    """

    def __init__(self, arm: ArmModel, timestep: float = TIMESTEP) -> None:
        import mujoco

        self.arm = arm
        self.timestep = timestep
        self._friction = RunningFriction(arm, timestep)
        self._mujoco = mujoco
        self._model = mujoco_model(arm, timestep)
        self._model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self._data = mujoco.MjData(self._model)
        # MuJoCo's binding would make new views of these arrays at each use.
        self._q, self._qd = self._data.qpos, self._data.qvel
        self._bias, self._applied = self._data.qfrc_bias, self._data.qfrc_applied
        self._every = joint_order(self._model, arm)
        self._order = self._every[:arm.n]
        # Motion of MuJoCo's joints per motion of the driven joints.
        self._gearing = np.zeros((self._model.nv, arm.n))
        self._gearing[self._every] = arm.tree.gearing
        self._effort = known_effort(arm)
        self._mass = np.zeros((self._model.nv, self._model.nv))
        self._mass_of_data = int(mujoco.__version__.partition('.')[0]) >= 4
        self._torque = np.zeros(arm.n)
        self.reset(np.zeros(arm.n))

    @property
    def state(self) -> ArmState:
        """State now."""
        order = self._order
        return ArmState(self._data.time, self._q[order], self._qd[order], self._tau)

    def reset(self, q: ArrayLike, qd: ArrayLike | None = None) -> ArmState:
        """
        Put the arm at a position, at time 0.

        Parameters
        ----------
        q, qd : (n,) array_like
            rad, rad/s; at rest if no velocity is given.

        Returns
        -------
        ArmState
            State now.

        """
        self._mujoco.mj_resetData(self._model, self._data)
        # MuJoCo writes the first warning of each kind into a file in the working directory.
        self._data.warning.number[:] = 1
        start = np.asarray(q, dtype=float)
        self._place(start, np.zeros_like(start) if qd is None else np.asarray(qd, dtype=float))
        self._tau = np.zeros(self.arm.n)
        self._change = np.zeros(self.arm.n)
        self._friction.reset()
        return self.state

    def step(self, tau: ArrayLike, steps: int = 1) -> ArmState:
        """
        Step under a constant torque of the motors.

        Parameters
        ----------
        tau : (n,) array_like
            Commanded torque, Nm; it saturates at the effort limits of the arm.
        steps : int
            Steps of the integration.

        Returns
        -------
        ArmState
            State after the last step.

        Raises
        ------
        InputError
            A torque is not a finite number, or the arm moves too fast for the integration.

        """
        command = np.asarray(tau, dtype=float)
        # An infinite torque would be clipped; a sum reveals it and a NaN.
        if not math.isfinite(command.sum()) and not np.isfinite(command).all():
            joint = int(np.argmin(np.isfinite(command)))
            raise InputError(
                f"joint '{self.arm.joint_names[joint]}' of the simulated arm is commanded a "
                f'torque of {command[joint]}; command finite torques')
        self._tau = np.minimum(np.maximum(command, -self._effort), self._effort)
        for _ in range(steps):
            self._step()
        return self.state

    def _step(self) -> None:
        """One step: MuJoCo's own, with the friction that its end velocity implies."""
        self._mujoco.mj_step1(self._model, self._data)
        # The two signatures of MuJoCo before and from version 4.
        if self._mass_of_data:
            self._mujoco.mj_fullM(self._model, self._data, self._mass)
        else:
            self._mujoco.mj_fullM(self._model, self._mass, self._data.qM)
        G = self._gearing
        constant, rising, falling = self._friction.step(
            self._q[self._order], self._qd[self._order])
        fastest = apply_friction(
            G.T @ self._mass @ G, self._qd[self._order], self._bias @ G, self._tau - constant,
            self._friction.nominal.speeds, rising, falling, self.timestep, self._change,
            self._torque)
        if not fastest < MUJOCO_FASTEST:
            reached = np.abs(self._qd[self._order] + self._change)
            joint = self.arm.joint_names[int(np.argmin(reached < MUJOCO_FASTEST))]
            raise InputError(
                f"joint '{joint}' of the simulated '{self.arm.name}' moves faster than its "
                'physics can follow; lower the torques')
        self._applied[self._order] = self._torque
        self._mujoco.mj_step2(self._model, self._data)
        if self.arm.tree.followers:
            # Remove the drift of the gearing, since its constraint yields a little.
            self._place(self._q[self._order], self._qd[self._order])

    def _place(self, q: Array, qd: Array) -> None:
        tree = self.arm.tree
        self._q[self._every], self._qd[self._every] = tree.positions(q), tree.rates(qd)
