# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Random motions keep all limits, excite all parameters and repeat with their seed."""

from dataclasses import replace

import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.arm.description.doubtful_limits import DEFAULT_ACCELERATION, DEFAULT_VELOCITY
from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion
from dynid_ros.motion.feasibility.planning_limits import DEFAULT_POSITION


@pytest.mark.parametrize('name', ['ur10', 'panda', 'gluon_6l3', 'two_axis'])
def test_limits_of_shipped_arms_are_kept_at_10_khz(name):
    arm = load_arm(name)
    motion = random_motion(arm, seed=3, tries=5)
    q, qd, qdd = motion.evaluate(np.arange(0, 10.0, 1e-4))
    limits = arm.motion_limits
    assert (q >= limits.lower).all()
    assert (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all()
    assert (np.abs(qdd) <= limits.acceleration).all()


def test_each_joint_uses_one_of_its_limits_up():
    arm = load_arm('panda')
    motion = random_motion(arm, seed=0, tries=1)
    q, qd, qdd = motion.evaluate(np.arange(0, 10.0, 1e-3))
    limits = arm.motion_limits
    used = [
        np.ptp(q, axis=0) / (limits.upper - limits.lower),
        np.abs(qd).max(axis=0) / limits.velocity,
        np.abs(qdd).max(axis=0) / limits.acceleration]
    # The bound between samples costs less than 0.5 %.
    assert (np.max(used, axis=0) > 0.995).all()


def test_unknown_limits_are_replaced_by_the_stated_ones():
    arm = random_arm(np.random.default_rng(1), 3)
    q, qd, qdd = random_motion(arm, seed=0, tries=3).evaluate(np.arange(0, 10.0, 1e-3))
    assert np.abs(q).max() <= DEFAULT_POSITION
    assert np.abs(qd).max() <= DEFAULT_VELOCITY
    assert np.abs(qdd).max() <= DEFAULT_ACCELERATION


def test_nominal_torque_stays_within_the_effort_limits():
    arm = replace(random_arm(np.random.default_rng(2), 3, prismatic=False), friction=())
    free = random_motion(arm, seed=4, tries=20)
    limit = _peak_torque(arm, free) * np.array([0.95, np.inf, np.inf])
    limited = replace(arm, limits=replace(JointLimits.unknown(3), effort=limit))
    motion = random_motion(limited, seed=4, tries=20)
    assert (_peak_torque(arm, motion) <= limit).all()


def _peak_torque(arm, motion):
    model = pinocchio_model(arm)
    data = model.createData()
    states = zip(*motion.evaluate(np.arange(0, 10.0, 1e-2)), strict=True)
    return np.abs([pin.rnea(model, data, *state) for state in states]).max(axis=0)


def test_the_same_seed_gives_the_same_motion_and_another_seed_another():
    arm = load_arm('two_axis')
    first, again, other = (random_motion(arm, seed, tries=3) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.sine, again.sine)
    np.testing.assert_array_equal(first.offset, again.offset)
    assert not np.array_equal(first.sine, other.sine)


def test_more_tries_are_never_worse_and_determine_every_base_parameter():
    arm = load_arm('ur10')
    one, many = (random_motion(arm, 1, tries=tries) for tries in (1, 30))
    assert condition_number(arm, many) <= condition_number(arm, one)
    # A crude search over many more motions reaches 41; a deficient motion has 1e10 and more.
    assert condition_number(arm, many) < 200


def test_limits_that_leave_no_room_are_named():
    arm = random_arm(np.random.default_rng(3), 2)
    limits = JointLimits.unknown(2)
    none = np.array([1.0, 4.0])
    with pytest.raises(InputError, match=r"'j2' of .* has no range .* 4 and 3\.14159, 0\.858 too"):
        random_motion(replace(arm, limits=replace(limits, lower=none)), 0)
    with pytest.raises(InputError, match="'j1' of 'random' has a velocity limit of 0"):
        random_motion(replace(arm, limits=replace(limits, velocity=np.array([0.0, 1.0]))), 0)
    with pytest.raises(InputError, match=r'none of 2 random motions .* effort limits'):
        weak = replace(arm, limits=replace(limits, effort=np.full(2, 1e-3)))
        random_motion(weak, 0, tries=2)
