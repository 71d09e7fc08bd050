# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recording of a simulated arm that follows a motion, with the true course."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.bag_writer import START_NS
from dynid_ros.data.files.sidecar import arm_entry
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.tracking_control import ComputedTorque, RigidArm
from dynid_ros.motion.trajectory.motion_pair import Motion, MotionPair
from dynid_ros.simulation.physics import SimulatedArm, TIMESTEP
from dynid_ros.simulation.sensors import measure, plausible_sensors, SensorModel
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.progress import progress

#: Least rate of the control, Hz.
CONTROL_HZ = 1000.0
#: Standstill before and after the motion, s.
HOLD = 0.5
#: Distance from the wanted position at which the simulation ends, rad or m.
LOST_DISTANCE = 0.5
#: Control steps between two reports of progress.
REPORT_EVERY = 500


@dataclass(frozen=True, eq=False)
class Trace:
    """
    True course of a simulated motion, (N, n) each but for the times.

    Attributes
    ----------
    t : (N,) ndarray
        s.
    q, qd : (N, n) ndarray
        rad, rad/s (m for prismatic joints).
    tau : (N, n) ndarray
        Torque of the motors, the mean over one control period around each time, Nm.
    wanted : (N, n) ndarray
        Reference position, rad or m.

    """

    t: Array
    q: Array
    qd: Array
    tau: Array
    wanted: Array


@dataclass(frozen=True, eq=False)
class Simulation:
    """
    Result of a simulation.

    Attributes
    ----------
    log : Recording
        The recording, from the sensors.
    sensors : SensorModel
        Sensors that recorded it.
    truth : Trace
        True course at the stamps of the recording.

    """

    log: Recording
    sensors: SensorModel
    truth: Trace


def simulate(
    arm: ArmModel, motion: Motion, *, rate_hz: float = 500.0,
    sensors: SensorModel | None = None, seed: int = 0,
) -> Simulation:
    """
    Record a simulated arm that follows a motion under computed-torque control.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters and its nominal friction.
    motion : Motion
        The motion; the arm holds still for `HOLD` before and after.
    rate_hz : float
        Rate of the recording.
    sensors : SensorModel, optional
        By default from `plausible_sensors` for the true torque and speed.
    seed : int
        Of the noise; the same seed gives the same recording.

    Returns
    -------
    Simulation
        Recording and truth.

    Raises
    ------
    ArmError
        The arm cannot be simulated.
    InputError
        The arm cannot follow the motion, or the rate is not above zero.

    """
    if not rate_hz > 0:
        raise InputError(f'the rate of the recording must be above zero, but is {rate_hz:g} Hz')
    arm.drive.check_driven(arm.joint_names)
    per_sample = math.ceil(CONTROL_HZ / rate_hz)
    period = 1 / (rate_hz * per_sample)
    truth = _follow(arm, motion, period, per_sample)
    if sensors is None:
        sensors = plausible_sensors(arm, truth.tau.std(axis=0), truth.qd.std(axis=0))
    q, qd, u = measure(
        arm, sensors, np.random.default_rng(seed), truth.q, truth.qd, truth.tau)
    log = Recording(
        t=truth.t - truth.t[0], q=q, u=u, signal=arm.drive.signal, joint_names=arm.joint_names,
        source=f'simulation of {arm.name}', qd=qd)
    if isinstance(motion, MotionPair):
        begin = HOLD + motion.excitation.duration
        log = replace(log, validation=((begin, HOLD + motion.duration),))
    return Simulation(log, sensors, truth)


def _follow(arm: ArmModel, motion: Motion, period: float, every: int) -> Trace:
    """Simulate the controlled arm, and keep every n-th of its control steps."""
    steps = math.ceil(period / TIMESTEP)
    physics = SimulatedArm(arm, timestep=period / steps)
    t = np.arange(round((motion.duration + 2 * HOLD) / period) + 1.0) * period
    wanted, wanted_qd, wanted_qdd = motion.evaluate(t - HOLD)
    control = ComputedTorque(RigidArm(arm), period)
    q, qd, tau = (np.empty_like(wanted) for _ in range(3))
    state = physics.reset(wanted[0])
    for k in range(len(t)):
        q[k], qd[k] = state.q, state.qd
        near = np.abs(wanted[k] - state.q) < LOST_DISTANCE
        if not near.all():
            joint = int(np.argmin(near))
            raise InputError(
                f"joint '{arm.joint_names[joint]}' of the simulated '{arm.name}' is more than "
                f'{LOST_DISTANCE} {joint_units("rad", arm.prismatic)[joint]} away from the motion '
                f'{t[k]:.2f} s after the start; lower the accelerations or raise its effort limit')
        state = physics.step(
            control.torque(state.q, state.qd, wanted[k], wanted_qd[k], wanted_qdd[k]), steps)
        tau[k] = state.tau
        if k % REPORT_EVERY == 0 or k + 1 == len(t):
            progress('simulate', (k + 1) / len(t))
    # A stamp lies between two commands.
    tau[1:] = (tau[1:] + tau[:-1]) / 2
    return Trace(*(x[::every] for x in (t, q, qd, tau, wanted)))


def simulation_notes(
    arm: ArmModel, assumed: Mapping[str, Array], simulation: Simulation, seed: int,
) -> dict[str, Any]:
    """
    State a simulation, for ``recording.yaml`` beside its bag.

    Parameters
    ----------
    arm : ArmModel
        The arm; its nominal values are the truth behind the recording.
    assumed : mapping of str to (n,) ndarray
        Which of its nominal values `with_plausible_drives` assumed.
    simulation : Simulation
        Its recording and sensors.
    seed : int
        Of the noise.

    Returns
    -------
    dict
        Plain values of YAML.

    """
    sensors = simulation.sensors
    return {
        'simulation': {
            'seed': seed,
            'assumed': {name: value.tolist() for name, value in assumed.items()},
            'torque_noise': np.asarray(sensors.effort_noise).tolist(),
            'velocity_noise': np.asarray(sensors.velocity_noise).tolist(),
            'encoder_counts': np.asarray(sensors.encoder_counts).tolist()},
        'validation': [
            [START_NS * 1e-9 + edge for edge in span] for span in simulation.log.validation],
        **arm_entry(arm)}
