# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Models that are the truth, and motions of an arm that touches nothing, or something."""

from dataclasses import dataclass

import numpy as np

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.motion.excitation.random_motion import random_motion

RATE = 500.0
TREATMENT = ConditioningSettings(3.0, False, 'butterworth', RATE, 50)


@dataclass(frozen=True, eq=False)
class Result:
    """The part of an identified model that the monitor reads."""

    arm: ArmModel
    theta: np.ndarray
    covariance: np.ndarray
    sigma: np.ndarray
    predictions: tuple[Prediction, ...] = ()
    treatment: ConditioningSettings = TREATMENT


def exact(arm, sigma=0.0, scale=0.0, **fields):
    """Return an identification that hit the truth, with a stated uncertainty."""
    base = base_parameters(arm)
    theta = base.grouping @ nominal_parameters(arm)
    return Result(
        arm, theta, scale**2 * np.eye(base.count), np.full(arm.n, sigma), **fields)


def moving(arm, seed=0, seconds=8.0):
    """Return times, positions, velocities and accelerations of a random motion."""
    t = np.arange(0, seconds, 1 / RATE)
    return t, *random_motion(arm, seed, tries=5).evaluate(t)


def free_torque(arm, q, qd, qdd):
    """Torque of the arm that touches nothing."""
    return regressor(arm, q, qd, qdd) @ nominal_parameters(arm)


def residuals(arm, rng, seconds, sigma, colour=0.5, held_out=True):
    """Prediction whose residual is an AR(1) process at ten rows a second, tails Gaussian."""
    t = np.arange(0, seconds, 0.1)
    noise = rng.normal(size=(len(t), arm.n))
    for k in range(1, len(t)):
        noise[k] = colour * noise[k - 1] + np.sqrt(1 - colour**2) * noise[k]
    q = np.zeros((len(t), arm.n))
    return Prediction('made up', held_out, t, q, q + 1.0, sigma * noise, q)


PANDA = load_arm('panda')
