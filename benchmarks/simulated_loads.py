"""
Simulated arms with loads, for payload.py and payload_convergence.py.

The regressor gives the torque of each arm, with viscous and Coulomb friction and an offset.
Torque noise is coloured (an AR(1) process with a time constant of 20 ms; 0.2 % of the torque
limit, or of the largest torque where there is none), encoders have 2^20 counts. The friction of a
recording with a load differs by 5 % (standard deviation) from the free one. Drive signals
are torque at the joints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.signal import lfilter

from dynid_ros.applications.payload.design import PayloadDesign
from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import frame_change, friction_change
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.simulation.sensors import quantise

Array = np.ndarray
RATE, TIME_CONSTANT = 200.0, 0.02
NOISE, FRICTION_CHANGE, COUNTS = 2e-3, 0.05, 2.0**20
FRICTION = ('viscous', 'coulomb', 'offset')
#: Period of the motion for loads, s, the heaviest of them, kg, and the time for its design, s.
SECONDS, HEAVIEST, SEARCH = 10.0, 5.0, 30.0
#: Half-width of a 95 % interval.
INTERVAL = 1.96


@dataclass(frozen=True, eq=False)
class Bench:
    """
    One arm, its noise, the model of it without a load, and a motion for loads.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    noise : (n,) ndarray
        Standard deviation of the torque noise, Nm.
    model : IdentifiedModel
        From a random motion of 30 s without a load.
    designed : PayloadDesign
        Task of the motion.
    motion : FourierMotion
        That of ``dynid design ARM --for payload --load 5 --given MODEL``.

    """

    arm: ArmModel
    noise: Array
    model: IdentifiedModel
    designed: PayloadDesign
    motion: FourierMotion

    @cached_property
    def course(self) -> tuple[Array, Array, Array]:
        """Return times, positions and regressor of the motion."""
        t = np.arange(round(self.motion.duration * RATE)) / RATE
        q, qd, qdd = self.motion.evaluate(t)
        return t, q, regressor(self.arm, q, qd, qdd)


def coloured(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """AR(1) noise of unit variance."""
    memory = float(np.exp(-1 / (RATE * TIME_CONSTANT)))
    white = rng.normal(size=(shape[0] + 1000, shape[1])) * np.sqrt(1 - memory**2)
    return lfilter([1], [1, -memory], white, axis=0)[1000:]


def random_load(rng: np.random.Generator, mass: float) -> Array:
    """Inertial parameters (10,) of a box whose centre is up to 10 cm from the tool."""
    sides = rng.uniform(0.04, 0.2, 3)
    inertia = mass / 12 * np.diag((sides**2).sum() - sides**2)
    return inertial_from_com(mass, rng.uniform(-0.1, 0.1, 3), inertia)


def truth(arm: ArmModel, load: Array, rng: np.random.Generator | None) -> Array:
    """Return the true parameters with a load and, given a generator, friction of another day."""
    theta = nominal_parameters(arm)
    link = arm.layout.inertial(arm.tool.joint % arm.n)
    theta[link] += frame_change(arm.tool.placement) @ load
    if rng is not None:
        own = base_parameters(arm).columns[friction_change(arm).argmax(axis=0)]
        theta[own] *= 1 + FRICTION_CHANGE * rng.normal(size=len(own))
    return theta


def along(arm: ArmModel, seed: int, periods: int) -> tuple[Array, Array, Array, Array]:
    """Make a random motion: its times and its course."""
    motion = random_motion(arm, seed, tries=20, periods=periods)
    t = np.arange(round(motion.duration * RATE)) / RATE
    return t, *motion.evaluate(t)


def recorded(
    arm: ArmModel, course: tuple[Array, ...], tau: Array, noise: Array, seed: int, source: str,
) -> Recording:
    """Record a course through noisy sensors."""
    t, q = course[:2]
    rng = np.random.default_rng([seed, 7])
    noisy = tau + noise * coloured(rng, tau.shape)
    return Recording(
        t, quantise(q, COUNTS, arm.prismatic), noisy, arm.joint_names, source=source)


def prepared(name: str, periods: int = 1) -> Bench:
    """
    Identify an arm from a motion without a load, and design one for loads.

    With several periods of that, the motion without a load is longer, too: two minutes.
    """
    arm = load_arm(name).with_friction(FRICTION)
    arm = replace(arm, drive=Drive.joint_torque(arm.n))
    course = along(arm, 1000, 3 if periods == 1 else 12)
    tau = regressor(arm, *course[1:]) @ truth(arm, np.zeros(10), None)
    top = np.where(np.isfinite(arm.limits.effort) & (arm.limits.effort > 0), arm.limits.effort,
                   np.abs(tau).max(axis=0))
    noise = NOISE * top
    model = identify(arm, [recorded(arm, course, tau, noise, 1, 'free')], friction=FRICTION,
                     holdout=1 / 3 if periods == 1 else 0.0)
    task = PayloadDesign(arm, SECONDS * periods, HEAVIEST, given=[model])
    scene = build_scene(task.arm, load_surroundings(name, task.arm))
    found = design(task.arm, Task(
        SECONDS, periods=periods, objective=task.objective, seconds=SEARCH), scene)
    return Bench(arm, noise, model, task, found.motion)


def loaded_recording(bench: Bench, load: Array, seed: int) -> Recording:
    """Record the motion for loads with one."""
    t, q, Y = bench.course
    tau = Y @ truth(bench.arm, load, np.random.default_rng(seed))
    return recorded(bench.arm, (t, q), tau, bench.noise, seed, 'loaded')
