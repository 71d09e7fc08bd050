# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rigid-body functions against Pinocchio and MuJoCo."""

from dataclasses import dataclass, replace
import warnings

from hypothesis import assume, given, settings
from hypothesis import strategies as st
import mujoco
import numpy as np
from oracles import is_clear, pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.description.tree import Placement, rotation_rpy, Tool
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.rigid_body import (
    forward_dynamics,
    geometric_jacobian,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
)
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.dynamics.state import LimitWarning
from dynid_ros.errors import ArmError, InputError
from dynid_ros.simulation.mjcf import joint_order, mujoco_model

# Both sides compute in double precision; torques are of the order of 100 Nm.
AGREE = {'rtol': 1e-9, 'atol': 1e-9}
# Base parameters of a random arm reach 1e8 where columns nearly depend, and cancel in torque.
BASE_AGREE = {'rtol': 1e-7, 'atol': 1e-7}


@dataclass(frozen=True, eq=False)
class Result:
    arm: ArmModel
    theta: np.ndarray


def arm_and_state(seed, branched=True, n=None):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, n or int(rng.integers(1, 9)), branched=branched)
    arm = replace(arm, rotor_nominal=rng.uniform(0.01, 0.5, arm.n), tool=Tool(
        Placement(rotation_rpy(rng.normal(size=3)), rng.normal(size=3)),
        int(rng.integers(arm.n))))
    return arm, rng, *rng.normal(size=(3, arm.n))


def result_of(arm):
    """Return an identification that found the truth, nothing but base parameters."""
    base = base_parameters(arm)
    return Result(arm, base.grouping @ nominal_parameters(arm))


def spread_wrenches(arm, rng, q):
    """Return wrenches on half of the links, as our matrix and as Pinocchio's forces."""
    fext = np.zeros((6, arm.n))
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero() for _ in range(arm.n + 1)])
    for joint in range(0, arm.n, 2):
        wrench = rng.normal(scale=10.0, size=6)
        fext = fext + external_force(arm, arm.joint_names[joint], wrench, q)
        # Pinocchio writes the force first, in the frame of the joint.
        forces[joint + 1] = pin.Force(wrench[3:], wrench[:3])
    return fext, forces


def oracle(arm):
    """Return a Pinocchio model whose joints have the order of the arm's; ABA and CRBA unsafe."""
    model = pinocchio_model(arm)
    model.armature = arm.rotor_nominal
    return model, model.createData()


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_inverse_dynamics_with_wrenches_on_many_links_is_that_of_pinocchio(seed, branched):
    arm, rng, q, qd, qdd = arm_and_state(seed, branched)
    model, data = oracle(arm)
    fext, forces = spread_wrenches(arm, rng, q)
    expected = pin.rnea(model, data, q, qd, qdd, forces)
    np.testing.assert_allclose(inverse_dynamics(arm, q, qd, qdd, fext), expected, **AGREE)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_forward_dynamics_undoes_inverse_dynamics(seed, branched):
    arm, rng, q, qd, qdd = arm_and_state(seed, branched)
    fext, _ = spread_wrenches(arm, rng, q)
    for model, agree in ((arm, AGREE), (result_of(arm), BASE_AGREE)):
        tau = inverse_dynamics(model, q, qd, qdd, fext)
        back = forward_dynamics(model, q, qd, tau, fext)
        np.testing.assert_allclose(back, qdd, **agree)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_terms_of_the_equation_of_motion_are_those_of_pinocchio(seed, branched):
    arm, _, q, *_ = arm_and_state(seed, branched)
    model, data = oracle(arm)
    zero = np.zeros(arm.n)
    gravity = pin.rnea(model, data, q, zero, zero)
    columns = [pin.rnea(model, data, q, zero, unit) - gravity for unit in np.eye(arm.n)]
    np.testing.assert_allclose(mass_matrix(arm, q), np.array(columns).T, **AGREE)
    np.testing.assert_allclose(gravity_torque(arm, q), gravity, **AGREE)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_an_identified_result_moves_like_the_arm_it_was_identified_from(seed, branched):
    arm, rng, q, qd, qdd = arm_and_state(seed, branched)
    assume(is_clear(arm))
    result = result_of(arm)
    fext, _ = spread_wrenches(arm, rng, q)
    for function, inputs in (
        (inverse_dynamics, (q, qd, qdd, fext)), (mass_matrix, (q,)), (gravity_torque, (q,)),
        (geometric_jacobian, (q,)),
    ):
        np.testing.assert_allclose(
            function(result, *inputs), function(arm, *inputs), **BASE_AGREE)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_forward_dynamics_with_wrenches_is_that_of_mujoco(seed, branched):
    arm, rng, q, qd, tau = arm_and_state(seed, branched)
    fext, _ = spread_wrenches(arm, rng, q)
    model = mujoco_model(arm)
    data = mujoco.MjData(model)
    order = joint_order(model, arm)
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, qd, tau
    mujoco.mj_kinematics(model, data)
    for joint in range(arm.n):
        # MuJoCo wants the force first and takes the moment about the centre of mass.
        body = model.body(f'link_{joint + 1}').id
        moment, force = fext[:3, joint], fext[3:, joint]
        data.xfrc_applied[body] = [*force, *(moment - np.cross(data.xipos[body], force))]
    mujoco.mj_forward(model, data)
    ours = forward_dynamics(arm, q, qd, tau, fext)
    # MuJoCo's model has 1e-12 kg m² more about each principal axis, of some 1e-2.
    np.testing.assert_allclose(ours, data.qacc[order], rtol=1e-9, atol=1e-9)


