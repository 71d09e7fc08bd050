# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The experiment of the two-axis article, simulated.

A PD controller at 1 kHz sees only encoders and commands only voltage. The picture with the
article's excitation is lost; of it only w1 = pi and w2 = 0.4 pi are known. The motion here is a
sum of sines of these two frequencies and their doubles, so that it repeats after 10 s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import FrictionShape
from dynid_ros.arm.model import ArmModel
from dynid_ros.simulation.physics import SimulatedArm

PERIOD = 1e-3
SECONDS = 10.0
#: Encoders of 2500 lines in quadrature; converters of 12 bit over +-10 V.
COUNTS = 10_000
VOLT = 20.0 / 2**12
W1, W2 = np.pi, 0.4 * np.pi
#: Amplitude (rad) and frequency (rad/s) of each sine, and phase of the second joint.
FIRST = ((0.7, W1), (0.9, W2), (0.25, 2 * W1))
SECOND = ((1.0, W1), (0.8, W2), (0.3, 2 * W1))
RAMP = 0.5
#: Natural frequency (rad/s) and damping of the controlled joints; the inertia they are for.
FREQUENCY, DAMPING = 40.0, 1.0
INERTIA = np.array([0.026, 0.0017])
#: Steps of the integration in a sample.
STEPS = 4
#: The Coulomb friction of the article's model is tanh(100 qd).
WIDTH = 0.01


@dataclass(frozen=True)
class Experiment:
    """
    What the article's computer would have recorded, and the truth.

    Attributes
    ----------
    arm : ArmModel
        The shipped arm with the friction terms of the article.
    t : (N,) ndarray
        s.
    q : (N, 2) ndarray
        Encoder readings, rad.
    u : (N, 2) ndarray
        Voltages, each held until the next sample, V.
    exact : (N, 2) ndarray
        True positions, rad.
    theta : (9,) ndarray
        True parameters.

    """

    arm: ArmModel
    t: np.ndarray
    q: np.ndarray
    u: np.ndarray
    exact: np.ndarray
    theta: np.ndarray


def reference(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Wanted positions and velocities, (2,) each."""
    s = min(t / RAMP, 1.0)
    grow = s**3 * (10 - 15 * s + 6 * s**2)
    slope = 30 * s**2 * (1 - s) ** 2 / RAMP
    x = np.array([sum(a * np.sin(w * t) for a, w in FIRST),
                  sum(a * np.sin(w * t + 0.5 * w) for a, w in SECOND)])
    v = np.array([sum(a * w * np.cos(w * t) for a, w in FIRST),
                  sum(a * w * np.cos(w * t + 0.5 * w) for a, w in SECOND)])
    return grow * x, grow * v + slope * x


def run() -> Experiment:
    """Simulate the experiment; the same in every run."""
    shipped = load_arm('two_axis')
    friction = {'viscous': shipped.friction_nominal['viscous'],
                'coulomb_smooth': shipped.friction_nominal['coulomb']}
    arm = replace(shipped, friction=tuple(friction), friction_nominal=friction,
                  friction_shape=FrictionShape(smooth_speed=WIDTH))
    physics = SimulatedArm(arm, timestep=PERIOD / STEPS)
    samples = round(SECONDS / PERIOD)
    t = np.arange(samples) * PERIOD
    q, u, exact = (np.empty((samples, 2)) for _ in range(3))
    state = physics.reset(np.zeros(2))
    stiffness, damping = INERTIA * FREQUENCY**2, 2 * DAMPING * INERTIA * FREQUENCY
    velocity = before = np.zeros(2)
    step = 2 * np.pi / COUNTS
    for k in range(samples):
        # Semi-implicit Euler lets a held torque act half a step early: read as early.
        exact[k] = state.q - PERIOD / STEPS / 2 * state.qd
        q[k] = np.round(exact[k] / step) * step
        # The controller differentiates its encoders with a filter of 200 rad/s.
        velocity = velocity + 200 * PERIOD * ((q[k] - before) / PERIOD - velocity)
        before = q[k]
        wanted, wanted_velocity = reference(t[k])
        tau = stiffness * (wanted - q[k]) + damping * (wanted_velocity - velocity)
        u[k] = np.clip(np.round(tau / shipped.drive.gain / VOLT) * VOLT, -10, 10)
        state = physics.step(u[k] * shipped.drive.gain, STEPS)
    return Experiment(arm, t, q, u, exact, true_parameters(arm))


def true_parameters(arm: ArmModel) -> np.ndarray:
    """
    theta1 to theta9 of the closed form, from the arm's nominal links.

    ``M = [[th1 + th2 sin²q2, th3 cos q2], [th3 cos q2, th4]]``, gravity ``-th5 sin q2``.
    """
    assert arm.inertial is not None
    column, pendulum = arm.inertial
    m, mx, ixx, iyy, izz = pendulum[[0, 1, 4, 7, 9]]
    reach = arm.translation[1, 1]
    th1 = column[9] + m * reach**2 + ixx
    inertia = [th1, iyy - ixx, mx * reach, izz, -mx * arm.gravity[2]]
    return np.array([*inertia, *np.concatenate(list(arm.friction_nominal.values()))])
