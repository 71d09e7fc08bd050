# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How many joints, and functions of their motion, judge a disturbance that looks like a load."""

import numpy as np
import pytest

from dynid_ros.applications.payload.joint_scatter import joint_scatter, JointRows, witnesses
from dynid_ros.utilities.arrays import inverse_of

JOINTS, SAMPLES, COLUMNS, LOADS = 6, 60, 30, 3


def joints_of(arm, load, rng=None):
    """Fit a load to rows of joints, of an arm that is known, with torque that is noise."""
    factor = np.linalg.qr(load.reshape(-1, load.shape[2]), mode='r')
    tau = np.zeros(load.shape[:2]) if rng is None else rng.normal(size=load.shape[:2])
    half = inverse_of(factor)
    found = half @ half.T @ np.einsum('jma,jm->a', load, tau)
    return JointRows(arm, arm[:, :, :0], load, tau - load @ found), factor


def courses(seed, functions, strengths):
    """Move joints by so many functions of time, the same in all; each tells the load so well."""
    rng = np.random.default_rng(seed)
    course = np.linalg.qr(rng.normal(size=(SAMPLES, functions)))[0]
    mix = rng.normal(size=(len(strengths), functions, COLUMNS))
    return np.asarray(strengths)[:, None, None] * (course @ mix)


def counted(arm, loads=LOADS):
    rows, factor = joints_of(arm, arm[:, :, :loads])
    return witnesses(rows, np.zeros((COLUMNS, COLUMNS)), inverse_of(factor), 1)


@pytest.mark.parametrize('joints', [2, 4, 7])
def test_joints_that_tell_the_same_are_witnesses_of_each_other(joints):
    column = np.random.default_rng(joints).normal(size=(1, SAMPLES, 1)).repeat(joints, axis=0)
    rows, factor = joints_of(column, column)
    count = witnesses(rows, np.zeros((1, 1)), inverse_of(factor), 1)
    # A sample variance of n values, and what each joint keeps of its one function; the weak prior
    # of a load adds 2e-6.
    assert count == pytest.approx(joints - 1 + joints * (1 - 1 / joints)**2, rel=1e-4)


def test_a_joint_that_alone_tells_the_load_by_few_functions_has_one_witness():
    for seed in range(5):
        assert counted(courses(seed, LOADS, [100, 1, 1, 1, 1, 1])) == pytest.approx(1, abs=0.1)


def test_independent_motion_brings_witnesses_back():
    counts = np.mean([[counted(courses(seed, functions, [30, 1, 1, 1, 1, 1]))
                       for functions in (LOADS, 5, 8, 20)] for seed in range(10)], axis=0)
    assert (np.diff(counts) > 0).all()
    # Then the interval is that of K - 1 joints, as where all of them tell the same.
    assert counts[0] < 1.5 and counts[-1] > JOINTS - 1


@pytest.mark.parametrize(('strength', 'functions', 'wider'), [
    # 97.5 % quantiles of Student's t with 1 and 5 degrees of freedom.
    (100, LOADS, 12.71 / 2.57), (100, 20, 1.0), (1, 20, 1.0)])
def test_few_witnesses_widen_the_interval_as_students_t(strength, functions, wider):
    arm = courses(1, functions, [strength, 1, 1, 1, 1, 1])
    rows, factor = joints_of(arm, arm[:, :, :LOADS], np.random.default_rng(1))
    # A disturbance that is as white as the samples shows everywhere but in the load.
    white = JointRows(np.eye(SAMPLES)[None].repeat(JOINTS, axis=0), rows.steps, rows.load,
                      rows.left)
    few, many = (joint_scatter(own, np.full(JOINTS, SAMPLES), np.zeros(2 * own.arm.shape[2:]),
                               factor, 1) for own in (rows, white))
    assert np.sqrt(few[0, 0] / many[0, 0]) == pytest.approx(wider, rel=0.1)
