# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Phases of a motion: what the arm should do is continuous, within limits, and ends at rest."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.motion_executor import MotionExecutor, Phase
from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.motion_pair import MotionPair

ARM = load_arm('ur10')
ROOM = planning_limits(ARM)
MOTION = random_motion(ARM, seed=1, periods=1, period=6.0, tries=20)
OTHER = random_motion(ARM, seed=2, periods=1, period=4.0, tries=20)
AWAY = MOTION.start + np.linspace(-0.4, 0.4, ARM.n)
STEP = 0.002


def executor() -> MotionExecutor:
    return MotionExecutor(MOTION, ROOM)


def course(run, begin, end):
    """Return times and references of a stretch, as a control would ask for them."""
    times = np.arange(begin, end, STEP)
    return times, [np.array(values) for values in zip(
        *(run.reference(t) for t in times), strict=True)]


def test_whole_course_is_smooth_within_the_limits_and_ends_at_rest_in_the_start():
    run = executor()
    seconds = run.start(10.0, AWAY)
    times, (q, qd, qdd) = course(run, 10.0, 10.0 + seconds + 0.5)
    np.testing.assert_allclose(q[0], AWAY, atol=1e-12)
    np.testing.assert_allclose(q[-1], MOTION.start, atol=1e-12)
    assert not qd[-1].any()
    assert run.phase is Phase.HOLDING
    assert (np.abs(qd) <= ROOM.velocity + 1e-9).all()
    assert (np.abs(qdd) <= ROOM.acceleration + 1e-9).all()
    # Central differences err by h²/6 of the third derivative, some 100 rad/s³ here.
    np.testing.assert_allclose(np.gradient(q, times, axis=0)[1:-1], qd[1:-1], atol=1e-3)


def test_the_validation_motion_follows_in_a_phase_of_its_own():
    pair = MotionPair(MOTION, OTHER, 2.0)
    run = MotionExecutor(pair, ROOM)
    seconds = run.start(0.0, AWAY)
    excited = seconds - OTHER.duration - pair.way
    times, (q, qd, _) = course(run, 0.0, excited)
    assert run.phase is Phase.RUNNING
    later, (more, faster, _) = course(run, times[-1] + STEP, seconds - STEP)
    assert run.phase is Phase.VALIDATING
    np.testing.assert_allclose(more[-1], OTHER.start, atol=1e-3)
    q, qd = np.concatenate([q, more]), np.concatenate([qd, faster])
    times = np.concatenate([times, later])
    assert np.abs(np.gradient(q, times, axis=0)[1:-1] - qd[1:-1]).max() < 2e-3
    with pytest.raises(InputError, match='validating already'):
        run.start(seconds - STEP, AWAY)
    run.reference(seconds)
    assert run.phase is Phase.HOLDING


def test_move_to_the_start_uses_the_allowed_share_of_the_limits():
    run = MotionExecutor(MOTION, ROOM, speed=0.1)
    seconds = run.start(0.0, AWAY) - MOTION.duration
    _, (_, qd, qdd) = course(run, 0.0, seconds)
    used = max((np.abs(qd) / ROOM.velocity).max(), (np.abs(qdd) / ROOM.acceleration).max())
    # The grid of the check misses the peak by little.
    assert used == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize('after', [0.3, 4.0, 7.0])
def test_stop_slows_down_along_the_path_and_holds(after):
    run = executor()
    run.start(0.0, AWAY)
    _, (before, _, _) = course(run, 0.0, after)
    run.stop(after)
    times, (q, qd, _) = course(run, after, after + 3.0)
    assert run.phase is Phase.HOLDING
    assert not qd[-1].any()
    np.testing.assert_allclose(q[0], before[-1], atol=2 * STEP * ROOM.velocity.max())
    np.testing.assert_allclose(np.gradient(q, times, axis=0)[1:-1], qd[1:-1], atol=2e-3)
    bounds = motion_bounds(MOTION)
    assert (q >= np.minimum(bounds.lower, AWAY) - 1e-9).all()
    assert (q <= np.maximum(bounds.upper, AWAY) + 1e-9).all()


def test_abort_brakes_from_the_measured_state_and_stays_within_the_position_limits():
    run = executor()
    run.start(0.0, AWAY)
    run.abort('of a test')
    assert run.reference(1.0) is None
    q, qd = ROOM.upper - 0.01, 0.9 * ROOM.velocity
    run.brake(1.0, q, qd)
    _, (course_q, course_qd, _) = course(run, 1.0, 4.0)
    np.testing.assert_allclose(course_q[0], q)
    np.testing.assert_allclose(course_qd[0], qd)
    assert (course_q <= ROOM.upper + 1e-12).all()
    assert not course_qd[-1].any()


def test_after_an_abort_only_a_stop_allows_another_start():
    run = executor()
    run.start(0.0, AWAY)
    run.abort('joint 3 was lost')
    run.brake(1.0, AWAY, np.zeros(ARM.n))
    with pytest.raises(InputError, match='joint 3 was lost; call ~/stop to reset'):
        run.start(2.0, AWAY)
    run.stop(2.0)
    np.testing.assert_allclose(run.reference(2.0).q, AWAY)
    run.start(3.0, AWAY)
    assert run.phase is Phase.MOVING


def test_a_second_start_is_refused_while_moving():
    run = executor()
    run.start(0.0, AWAY)
    with pytest.raises(InputError, match='moving to the start already'):
        run.start(1.0, AWAY)


def test_nothing_is_wanted_before_the_first_start():
    assert executor().reference(5.0) is None