def test_dynamics_of_a_shipped_arm_agree_with_mujoco_to_nine_digits():
    arm = load_arm('panda')
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.normal(scale=0.3, size=(3, 7))
    q += [0, 0, 0, -1.5, 0, 1.5, 0]
    model = mujoco_model(arm)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = q, qd, qdd
    wrench = [1.0, -2.0, 3.0, 10.0, 20.0, -30.0]
    fext = external_force(arm, 'fer_joint4', wrench) + external_force(arm, 'fer_joint7', wrench)
    mujoco.mj_kinematics(model, data)
    applied = np.zeros(7)
    for body in ('link_4', 'link_7'):
        turning, moving = np.zeros((2, 3, 7))
        mujoco.mj_comPos(model, data)
        # A body-fixed point that lies at the base's origin right now.
        mujoco.mj_jac(model, data, moving, turning, np.zeros(3), model.body(body).id)
        applied += turning.T @ wrench[:3] + moving.T @ wrench[3:]
    mujoco.mj_inverse(model, data)
    expected = data.qfrc_inverse - applied
    np.testing.assert_allclose(inverse_dynamics(arm, q, qd, qdd, fext), expected, **AGREE)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_jacobian_of_tool_and_links_is_that_of_pinocchio(seed, branched):
    arm, _, q, _, _ = arm_and_state(seed, branched)
    model, _ = oracle(arm)
    tool = pin.SE3(arm.tool.placement.rotation, arm.tool.placement.translation)
    frame = model.addFrame(pin.Frame('tool', arm.tool.joint + 1, tool, pin.FrameType.OP_FRAME))
    data = model.createData()
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    expected = pin.computeFrameJacobian(model, data, q, frame, axes)
    np.testing.assert_allclose(
        geometric_jacobian(arm, q), np.roll(expected.reshape(6, arm.n), 3, axis=0), **AGREE)
    pin.computeJointJacobians(model, data, q)
    for joint, name in enumerate(arm.joint_names):
        expected = pin.getJointJacobian(model, data, joint + 1, axes)
        expected = np.roll(expected.reshape(6, arm.n), 3, axis=0)
        np.testing.assert_allclose(geometric_jacobian(arm, q, name), expected, **AGREE)


def test_a_wrench_without_q_is_about_the_origin_of_the_base():
    arm = load_arm('two_axis')
    q = [0.3, 0.4]
    # A force along y of the base through a point on x twists the upright first joint.
    force_at_base = external_force(arm, 'pendulum_joint', [0, 0, 0, 0, 1.0, 0])
    shifted = external_force(arm, 'pendulum_joint', [0, 0, 2.0, 0, 1.0, 0])
    still = gravity_torque(arm, q)
    assert inverse_dynamics(arm, q, fext=force_at_base)[0] == pytest.approx(still[0], abs=1e-12)
    assert inverse_dynamics(arm, q, fext=shifted)[0] == pytest.approx(still[0] - 2.0, abs=1e-12)


def test_a_wrench_with_q_acts_at_the_body_and_does_the_same_work():
    arm, rng, q, qd, _ = arm_and_state(5, n=7)
    wrench = rng.normal(size=6)
    fext = external_force(arm, 'tool', wrench, q)
    zero = np.zeros(arm.n)
    torque = inverse_dynamics(arm, q) - inverse_dynamics(arm, q, zero, zero, fext)
    model = pinocchio_model(arm)
    data = model.createData()
    tool = pin.SE3(arm.tool.placement.rotation, arm.tool.placement.translation)
    frame = model.addFrame(pin.Frame('tool', arm.tool.joint + 1, tool, pin.FrameType.OP_FRAME))
    data = model.createData()
    pin.forwardKinematics(model, data, q, qd)
    twist = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL)
    work = wrench[:3] @ twist.angular + wrench[3:] @ twist.linear
    assert torque @ qd == pytest.approx(work, abs=1e-10)


def test_force_matrix_holds_the_wrench_in_the_column_of_its_body_only():
    arm = load_arm('ur10')
    wrench = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    fext = external_force(arm, 'elbow_joint', wrench)
    assert fext.shape == (6, 6)
    assert (fext[:, 2] == wrench).all()
    assert not np.delete(fext, 2, axis=1).any()


