# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings whose true parameters are known: torque from the regressor, with noise on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.simulation.record import HOLD
from dynid_ros.simulation.sensors import measure, plausible_sensors, SensorModel

Array = np.ndarray
#: Sensors without any error.
PERFECT = SensorModel(encoder_counts=None, velocity_noise=0.0)


@dataclass(frozen=True)
class Waves:
    """Sum of sines in each joint, (harmonics, n) each."""

    w: Array
    a: Array
    phase: Array
    centre: Array

    @staticmethod
    def random(arm: ArmModel, seed: int = 0, lowest_hz: float = 0.1, harmonics: int = 5) -> Waves:
        """Make waves that stay within 2 rad and 3 rad/s or so."""
        rng = np.random.default_rng(seed)
        shape = (harmonics, arm.n)
        w = 2 * np.pi * lowest_hz * np.arange(1, harmonics + 1)[:, None] * np.ones(arm.n)
        a = rng.uniform(0.2, 1.0, shape) / w / np.sqrt(harmonics)
        return Waves(w, a, rng.uniform(0, 2 * np.pi, shape), rng.uniform(-1, 1, arm.n))

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration, (N, n) each."""
        angle = self.w * np.asarray(t)[:, None, None] + self.phase
        q, qd, qdd = (
            (self.a * self.w**k * np.sin(angle + k * np.pi / 2)).sum(axis=1) for k in range(3))
        return q + self.centre, qd, qdd


def coloured(rng: np.random.Generator, samples: int, sigma: Array, memory: float) -> Array:
    """AR(1) noise, stationary from its start: memory is the correlation of neighbours."""
    white = rng.normal(size=(samples + 1000, len(sigma))) * np.sqrt(1 - memory**2)
    return lfilter([1], [1, -memory], white, axis=0)[1000:] * sigma


def true_torque(arm: ArmModel, waves: Waves, t: Array, theta: Array) -> Array:
    """Torque of the arm without noise, (N, n)."""
    q, qd, qdd = waves.at(t)
    return regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns] @ theta


def recording(arm: ArmModel, waves: Waves, theta: Array, noise: Array, *, rate: float = 100.0,
              delay: float = 0.0, source: str = 'synthetic') -> Recording:
    """Record the torque that was there `delay` ago, with noise (N, n) on top."""
    t = np.arange(len(noise)) / rate
    torque = true_torque(arm, waves, t - delay, theta)
    names = arm.joint_names
    return Recording(t, waves.at(t)[0], torque + noise, names, 'effort', source)


def followed(
    arm: ArmModel, motion: Motion, rate_hz: float, *, seed: int = 0,
    sensors: SensorModel | None = None,
) -> Recording:
    """
    Record what `simulate` would if the control were perfect, in a hundredth of its time.

    For tests of what is made of a recording, not of how an arm follows its motion.
    """
    t = np.arange(round((motion.duration + 2 * HOLD) * rate_hz) + 1.0) / rate_hz
    q, qd, qdd = motion.evaluate(t - HOLD)
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    if sensors is None:
        sensors = plausible_sensors(arm, tau.std(axis=0), qd.std(axis=0))
    q, qd, u = measure(arm, sensors, np.random.default_rng(seed), q, qd, tau)
    return Recording(
        t, q, u, arm.joint_names, arm.drive.signal, f'motion of {arm.name}', qd=qd)
