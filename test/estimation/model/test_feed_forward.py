# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The effort of a trajectory: the model's torque, in the trajectory's order, within limits."""

from dataclasses import replace

from loaded_arms import arm_named, free_model, free_theta
import numpy as np
from oracles import random_arm
import pytest
from results import identification
from synthetic_recordings import true_torque, Waves

from dynid_ros.errors import InputError
from dynid_ros.motion.execution.feed_forward import extrapolation, with_effort
from dynid_ros.motion.execution.tracking_control import tracking_gains
from dynid_ros.motion.trajectory.trajectory_file import Trajectory
from dynid_ros.simulation.physics import SimulatedArm


def along(arm, seed=1, seconds=4.0, order=None):
    """Return points of the waves that the models of `loaded_arms` were fitted to, or others."""
    t = np.arange(0, seconds, 0.01)
    names, order = arm.joint_names, range(arm.n) if order is None else order
    states = (x[:, order] for x in Waves.random(arm, seed).at(t))
    return Trajectory(tuple(names[k] for k in order), t, *states)


def test_it_is_the_torque_of_the_arm_whatever_the_order_of_the_joints():
    arm = arm_named('ur10')
    order = [3, 0, 5, 1, 4, 2]
    found = with_effort(free_model('ur10'), along(arm, order=order))
    expected = true_torque(arm, Waves.random(arm, 1), found.t, free_theta(arm))[:, order]
    error = np.linalg.norm(found.effort - expected) / np.linalg.norm(expected)
    assert error < 0.01


def test_other_joints_are_refused_by_name():
    arm = arm_named('ur10')
    points = replace(along(arm), joint_names=('x', *arm.joint_names[1:]))
    with pytest.raises(InputError, match=r'\(x, .*are not the joints of the model'):
        with_effort(free_model('ur10'), points)


def test_effort_beyond_the_limit_of_a_joint_is_refused_with_joint_and_time():
    model = free_model('ur10')
    effort = model.arm.limits.effort.copy()
    effort[2] = 1.0
    weak = replace(model, arm=replace(model.arm, limits=replace(model.arm.limits, effort=effort)))
    with pytest.raises(InputError, match=r"'elbow_joint' would need .* limit is 1; slow"):
        with_effort(weak, along(model.arm))


def test_leaving_the_recorded_range_is_told_by_joint():
    model = free_model('ur10')
    inside = along(model.arm, seed=0)
    assert extrapolation(model, inside) == ()
    fast = replace(inside, qd=10 * inside.qd)
    assert len(extrapolation(model, fast)) == model.arm.n
    far = replace(inside, q=inside.q + np.eye(6)[1] * 4.0)
    (told,) = extrapolation(model, far)
    assert told.startswith('shoulder_lift_joint moves from')


@pytest.mark.slow
def test_it_makes_the_tracking_error_of_a_simulated_arm_five_times_smaller():
    pytest.importorskip('mujoco')
    arm = arm_named('ur10')
    gains, t = tracking_gains(arm, 0.002), np.arange(0, 2.0, 0.001)
    q, qd, _ = Waves.random(arm, 1).at(t)
    points = with_effort(free_model('ur10'), along(arm, seconds=2.01))
    filled = np.stack([np.interp(t, points.t, own) for own in points.effort.T], axis=1)

    def error(ahead):
        physics = SimulatedArm(arm)
        state, total = physics.reset(q[0], qd[0]), 0.0
        for k in range(len(t)):
            total += ((q[k] - state.q)**2).sum()
            state = physics.step(ahead[k] + gains.torque(state.q, state.qd, q[k], qd[k]), 2)
        return np.sqrt(total)

    assert error(filled) < error(np.zeros_like(q)) / 5


def test_figures_of_a_joint_that_slides_have_units_of_its_own():
    arm = random_arm(np.random.default_rng(0), 2, prismatic=False).with_tree(
        prismatic=np.array([False, True]))
    model = identification(arm)
    here = model.predictions[0]
    fast = Trajectory(arm.joint_names, here.t, here.q, 10 * here.qd, 0 * here.qd)
    for told, unit in zip(extrapolation(model, fast), ('rad/s', 'm/s'), strict=True):
        assert told.count(f' {unit}') == 2
    weak = replace(arm, limits=replace(arm.limits, effort=np.array([np.inf, 1e-9])))
    with pytest.raises(InputError, match=r"'j2' would need [-+.\de]+ N at "):
        with_effort(replace(model, arm=weak), fast)
