# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions for a load, by an independent Fisher information and with the load on."""

from dataclasses import replace
from functools import cache

from loaded_arms import arm_named, free_model, free_theta, LOAD, noise_of, RATE
import numpy as np
from oracles import pinocchio_model
import pinocchio as pin
import pytest
from synthetic_recordings import coloured

from dynid_ros.applications.payload.design import INDEPENDENT_HZ, PayloadDesign, RESIDUAL_SHARE
from dynid_ros.applications.payload.estimate import estimate_payload
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.motion.excitation import search
from dynid_ros.motion.excitation.design import design
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.random_motion import random_motion

ARM = arm_named('panda')
SECONDS = 10.0


def loaded(arm, load):
    """Pinocchio's model of the arm with a load in its tool."""
    model = pinocchio_model(arm)
    place = pin.SE3(arm.tool.placement.rotation, arm.tool.placement.translation)
    model.appendBodyToJoint(model.njoints - 1, body(load), place)
    return model


def body(load):
    m, h, (xx, xy, xz, yy, yz, zz) = load[0], load[1:4], load[4:]
    center = h / m
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pin.Inertia(m, center, about - m * (center @ center * np.eye(3)
                                               - np.outer(center, center)))


def torque(arm, load, states):
    model = loaded(arm, load)
    data = model.createData()
    return np.array([pin.rnea(model, data, *state) for state in zip(*states, strict=True)])


def spread(motion):
    """Return standard deviations of mass and centre, by differences of Pinocchio's torque."""
    states = motion.evaluate(np.arange(0, motion.period, motion.period / 300))
    # Torque is linear in the parameters, so that any step will do that a body can have.
    start = 2 * LOAD
    columns = [torque(ARM, start + step, states) - torque(ARM, start - step, states)
               for step in 1e-3 * np.eye(10)]
    friction = [value[:, :, None] * np.eye(ARM.n) for value in (
        states[1], np.sign(states[1]), np.ones_like(states[1]))]
    own = np.stack(columns, axis=2) / 2e-3
    rows = np.concatenate([own, *friction], axis=2) / (
        RESIDUAL_SHARE * ARM.limits.effort)[None, :, None]
    information = np.einsum('kia,kib->ab', rows, rows) * (
        INDEPENDENT_HZ * SECONDS / len(states[0]))
    covariance = np.linalg.inv(information)[:4, :4]
    mass = 2.0
    return np.sqrt(covariance[0, 0]), np.sqrt(np.diag(covariance)[1:]) / mass


@cache
def task_for(mass=2.0):
    return PayloadDesign(ARM, SECONDS, mass)


@pytest.fixture
def short(monkeypatch):
    """Few steps, which do not depend on the time that they take."""
    monkeypatch.setattr(search, 'DESCENT_STAGES', ((2.0, 1e-2, 20), (8.0, 1e-3, 20)))
    return Task(SECONDS, 4, 1, starts=1, seconds=300.0)


@pytest.mark.slow
def test_the_motion_determines_the_load_better_than_an_ordinary_one_of_its_length(short):
    own = task_for()
    (mass, center), (other, their_center) = (
        spread(design(own.arm, task).motion)
        for task in (replace(short, objective=own.objective), short))
    assert mass < 0.85 * other
    assert np.linalg.norm(center) < np.linalg.norm(their_center)


def test_the_expected_error_bar_is_that_of_an_independent_information():
    motion = random_motion(ARM, 3, tries=1, periods=1)
    mass, center = task_for().expected_std(motion)
    expected_mass, expected_center = spread(motion)
    # Both take samples of one period, at other times.
    assert mass == pytest.approx(expected_mass, rel=0.03)
    np.testing.assert_allclose(center, expected_center, rtol=0.03)


@pytest.mark.slow
def test_torque_limits_hold_with_the_load_on(short):
    heavy = PayloadDesign(ARM, SECONDS, 4.0, (0.0, 0.05, 0.1))
    found = design(heavy.arm, replace(short, objective=heavy.objective))
    states = found.motion.evaluate(np.arange(0, found.motion.period, 1e-3))
    radius = (3 * 4.0 / (4 * np.pi * 700)) ** (1 / 3)
    ball = inertial_from_com(4.0, [0.0, 0.05, 0.1], 0.4 * 4.0 * radius**2 * np.eye(3))
    tau = torque(ARM, ball, states)
    nominal = ARM.friction_nominal
    zero = np.zeros(ARM.n)
    tau += states[1] * nominal.get('viscous', zero) + np.sign(states[1]) * nominal.get(
        'coulomb', zero) + states[2] * (zero if ARM.rotor_nominal is None else ARM.rotor_nominal)
    left = ARM.motion_limits.effort - np.abs(tau).max(axis=0)
    assert (left > 0).all() and found.margins.kept
    # The limits bind, so that they would not hold by chance.
    assert (left < 0.1 * ARM.motion_limits.effort).any()


def test_with_a_model_the_expected_error_bar_is_that_of_the_estimate():
    arm, model = arm_named(), free_model()
    motion = random_motion(arm, 4, tries=5, periods=2)
    task = PayloadDesign(arm, motion.duration, LOAD[0], LOAD[1:4] / LOAD[0], [model])
    assert task.measured
    t = np.arange(round(motion.duration * RATE)) / RATE
    q, qd, qdd = motion.evaluate(t)
    W = regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns]
    tau = W @ (free_theta(arm) + load_columns(arm) @ LOAD)
    tau += coloured(np.random.default_rng(2), len(t), noise_of(arm), 0.6)
    found = estimate_payload(model, [Recording(t, q, tau, arm.joint_names, source='loaded')])
    mass, center = task.expected_std(motion)
    # The colour of the noise in a recording is an estimate, too.
    assert 0.5 < mass / found.body.mass_std < 2.0
    ratio = center / found.body.center_std
    assert ((ratio > 0.4) & (ratio < 2.5)).all()
