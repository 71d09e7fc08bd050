# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Each bound that a moving arm breaks is named, and so is each motion that would break one."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.motion.execution.safety_monitor import (
    Bound,
    DEFAULT_THRESHOLDS,
    EffortLimiter,
    LimitWatch,
    SafetyMonitor,
)
from dynid_ros.motion.execution.start_checks import check_motion, check_start
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.fourier import FourierMotion

ARM = load_arm('ur10')
ROW, SATURATED = DEFAULT_THRESHOLDS.samples, DEFAULT_THRESHOLDS.saturated
MOTION = random_motion(ARM, seed=1, periods=1, period=6.0, tries=20)
REST = np.zeros(ARM.n)
HOME = Reference(MOTION.start, REST, REST)


def with_joint(values, joint, value):
    changed = values.copy()
    changed[joint] = value
    return changed


@pytest.mark.parametrize(('q', 'qd', 'bound', 'joint', 'text'), [
    (with_joint(MOTION.start, 1, np.nan), REST, Bound.NUMBER, 'shoulder_lift_joint', 'NaN'),
    (MOTION.start, with_joint(REST, 4, np.inf), Bound.NUMBER, 'wrist_2_joint', 'infinite'),
    (with_joint(MOTION.start, 2, 4.0), REST, Bound.POSITION, 'elbow_joint',
     'is at 4, outside its limits'),
    (MOTION.start + with_joint(REST, 5, 0.2), REST, Bound.TRACKING, 'wrist_3_joint',
     'is 0.2 from where it should'),
])
def test_first_broken_bound_has_a_kind_a_joint_and_a_text(q, qd, bound, joint, text):
    violation = SafetyMonitor(ARM, 0.1).violation(q, qd, HOME)
    assert violation.bound is bound
    assert f"'{joint}'" in violation.text
    assert text in violation.text


def test_arm_that_may_be_ahead_is_lost_only_where_it_is_not_on_its_way():
    monitor, wanted = SafetyMonitor(ARM, 0.1), Reference(MOTION.start, REST - 0.5, REST)
    for away, lost in ((0.09, False), (0.11, True), (-0.19, False), (-0.21, True)):
        state = MOTION.start + with_joint(REST, 3, away), REST, wanted
        assert ('is 0.11 from where' in str(monitor.violation(*state, ahead=0.2))) == lost
    assert 'is 0.15 from' in monitor.violation(
        MOTION.start + with_joint(REST, 3, -0.15), REST, wanted).text


def test_good_state_is_not_complained_about():
    assert SafetyMonitor(ARM, 0.1).violation(MOTION.start + 0.05, REST, HOME) is None


def test_commands_are_cut_off_and_complained_about_only_when_that_goes_on():
    limiter = EffortLimiter(ARM)
    wild = with_joint(REST, 2, -2 * ARM.limits.effort[2])
    tau, said = limiter.limit(0.0, wild)
    assert tau[2] == -ARM.limits.effort[2]
    assert said is None
    violation = limiter.limit(SATURATED, wild)[1]
    assert violation.bound is Bound.EFFORT
    assert "joint 'elbow_joint' needs" in violation.text
    limiter.limit(1.0, REST)
    assert limiter.limit(1.1, wild)[1] is None


def test_joints_that_are_at_their_limits_in_turn_are_not_at_them_for_long():
    limiter = EffortLimiter(ARM)
    elbow, wrist = (with_joint(REST, j, 2 * ARM.limits.effort[j]) for j in (2, 4))
    for k in range(4):
        assert limiter.limit(k * 0.6 * SATURATED, elbow if k % 2 else wrist)[1] is None
    # The one that stays there is named, whichever joined it.
    violation = limiter.limit(3 * SATURATED, elbow + with_joint(wrist, 0, 1e4))[1]
    assert "'elbow_joint'" in violation.text


def test_a_saturation_ends_with_the_motion():
    limiter = EffortLimiter(ARM)
    wild = with_joint(REST, 2, -2 * ARM.limits.effort[2])
    limiter.limit(1.0, wild)
    np.testing.assert_array_equal(limiter.hold(wild), wild / 2)
    assert limiter.limit(1.0 + 2 * SATURATED, wild)[1] is None


def test_motion_within_the_limits_passes():
    check_motion(ARM, MOTION, None)


@pytest.mark.parametrize(('limit', 'share'), [
    ('velocity', 0.5), ('acceleration', 0.5), ('effort', 0.1),
])
def test_motion_beyond_a_limit_is_refused(limit, share):
    less = replace(ARM.limits, **{limit: share * getattr(ARM.limits, limit)})
    with pytest.raises(InputError, match=f'beyond its {limit} limit'):
        check_motion(replace(ARM, limits=less), MOTION, None)


def test_motion_through_the_floor_is_refused():
    low = FourierMotion(
        6.0, with_joint(REST, 1, 0.5), np.zeros((ARM.n, 2)), np.zeros((ARM.n, 2)))
    scene = build_scene(ARM, load_surroundings('ur10', ARM))
    with pytest.raises(InputError, match=r'floor.* nearer than the clearance'):
        check_motion(ARM, low, scene)


def test_start_through_the_floor_and_start_while_moving_are_refused():
    scene = build_scene(ARM, load_surroundings('ur10', ARM))
    left, right = with_joint(REST, 1, -0.3), with_joint(REST, 1, -np.pi + 0.3)
    check_start(ARM, left, REST, right, scene)
    below = with_joint(REST, 1, 0.5)
    with pytest.raises(InputError, match=r'on the straight way to the start .*floor'):
        check_start(ARM, left, REST, below, scene)
    with pytest.raises(InputError, match='wait until the arm stands still'):
        check_start(ARM, left, with_joint(REST, 0, 0.2), right, scene)


@pytest.mark.parametrize(('qd', 'tau', 'said'), [
    (with_joint(REST, 0, -3.0), None,
     "joint 'shoulder_pan_joint' moves at 3, faster than its limit of 2.09"),
    (REST, with_joint(REST, 2, -1.2 * ARM.limits.effort[2]),
     "joint 'elbow_joint' has a measured effort of 180, more than its limit of 150"),
])
def test_limit_is_named_once_it_is_exceeded_for_several_samples(qd, tau, said):
    watch = LimitWatch(ARM)
    for _ in range(3):
        assert [watch.violation(qd, tau) for _ in range(ROW - 1)] == [None] * (ROW - 1)
        # One sample within the limits, and the count starts anew; so does one that is no number.
        assert watch.violation(REST + np.nan, REST + np.nan) is None
    assert [watch.violation(qd, tau) for _ in range(ROW)][-1].text == said


def test_saturated_motors_and_their_noise_are_within_the_limits():
    watch = LimitWatch(ARM)
    for tau in (1.04 * ARM.limits.effort, None):
        assert not any(
            watch.violation(1.09 * ARM.limits.velocity, tau) for _ in range(3 * ROW))
