# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint trajectories are interpolated, followed and ended as ros2_controllers does it."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.interpolate import BPoly
from synthetic_recordings import PERFECT

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.simulation.joint_trajectory import (
    Code,
    JointTrajectory,
    read_trajectory,
    TrajectoryError,
)
from dynid_ros.simulation.live import LiveArm, PHYSICS_PERIOD
from dynid_ros.simulation.trajectory_controller import Status, TrajectoryGoal

ARM = load_arm('panda')
START = planning_limits(ARM).middle
REST = np.zeros(ARM.n)
NAMES = ('a', 'b')


def trajectory(degree, seed):
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.01, 1.0, 5))
    values = rng.normal(size=(3, 5, 2))
    values[1:3][(degree < 3, degree < 5), :] = np.nan
    return JointTrajectory(t, *values)


@settings(max_examples=30)
@given(degree=st.sampled_from([1, 3, 5]), seed=st.integers(0, 1000), share=st.floats(0, 0.999))
def test_points_are_joined_as_scipy_does_from_as_many_derivatives(degree, seed, share):
    points = trajectory(degree, seed)
    kept = [points.q, points.qd, points.qdd][:(degree + 1) // 2]
    truth = BPoly.from_derivatives(points.t, np.stack(kept, axis=1))
    time = points.t[0] + share * (points.t[-1] - points.t[0])
    wanted = points.sample(time)
    # Both are polynomials in doubles; short segments have accelerations of some 1e4.
    for k, values in enumerate(wanted):
        scale = 1 + np.abs(truth.derivative(k)(points.t[:-1] + 1e-6)).max()
        np.testing.assert_allclose(values, truth(time, nu=k), atol=1e-9 * scale, rtol=1e-7)


def test_first_segment_leads_from_the_state_to_the_first_point():
    points = trajectory(5, 3)
    q, qd = np.array([0.3, -0.2]), np.array([1.0, 0.5])
    joined = points.joined(0.0, q, qd)
    np.testing.assert_array_equal(joined.sample(0.0), [q, qd, [0, 0]])
    before = joined.sample(points.t[0] - 1e-9)
    # The jerk of this segment is some 1e5 rad/s³.
    np.testing.assert_allclose(before, [points.q[0], points.qd[0], points.qdd[0]], atol=1e-3)
    assert points.joined(points.t[0] + 0.01, q, qd) is points


def test_last_point_is_held():
    points = trajectory(5, 4)
    np.testing.assert_array_equal(points.sample(points.end + 1)[0], points.q[-1])
    assert not np.any(points.sample(points.end + 1)[1:])


def test_values_come_in_the_order_of_the_controller():
    read = read_trajectory(
        NAMES, ['b', 'a'], [1.0], [[2.0, 1.0]], [[0.0, 0.0]], [[]], [[20.0, 10.0]])
    np.testing.assert_array_equal(read.q, [[1.0, 2.0]])
    np.testing.assert_array_equal(read.tau, [[10.0, 20.0]])
    assert np.isnan(read.qdd).all()


def test_efforts_are_linear_between_points_and_constant_beyond():
    rows = [[0.0, 0.0], [0.0, 0.0]]
    read = read_trajectory(
        NAMES, NAMES, [1.0, 2.0], rows, rows, rows, [[1.0, 0.0], [3.0, -4.0]])
    for time, tau in ((0.5, [1, 0]), (1.25, [1.5, -1]), (3.0, [3, -4])):
        np.testing.assert_allclose(read.feed_forward(time), tau)
    begun = read.joined(0.0, np.ones(2), np.zeros(2))
    np.testing.assert_array_equal(begun.feed_forward(0.5), [1, 0])
    assert read_trajectory(NAMES, NAMES, [1.0, 2.0], rows, rows, rows, [[], []]
                           ).feed_forward(1.5) is None


@pytest.mark.parametrize(('changed', 'code', 'said'), [
    ({'names': ['a', 'c']}, Code.INVALID_JOINTS, 'is for a, c, but the controller has a, b'),
    ({'names': []}, Code.INVALID_JOINTS, 'no joints'),
    ({'t': [], 'q': [], 'qd': [], 'qdd': [], 'tau': []}, Code.INVALID_GOAL, 'no points'),
    ({'t': [1.0, 1.0]}, Code.INVALID_GOAL, 'point 2 of 2 is at 1 s'),
    ({'t': [-1.0, 1.0]}, Code.INVALID_GOAL, 'point 1 of 2 is at -1 s'),
    ({'t': [np.nan, 1.0]}, Code.INVALID_GOAL, 'point 1 of 2 is at nan s'),
    ({'q': [[0.0, 0.0], [0.0]]}, Code.INVALID_GOAL, 'point 2 has 1 positions for 2 joints'),
    ({'q': [[], []]}, Code.INVALID_GOAL, 'point 1 has 0 positions'),
    ({'qd': [[0.0, np.nan], [0.0, 0.0]]}, Code.INVALID_GOAL, "velocities of joint 'b' in point 1"),
    ({'qdd': [[0.0], [0.0, 0.0]]}, Code.INVALID_GOAL, 'point 1 has 1 accelerations'),
    ({'tau': [[0.0, 0.0], []]}, Code.INVALID_GOAL, 'point 2 has no efforts'),
    ({'qd': [[0.0, 0.0], [0.0, 0.1]]}, Code.INVALID_GOAL, "ends with joint 'b' at a velocity"),
])
def test_what_the_controller_refuses_is_named(changed, code, said):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    given = {'names': ['a', 'b'], 't': [1.0, 2.0], 'q': rows, 'qd': rows, 'qdd': rows,
             'tau': rows} | changed
    with pytest.raises(TrajectoryError, match=said) as refused:
        read_trajectory(NAMES, *given.values())
    assert refused.value.code is code


class Run:
    """An arm, and what its sensors give while it moves."""

    def __init__(self):
        self.arm = LiveArm(ARM, START, PERFECT)
        self.q, self.qd = [], []

    def follow(self, way, seconds, path=0.2, end=0.05):
        goal = self.goal(way, seconds, path, end)
        self.arm.follow(goal)
        return goal

    def goal(self, way, seconds, path=0.2, end=0.05):
        """Straight quintic from rest to rest."""
        points = JointTrajectory(
            np.array([seconds]), (self.arm.position + way)[None], REST[None], REST[None])
        return TrajectoryGoal(
            points, self.arm.time, np.full(ARM.n, path), np.full(ARM.n, end))

    def steps(self, seconds):
        for _ in range(round(seconds / PHYSICS_PERIOD)):
            reading = self.arm.step()
            self.q.append(reading.q)
            self.qd.append(reading.qd)


def test_arm_follows_to_the_goal_succeeds_and_is_held_there():
    run = Run()
    goal = run.follow(0.3 * np.ones(ARM.n), 1.0)
    wanted = goal.trajectory.joined(0.0, START, REST)
    run.steps(0.99)
    assert goal.outcome is None
    assert not run.arm.held
    truth = np.array([wanted.sample((k + 1) * PHYSICS_PERIOD).q for k in range(len(run.q))])
    # Coulomb friction by stiffness is a fraction of 1 mrad.
    assert np.abs(np.array(run.q) - truth).max() < 2e-3
    run.steps(0.1)
    assert goal.outcome.status is Status.SUCCEEDED
    run.steps(1.0)
    assert run.arm.held
    np.testing.assert_allclose(run.q[-1], START + 0.3, atol=2e-3)


def test_cancelled_arm_slows_down_within_its_limits_and_is_held():
    run = Run()
    goal = run.follow(1.0 * np.ones(ARM.n), 1.5)
    run.steps(0.7)
    q, qd = run.q[-1], run.qd[-1]
    assert np.abs(qd).min() > 0.5
    run.arm.cancel()
    assert goal.outcome.status is Status.CANCELED
    run.steps(0.6)
    assert run.arm.held
    assert np.abs(run.qd[-1]).max() < 0.01
    # v²/2a, and what the control needs to settle.
    way = qd**2 / (2 * planning_limits(ARM).acceleration)
    np.testing.assert_allclose(run.q[-1], q + way, atol=5e-3)


def test_arm_that_cannot_follow_is_aborted_and_stopped():
    run = Run()
    goal = run.follow(2.5 * np.eye(ARM.n)[0], 0.2)
    run.steps(0.2)
    assert goal.outcome.status is Status.ABORTED
    assert goal.outcome.code is Code.PATH_TOLERANCE_VIOLATED
    assert "joint 'fer_joint1' is" in goal.outcome.reason
    run.steps(1.5)
    assert run.arm.held
    assert np.abs(run.qd[-1]).max() < 0.01


def test_goal_that_is_not_reached_in_time_is_aborted():
    run = Run()
    # The end stop is 5 % of the range behind the limit, and so the goal 5 % behind the stop.
    way = 0.6 * (ARM.limits.upper - ARM.limits.lower) * np.eye(ARM.n)[0]
    goal = run.follow(way, 3.0, path=1.0)
    run.steps(3.9)
    assert goal.outcome is None
    run.steps(0.2)
    assert goal.outcome.code is Code.GOAL_TOLERANCE_VIOLATED


def test_new_goal_replaces_the_one_before_without_a_jump():
    run = Run()
    first = run.follow(0.5 * np.ones(ARM.n), 1.0)
    run.steps(0.5)
    second = run.follow(0.2 * np.ones(ARM.n), 1.0)
    run.steps(1.1)
    assert (first.outcome.status, first.outcome.code) == (Status.ABORTED, Code.INVALID_GOAL)
    assert second.outcome.status is Status.SUCCEEDED
    np.testing.assert_allclose(run.q[-1], second.trajectory.q[-1], atol=2e-3)
    # Position and velocity go on where they were; the acceleration of a quintic is within 50.
    assert np.abs(np.diff(run.qd, axis=0)).max() < 50 * PHYSICS_PERIOD


def test_torques_and_trajectories_do_not_interrupt_each_other():
    run = Run()
    goal = run.follow(0.2 * np.ones(ARM.n), 0.5)
    with pytest.raises(InputError, match='while a trajectory moves the arm'):
        run.arm.command(REST)
    run.steps(0.7)
    assert goal.outcome.status is Status.SUCCEEDED
    run.arm.command(RigidArm(ARM).gravity(run.arm.position))
    run.steps(0.01)
    with pytest.raises(TrajectoryError, match='torques are being commanded'):
        run.follow(REST, 0.5)
    run.steps(0.2)
    run.follow(REST, 0.5)


def test_trajectory_that_has_ended_already_is_refused():
    run = Run()
    run.steps(2.0)
    goal = run.goal(REST, 1.0)
    goal.start = 0.5
    with pytest.raises(TrajectoryError, match=r'has ended 0\.5 s ago') as refused:
        run.arm.follow(goal)
    assert refused.value.code is Code.OLD_HEADER_TIMESTAMP
