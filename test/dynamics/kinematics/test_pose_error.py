# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pose errors against exact kinematics, Pinocchio and finite differences."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import link_poses, random_arm, random_rotation
import pinocchio as pin
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import Placement, Tool
from dynid_ros.dynamics.kinematics.error_sources import (
    error_sources,
    standard_deviations,
    uniform_tolerances,
)
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import (
    error_jacobian,
    exact_pose_error,
    perturbed_kinematics,
)
from dynid_ros.dynamics.kinematics.pose_uncertainty import (
    error_budget,
    propagated_covariance,
    workspace_states,
)
from dynid_ros.errors import InputError


def placed_arm(seed, dh=''):
    """Random arm, standing and mounted somewhere, with a tool on some link."""
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, int(rng.integers(2, 8)), branched=not dh)
    if dh:
        axis = np.tile([0.0, 0.0, 1.0], (arm.n, 1))
        arm = replace(arm.with_tree(axis=axis), dh=dh)
    places = [Placement(random_rotation(rng), rng.normal(size=3)) for _ in range(3)]
    joint = arm.n - 1 if dh else int(rng.integers(arm.n))
    arm = replace(arm, base=places[0], mounting=places[1], tool=Tool(places[2], joint))
    return arm, rng, rng.normal(size=arm.n)


def se3(placement):
    return pin.SE3(placement.rotation, placement.translation)


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_forward_kinematics_chains_all_placements(seed):
    arm, _, q = placed_arm(seed)
    links = [se3(arm.base) * se3(arm.mounting) * pose for pose in link_poses(arm, q)]
    tool = links[arm.tool.joint] * se3(arm.tool.placement)
    for body, expected in (('tool', tool), *zip(arm.joint_names, links, strict=True)):
        pose = forward_kinematics(arm, q, body)
        np.testing.assert_allclose(pose.rotation, expected.rotation, atol=1e-12)
        np.testing.assert_allclose(pose.translation, expected.translation, atol=1e-12)


def test_many_positions_give_the_pose_of_each():
    arm, rng, _ = placed_arm(3)
    q = rng.normal(size=(4, arm.n))
    together = forward_kinematics(arm, q)
    for k in range(4):
        alone = forward_kinematics(arm, q[k])
        np.testing.assert_array_equal(together.translation[k], alone.translation)
        np.testing.assert_array_equal(together.rotation[k], alone.rotation)


@given(st.integers(0, 10**6), st.sampled_from(['', 'dh', 'mdh']))
@settings(max_examples=60)
def test_first_order_errors_are_the_derivative_of_exact_ones(seed, dh):
    arm, rng, q = placed_arm(seed, dh)
    for body in ('tool', arm.joint_names[int(rng.integers(arm.n))]):
        sources = error_sources(arm, body)
        jacobian = error_jacobian(arm, q, body)
        steps = 1e-5 * np.eye(len(sources))
        forward, backward = (
            exact_pose_error(arm, q, sign * steps, body) for sign in (1, -1))
        # Central differences: 1e-10 of truncation and 1e-16 / 1e-5 of rounding.
        np.testing.assert_allclose(
            jacobian, ((forward - backward) / 2e-5).T, rtol=0, atol=1e-8)


@pytest.mark.parametrize('name', ['panda', 'ur10', 'hand_leg'])
def test_what_first_order_leaves_out_is_of_second_order(name):
    arm = load_arm(name)
    rng = np.random.default_rng(0)
    q = workspace_states(arm, 1)[0]
    errors = rng.normal(size=len(error_sources(arm)))
    jacobian = error_jacobian(arm, q)
    scales = np.array([1e-2, 1e-3, 1e-4])
    left = [np.linalg.norm(exact_pose_error(arm, q, h * errors) - jacobian @ (h * errors))
            for h in scales]
    order = np.diff(np.log(left)) / np.diff(np.log(scales))
    # The third order still shows at the largest errors.
    np.testing.assert_allclose(order, 2.0, atol=0.05)


