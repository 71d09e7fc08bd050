# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Designed motions keep every limit at 10 kHz, by an independent evaluation of the series."""

from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from oracles import pinocchio_model
import pinocchio as pin
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.errors import InputError
from dynid_ros.interface.python.motions import design_excitation
from dynid_ros.motion.excitation import search
from dynid_ros.motion.excitation.design import (
    design,
    validation_motion,
    with_validation,
)
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.execution.start_checks import check_motion
from dynid_ros.motion.feasibility.scene import build_scene

PERIOD = 5.0
RATE = 10_000
#: Samples on which costly quantities are taken before they are refined around their worst one.
COARSE = 25


@lru_cache
def arm_and_scene(name):
    arm = load_arm(name)
    return arm, build_scene(arm, load_surroundings(name, arm))


def series(motion, t):
    """Swevers' series, term by term."""
    q, qd, qdd = (np.zeros((len(t), motion.n)) for _ in range(3))
    q += motion.offset
    for k in range(motion.harmonics):
        w = 2 * np.pi * (k + 1) / motion.period
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        a, b = motion.sine[:, k], motion.cosine[:, k]
        q += (a * s - b * c) / w
        qd += a * c + b * s
        qdd += w * (b * c - a * s)
    return q, qd, qdd


def worst(function, samples):
    """Smallest value (k,) of a function of one sample, each refined at the full rate."""
    function = cache(function)
    coarse = np.array([function(i) for i in range(0, samples, COARSE)])
    result = coarse.min(axis=0)
    for k in range(coarse.shape[1]):
        at = int(coarse[:, k].argmin()) * COARSE
        near = range(max(at - COARSE, 0), min(at + COARSE + 1, samples))
        result[k] = min(function(i)[k] for i in near)
    return result


def check(arm, scene, motion):
    q, qd, qdd = series(motion, np.arange(0, motion.period, 1 / RATE))
    limits = arm.motion_limits
    assert (q >= limits.lower).all()
    assert (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all()
    assert (np.abs(qdd) <= np.where(np.isfinite(limits.acceleration),
                                    limits.acceleration, 5.0)).all()
    # Rest at both ends: the sums of the series vanish to rounding.
    assert np.abs(qd[0]).max() < 1e-12 * max(1.0, np.abs(qd).max())
    assert np.abs(qdd[0]).max() < 1e-11 * max(1.0, np.abs(qdd).max())
    if arm.inertial is not None:
        assert (worst(torque_left(arm, q, qd, qdd), len(q)) >= 0).all()
    if scene is not None:
        assert (worst(lambda i: scene.distances(q[i]), len(q)) >= scene.clearance).all()


def torque_left(arm, q, qd, qdd):
    """Left of the effort limits at a sample, by Pinocchio's inverse dynamics."""
    model = pinocchio_model(arm)
    data = model.createData()
    zero = np.zeros(arm.n)
    rotor = arm.rotor_nominal if arm.rotor_inertia and arm.rotor_nominal is not None else zero
    viscous = arm.friction_nominal.get('viscous', zero)
    coulomb = arm.friction_nominal.get('coulomb', zero)

    def left(i):
        tau = pin.rnea(model, data, q[i], qd[i], qdd[i]) + rotor * qdd[i] + viscous * qd[i]
        return arm.motion_limits.effort - np.abs(tau + coulomb * np.sign(qd[i]))

    return left


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'seed'), [('ur10', 0), ('panda', 1), ('gluon_6l3', 0)])
def test_no_limit_is_broken_at_10_khz(name, seed, monkeypatch):
    arm, scene = arm_and_scene(name)
    # Few steps at both ends of the schedule: far inside the limits, then right beside them.
    monkeypatch.setattr(search, 'DESCENT_STAGES', ((2.0, 1e-2, 6), (20.0, 3e-4, 8)))
    task = Task(period=PERIOD, harmonics=5, starts=1, seconds=60.0, seed=seed)
    designed = design(arm, task, scene)
    assert designed.margins.kept
    check(arm, scene, designed.motion)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['ur10', 'panda'])
def test_validation_motions_keep_the_same_limits(name):
    arm, scene = arm_and_scene(name)
    check(arm, scene, validation_motion(arm, Task(period=PERIOD, harmonics=5), scene).motion)


def test_the_way_to_a_validation_motion_keeps_all_limits():
    arm, scene = arm_and_scene('ur10')
    task = Task(period=PERIOD, harmonics=5)
    # Best of the same random motions, whatever the way to it.
    begin = validation_motion(arm, Task(period=PERIOD, harmonics=5, seed=1), scene)
    touching = validation_motion(arm, task, scene)
    assert (scene.nearest(begin.motion.start, touching.motion.start) < scene.kept).any()
    motion, validation = with_validation(begin, task, scene)
    assert validation.margins.kept
    check_motion(arm, motion, scene)
    with pytest.raises(InputError, match=r'beyond its (velocity|acceleration|effort) limit'):
        check_motion(arm, replace(motion, way=motion.way / 4), scene)
    with pytest.raises(InputError, match='nearer than the clearance'):
        check_motion(arm, replace(motion, validation=touching.motion), scene)


@pytest.mark.slow
def test_effort_limits_bind_where_they_are_low():
    arm, scene = arm_and_scene('ur10')
    # Just above what it takes to stand: the motion must go round its loads.
    weak = replace(arm, limits=replace(arm.limits, effort=arm.limits.effort * 0.55))
    designed = design(weak, Task(period=PERIOD, harmonics=5, starts=1, seconds=2.0), scene)
    assert designed.margins.joints['torque'].min() < 0.25 * weak.motion_limits.effort.max()
    check(weak, scene, designed.motion)


@pytest.mark.slow
def test_ramps_keep_the_limits_too():
    arm, scene = arm_and_scene('panda')
    task = Task(period=PERIOD, harmonics=5, ramp=1.5, periods=1, starts=1, seconds=2.0)
    motion = design(arm, task, scene).motion
    q, qd, qdd = motion.evaluate(np.arange(0, motion.duration, 1 / RATE))
    limits = arm.motion_limits
    assert (q >= limits.lower).all()
    assert (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all()
    assert (np.abs(qdd) <= limits.acceleration).all()


def test_a_design_in_python_has_another_motion_behind_it():
    arm = load_arm('two_axis')
    designed = design_excitation(arm, period=PERIOD, harmonics=2, starts=1, seconds=0.1)
    first, other = designed.pair.excitation, designed.pair.validation
    assert first is designed.motion
    assert 0.5 * first.period < other.period < 0.9 * first.period
    check_motion(arm, designed.pair, None)