def test_batches_are_their_single_states():
    arm, rng, *_ = arm_and_state(6, n=6)
    q, qd, qdd = rng.normal(size=(3, 5, 6))
    wrenches = rng.normal(size=(5, 6))
    fext = external_force(arm, 'tool', wrenches, q)
    for model in (arm, result_of(arm)):
        together = inverse_dynamics(model, q, qd, qdd, fext)
        back = forward_dynamics(model, q, qd, together, fext)
        for k in range(5):
            own = external_force(arm, 'tool', wrenches[k], q[k])
            one = inverse_dynamics(model, q[k], qd[k], qdd[k], own)
            assert one.shape == (6,)
            # BLAS may sum a batch in another order.
            np.testing.assert_allclose(together[k], one, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(
                back[k], forward_dynamics(model, q[k], qd[k], one, own), rtol=1e-9, atol=1e-9)
        assert mass_matrix(model, q).shape == (5, 6, 6)
        assert geometric_jacobian(model, q).shape == (5, 6, 6)


def test_one_position_serves_many_wrenches_and_rates():
    arm, rng, q, *_ = arm_and_state(7, n=4)
    wrenches, qd = rng.normal(size=(3, 6)), rng.normal(size=(3, 4))
    fext = external_force(arm, 'j2', wrenches, q)
    torque = inverse_dynamics(arm, q, qd, None, fext)
    assert torque.shape == (3, 4)
    np.testing.assert_allclose(
        torque[1], inverse_dynamics(arm, q, qd[1], [], fext[1]), rtol=1e-12)


def test_empty_rates_and_torque_are_zero():
    arm = load_arm('ur10')
    q, zero = np.full(6, 0.5), np.zeros(6)
    fext = external_force(arm, 'tool', [0, 0, 0, 1.0, 0, 0], q)
    assert (inverse_dynamics(arm, q, [], [], fext) == inverse_dynamics(
        arm, q, zero, zero, fext)).all()
    assert (forward_dynamics(arm, q, [], [], fext) == forward_dynamics(
        arm, q, zero, zero, fext)).all()


@pytest.mark.parametrize('body', ['elbow_jont', 'toool'])
def test_unknown_body_is_named_with_a_near_one(body):
    near = {'elbow_jont': 'elbow_joint', 'toool': 'tool'}[body]
    with pytest.raises(InputError, match=f"no body '{body}'; did you mean \"{near}\""):
        external_force(load_arm('ur10'), body, np.zeros(6))


def test_a_body_unlike_any_is_answered_with_all_of_them():
    with pytest.raises(InputError, match=r'shoulder_pan_joint, .*wrist_3_joint, tool'):
        external_force(load_arm('ur10'), 'xyz', np.zeros(6))


@pytest.mark.parametrize(('wrench', 'words'), [
    ([1, 2, 3], r'\(6,\) or \(N, 6\), not \(3,\)'),
    (np.zeros((6, 4)), 'transpose it'),
    ([1, 2, 3, 4, 5, np.nan], 'finite'),
    (['a'] * 6, 'a wrench must hold numbers'),
])
def test_a_wrong_wrench_is_refused_in_words(wrench, words):
    with pytest.raises(InputError, match=words):
        external_force(load_arm('panda'), 'tool', wrench)


def test_a_force_matrix_of_wrong_shape_is_refused_in_words():
    arm = load_arm('panda')
    q = [0, 0, 0, -1.5, 0, 1.5, 0]
    with pytest.raises(InputError, match=r'\(6, 7\).*not \(7, 6\), transpose it'):
        inverse_dynamics(arm, q, fext=np.zeros((7, 6)))
    with pytest.raises(InputError, match='external_force makes one of a wrench'):
        inverse_dynamics(arm, q, fext=np.zeros((1, 6)))
    with pytest.raises(InputError, match='2 states, but fext has 3'):
        inverse_dynamics(arm, [q, q], fext=np.zeros((3, 6, 7)))


def test_a_state_of_wrong_shape_or_not_finite_is_refused_in_words():
    arm = load_arm('two_axis')
    with pytest.raises(InputError, match=r'q must be \(2,\) or \(N, 2\).*not \(3,\)'):
        mass_matrix(arm, [0, 0, 0])
    with pytest.raises(InputError, match="qd of joint 'pendulum_joint' is not finite"):
        inverse_dynamics(arm, [0, 0], [0, np.nan])
    with pytest.raises(InputError, match='q has 2 states, but qd has 3'):
        inverse_dynamics(arm, np.zeros((2, 2)), np.zeros((3, 2)))


def test_an_arm_without_inertias_is_named():
    with pytest.raises(ArmError, match="'ur10' has no nominal inertias"):
        mass_matrix(replace(load_arm('ur10'), inertial=None), np.zeros(6))


def test_a_position_outside_its_limits_is_warned_of_with_joint_and_value():
    arm = load_arm('panda')
    with pytest.warns(LimitWarning, match="'fer_joint4' is 0, outside its limits -3.0"):
        mass_matrix(arm, np.zeros(7))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        mass_matrix(arm, [0, 0, 0, -1.5, 0, 1.5, 0])


def test_an_impossible_identified_mass_matrix_is_refused():
    arm = replace(load_arm('two_axis'), rotor_inertia=False)
    result = result_of(arm)
    with pytest.raises(InputError, match='not positive definite'):
        forward_dynamics(Result(arm, -result.theta), [0.1, 0.2])
