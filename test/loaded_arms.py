# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings of an arm with and without a load, and its model without diagnosis, for tests."""

from dataclasses import replace
from functools import cache

import numpy as np
from results import identification
from synthetic_recordings import coloured, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recording,
)
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.weights import fit

RATE = 100.0
LOAD = inertial_from_com(2.0, [0.02, -0.03, 0.08], np.diag([0.02, 0.03, 0.015]))


@cache
def arm_named(name='ur10', friction=('viscous', 'coulomb', 'offset')):
    arm = load_arm(name).with_friction(friction)
    return replace(arm, drive=Drive.joint_torque(arm.n))


def free_theta(arm):
    return base_parameters(arm).grouping @ nominal_parameters(arm)


def noise_of(arm):
    return np.where(np.isfinite(arm.limits.effort), 1e-3 * arm.limits.effort, 1e-4)


def recorded(
    arm, load=None, *, seed=1, seconds=20.0, after=None, noise=1.0, source='loaded', still=(),
    balanced=(), rough=0.0, step=False,
):
    """
    Record waves.

    With `after`, the load changes half-way; joints `still` do not move; `balanced` ones do not
    feel the load. Friction by the load and at low speeds, which no model here has, is `rough`. In
    `step`, all joints follow one sine.
    """
    waves = Waves.random(arm, seed)
    t = np.arange(round(seconds * RATE)) / RATE
    if step:
        waves = replace(waves, phase=0 * waves.phase, w=waves.w[1:2] + 0 * waves.w)
    q, qd, qdd = waves.at(t)
    for joint in still:
        q[:, joint], qd[:, joint], qdd[:, joint] = 0.3, 0.0, 0.0
    W = regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns]
    loads = np.zeros((len(t), 10)) if load is None else np.tile(load, (len(t), 1))
    if after is not None:
        loads[len(t) // 2:] = after
    theta = free_theta(arm) + loads @ load_columns(arm).T
    tau = np.einsum('kib,kb->ki', W, theta)
    for joint in balanced:
        tau[:, joint] = W[:, joint] @ free_theta(arm)
    dry = 0.05 * np.abs(tau) + 50 * noise_of(arm) * np.exp(-np.abs(qd) / 0.15)
    tau += rough * dry * np.tanh(qd / 0.02)
    rng = np.random.default_rng([seed, 11])
    tau += noise * coloured(rng, len(t), noise_of(arm), 0.6)
    return Recording(t, q, tau, arm.joint_names, source=source)


@cache
def free_model(
    name='ur10', noise=1.0, still=(), own=(), rough=0.0, step=False,
    friction=('viscous', 'coulomb', 'offset'),
):
    """
    Fit the free arm to 40 s, as identify does it, without its diagnosis.

    Joints `still` do not move, the last link differs from its description by `own`, and `rough` is
    friction that the model does not have.
    """
    arm = arm_named(name, friction)
    recording, _ = checked_recording(
        recorded(arm, np.array(own) if own else None, seed=0, seconds=40.0, noise=noise,
                 source='free', still=still, rough=rough, step=step), arm)
    settings = choose_conditioning(arm, [recording])
    rows = KeptRows(arm, condition_recording(arm, recording, settings), settings, arm.friction)
    solution = fit(arm, rows)
    scatter = group_scatter(rows.parts(arm), solution)
    covariance = scatter.covariance(solution)
    white = np.sqrt(np.diag(solution.white_covariance))
    before = np.diag(arm_prior(arm).covariance)
    return identification(
        arm, theta=solution.theta, covariance=covariance, sigma=solution.sigma, std_white=white,
        data_share=np.clip(1 - np.diag(covariance) / before, 0, 1),
        colour=scatter.colour, treatment=settings,
        root_information=solution.root_information, root_torque=solution.root_torque,
        sources=('free',),
        predictions=tuple(rows.predict(arm, solution.theta, 'free', False)))