@pytest.mark.parametrize(('row', 'key'), [(0, 'alpha'), (1, 'a'), (2, 'd'), (3, 'theta')])
def test_sources_of_a_table_are_its_parameters(tmp_path, row, key):
    table = np.random.default_rng(1).normal(size=(4, 4))

    def arm_of(values, kind):
        rows = '\n'.join(
            '    - {' + ', '.join(f'{name}: {float(value)!r}' for name, value in zip(
                ('alpha', 'a', 'd', 'theta'), line, strict=True)) + '}' for line in values)
        path = tmp_path / 'arm.yaml'
        path.write_text(f'description:\n  {kind}:\n    rows:\n{rows}\n')
        return load_arm(path)

    q = [0.3, -0.5, 0.7, 1.1]
    for kind in ('dh', 'mdh'):
        arm = arm_of(table, kind)
        sources = error_sources(arm)
        for joint in range(4):
            changed = table.copy()
            changed[joint, row] += 0.1
            errors = [0.1 * (s.group == key and s.joint == joint) for s in sources]
            assert sum(errors) == 0.1
            real = perturbed_kinematics(arm, q, sources, errors)
            expected = forward_kinematics(arm_of(changed, kind), q)
            np.testing.assert_allclose(real.rotation, expected.rotation, atol=1e-14)
            np.testing.assert_allclose(real.translation, expected.translation, atol=1e-14)


@pytest.mark.parametrize('name', ['panda', 'ur10', 'hand_leg'])
def test_random_errors_have_the_propagated_covariance(name):
    arm = load_arm(name)
    q = workspace_states(arm, 1, seed=2)[0]
    tolerances = arm.tolerances or uniform_tolerances(arm, 1e-3, 1e-3)
    std = standard_deviations(error_sources(arm), tolerances)
    expected = propagated_covariance(error_jacobian(arm, q), std)
    # 40 000 draws know a variance to 0.7 %.
    draws = std * np.random.default_rng(0).normal(size=(40_000, len(std)))
    found = np.cov(exact_pose_error(arm, q, draws), rowvar=False)
    np.testing.assert_allclose(np.diag(found), np.diag(expected), rtol=0.03)
    assert np.linalg.norm(found - expected) < 0.03 * np.linalg.norm(expected)


def test_covariance_of_dependent_sources_is_taken_whole():
    arm, rng, q = placed_arm(8)
    jacobian = error_jacobian(arm, q)
    half = rng.normal(size=(jacobian.shape[1], 3))
    found = propagated_covariance(jacobian, half @ half.T)
    np.testing.assert_allclose(found, (jacobian @ half) @ (jacobian @ half).T, rtol=1e-10)


def test_budget_adds_up_to_the_propagated_variance_everywhere():
    arm = load_arm('hand_leg')
    q = workspace_states(arm, 20)
    budget = error_budget(arm, q, arm.tolerances)
    std = standard_deviations(budget.sources, arm.tolerances)
    covariance = propagated_covariance(error_jacobian(arm, q), std)
    place = np.trace(covariance[:, 3:, 3:], axis1=1, axis2=2)
    np.testing.assert_allclose(budget.position_std**2, place, rtol=1e-12)
    groups = budget.by_group()
    total = sum(shift**2 for _, shift in groups.values())
    assert total == pytest.approx(place.mean())
    assert set(groups) == {'base', 'mounting', 'a', 'reading'}
    assert budget.position_std[budget.worst] == budget.position_std.max()


def test_the_largest_sources_come_first_with_their_shares():
    arm = load_arm('hand_leg')
    budget = error_budget(arm, workspace_states(arm, 20), arm.tolerances)
    largest = budget.largest(100)
    shares = [share for _, share in largest]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    # 0.3, 0.5 and 0.2 degrees at half a metre beat 0.2 mm along z.
    assert largest[0][0].group == 'base'
    assert largest[0][0].turning


def test_workspace_states_keep_the_limits_and_cover_them():
    arm = load_arm('panda')
    q = workspace_states(arm, 500)
    assert ((q >= arm.limits.lower) & (q <= arm.limits.upper)).all()
    span = arm.limits.upper - arm.limits.lower
    assert (np.ptp(q, axis=0) > 0.98 * span).all()


def test_sources_off_the_path_to_a_body_are_left_out():
    arm = load_arm('ur10')
    sources = error_sources(arm, 'elbow_joint')
    assert {source.joint for source in sources} == {-1, 0, 1, 2}
    assert 'tool' not in {source.group for source in sources}


def test_labels_name_source_and_joint():
    labels = [source.label(load_arm('hand_leg')) for source in error_sources(load_arm('hand_leg'))]
    assert 'a of thigh' in labels
    assert 'base, about z' in labels
    assert 'reading of shank' in labels
    assert len(set(labels)) == len(labels)


def test_an_unknown_body_is_named_with_a_near_one():
    with pytest.raises(InputError, match="no body 'thigg'; did you mean \"thigh\""):
        forward_kinematics(load_arm('hand_leg'), np.zeros(4), 'thigg')
