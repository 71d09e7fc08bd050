# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Small simulated fleets: an arm of three joints, whose bags take milliseconds."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from synthetic_recordings import coloured, Waves

from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.arm import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.data.signals.filters import decimation_step
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recording
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack

RATE, DAY = 50.0, 86400.0
START = 1.7e9
ARM = """\
name: elbow
description:
  mdh:
    units: {length: m, angle: deg}
    rows:
    - {alpha: 0, a: 0, d: 0, theta: 0}
    - {alpha: 90, a: 0, d: 0, theta: 0}
    - {alpha: 0, a: 0.3, d: 0, theta: 0}
joints: [first, second, third]
gravity: [0, 0, -9.81]
drive: {signal: effort}
friction: [viscous, coulomb, offset]
conditioning: {cutoff_hz: 4.0, delay: 0.0}
limits:
  lower: [-6, -6, -6]
  upper: [6, 6, 6]
  velocity: [20, 20, 20]
  acceleration: [200, 200, 200]
  effort: [200, 200, 200]
nominal:
  links:
  - {mass: 3.0, com: [0, 0, 0.02], inertia: [0.02, 0, 0, 0.02, 0, 0.02]}
  - {mass: 2.5, com: [0.14, 0.01, 0], inertia: [0.003, 0, 0, 0.02, 0, 0.02]}
  - {mass: 1.2, com: [0.11, 0, 0.01], inertia: [0.001, 0, 0, 0.007, 0, 0.007]}
  rotor_inertia: [0.1, 0.1, 0.05]
  viscous: [1.0, 0.8, 0.5]
  coulomb: [1.5, 1.2, 0.6]
"""


def small_arm(folder: Path) -> tuple[ArmModel, Path]:
    """Write the arm.yaml, and read it."""
    path = folder / 'arm.yaml'
    path.write_text(ARM)
    return load_arm(path), path


def truth(arm: ArmModel) -> np.ndarray:
    """Return the true base parameters."""
    return base_parameters(arm).grouping @ nominal_parameters(arm)


def settings_for(arm: ArmModel) -> FleetSettings:
    return FleetSettings(arm, ConditioningSettings(
        4.0, False, 'butterworth', RATE, decimation_step(RATE, 4.0)), Path())


@dataclass
class Bag:
    """One simulated bag, and how it differs from the others."""

    seed: int
    seconds: float = 12.0
    noise: float = 0.02
    memory: float = 0.9
    standard: dict[str, float] = field(default_factory=dict)
    signs: tuple[float, ...] = (1.0, 1.0, 1.0)
    own: float = 0.0
    still: tuple[int, ...] = ()
    lowest_hz: float = 0.15
    #: Friction that no model here has: by the load, at low speeds, and by the position.
    rough: float = 0.0

    def record(self, arm: ArmModel, source: str = 'bag') -> Recording:
        rng = np.random.default_rng([self.seed, 7])
        waves = Waves.random(arm, self.seed, lowest_hz=self.lowest_hz)
        t = np.arange(int(self.seconds * RATE)) / RATE
        q, qd, qdd = waves.at(t)
        for joint in self.still:
            q[:, joint], qd[:, joint], qdd[:, joint] = 0.2, 0.0, 0.0
        theta, names = nominal_parameters(arm), arm.layout.names
        for name, change in self.standard.items():
            theta[names.index(name)] += change
        for name in names:
            # Friction that differs from bag to bag, as by temperature.
            if name.startswith(('Fv', 'Fc', 'Fo')):
                theta[names.index(name)] += self.own * rng.normal()
        tau = regressor(arm, q, qd, qdd) @ theta
        tau += self.rough * (0.3 * np.abs(tau) + np.exp(-np.abs(qd) / 0.1)) * np.tanh(qd / 0.01)
        tau += 0.3 * self.rough * np.sin(20 * q)
        noise = coloured(rng, len(t), self.noise * tau.std(axis=0), self.memory)
        return Recording(t, q, (tau + noise) * self.signs, arm.joint_names, 'effort', source)

    def factors(self, settings: FleetSettings) -> QRFactors:
        arm, conditioning = settings.arm, settings.conditioning
        recording, _ = checked_recording(self.record(arm), arm)
        rows = settings.rows(condition_recording(arm, recording, conditioning), conditioning)
        return stack(rows.groups(arm)).part(settings.columns)

    def write(self, arm: ArmModel, path: Path, day: float | None = None) -> Path:
        """Write the bag, in a folder with its date if it has one."""
        recording = self.record(arm)
        if day is not None:
            date = datetime.fromtimestamp(START + day * DAY, timezone.utc)
            path = path.parent / f'{date:%Y-%m-%d}' / path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, t=recording.t, q=recording.q, tau=recording.u)
        return path


def with_payload(mass: float, at: float = 0.25) -> dict[str, float]:
    """Return a point mass on the last link."""
    return {'m3': mass, 'mx3': mass * at, 'Iyy3': mass * at**2, 'Izz3': mass * at**2}


__all__ = ['Bag', 'replace', 'settings_for', 'small_arm', 'truth', 'with_payload']
