# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Placement, tool and tolerances in ``arm.yaml``."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.bodies import find_body, path_to
from dynid_ros.arm.description.tree import Placement, rotation_rpy
from dynid_ros.dynamics.kinematics.error_sources import error_sources, standard_deviations
from dynid_ros.errors import ArmError, InputError

ARM = """
description:
  dh:
    units: {length: mm, angle: deg}
    rows:
    - {alpha: 90, a: 0, d: 100, theta: 0}
    - {alpha: 30, a: 200, d: 0, theta: 0}
joints: [first, second]
"""


def arm_with(tmp_path, text):
    path = tmp_path / 'arm.yaml'
    path.write_text(ARM + text)
    return load_arm(path)


@given(st.tuples(*[st.floats(-7, 7)] * 3))
def test_rpy_is_that_of_urdf(angles):
    np.testing.assert_allclose(rotation_rpy(angles), pin.rpy.rpyToMatrix(*angles), atol=1e-15)


def test_placements_chain_like_transforms():
    first, second = (pin.SE3.Random() for _ in range(2))
    found = Placement(first.rotation, first.translation).then(
        Placement(second.rotation, second.translation))
    np.testing.assert_allclose(found.rotation, (first * second).rotation, atol=1e-15)
    np.testing.assert_allclose(found.translation, (first * second).translation, atol=1e-15)


def test_the_last_row_of_a_standard_table_places_the_tool(tmp_path):
    arm = arm_with(tmp_path, '')
    np.testing.assert_allclose(arm.tool.placement.translation, [0.2, 0, 0])
    np.testing.assert_allclose(
        arm.tool.placement.rotation, rotation_rpy([np.pi / 6, 0, 0]), atol=1e-15)


def test_a_tool_is_placed_behind_the_table_or_on_the_named_link(tmp_path):
    arm = arm_with(tmp_path, 'tool: {units: {length: mm}, translation: [0, 0, 50]}\n')
    np.testing.assert_allclose(
        arm.tool.placement.translation, [0.2, -0.05 * 0.5, 0.05 * np.sqrt(3) / 2], atol=1e-15)
    arm = arm_with(tmp_path, 'tool: {joint: first, translation: [0, 0, 0.05]}\n')
    joint, placement = find_body(arm, 'tool')
    assert joint == 0
    np.testing.assert_allclose(placement.translation, [0, 0, 0.05])


def test_base_and_mounting_are_read_in_their_units(tmp_path):
    arm = arm_with(tmp_path, """
base: {units: {length: mm, angle: deg}, translation: [1, 2, 3], rpy: [0, 0, 90]}
mounting: {translation: [1, 2, 3], rpy: [0, 0, 1.5]}
""")
    np.testing.assert_allclose(arm.base.translation, [0.001, 0.002, 0.003])
    np.testing.assert_allclose(arm.base.rotation, rotation_rpy([0, 0, np.pi / 2]))
    np.testing.assert_allclose(arm.mounting.translation, [1, 2, 3])
    np.testing.assert_allclose(arm.mounting.rotation, rotation_rpy([0, 0, 1.5]))


def test_tolerances_are_read_in_their_units_one_for_all_or_one_each(tmp_path):
    arm = arm_with(tmp_path, """
tolerances:
  units: {length: mm, angle: deg}
  base: {rotation: 1, translation: [1, 2, 3]}
  alpha: 2
  a: [0.1, 0.2]
  reading: 0.5
""")
    sources = error_sources(arm)
    std = dict(zip([s.label(arm) for s in sources],
                   standard_deviations(sources, arm.tolerances), strict=True))
    assert std['base, about x'] == pytest.approx(np.radians(1))
    assert std['base, along z'] == pytest.approx(0.003)
    assert std['alpha of second'] == pytest.approx(np.radians(2))
    assert std['a of second'] == pytest.approx(0.0002)
    assert std['reading of first'] == pytest.approx(np.radians(0.5))
    assert std['d of first'] == 0
    assert std['tool, along x'] == 0


@pytest.mark.parametrize(('text', 'words'), [
    ('tool: {joint: secnd}', 'names no joint of the arm: "secnd"; did you mean "second"'),
    ('base: {rotation: [0, 0, 0]}', 'unknown key "rotation" under "base"'),
    ('mounting: {translation: [0, 0]}', '3 numbers, not a list of 2'),
    ('tolerances: {reading: -1}', '"tolerances.reading" .* must not be below zero'),
    ('tolerances: {reading: [1, 2, 3]}', '2 numbers, not a list of 3'),
    ('tolerances: {translation: 1}', 'unknown key "translation"'),
])
def test_mistakes_are_named_with_their_key(tmp_path, text, words):
    with pytest.raises(ArmError, match=words):
        arm_with(tmp_path, text + '\n')


def test_an_arm_that_says_nothing_stands_at_the_origin_without_tolerances():
    arm = load_arm('ur10')
    assert arm.tolerances is None
    for placement in (arm.base, arm.mounting, arm.tool.placement):
        np.testing.assert_array_equal(placement.rotation, np.eye(3))
        np.testing.assert_array_equal(placement.translation, np.zeros(3))
    assert find_body(arm, 'tool')[0] == 5
    assert path_to(arm, 2) == [0, 1, 2]


def test_an_unknown_body_is_answered_with_near_names_or_all():
    with pytest.raises(InputError, match='did you mean "wrist_1_joint"'):
        find_body(load_arm('ur10'), 'wrist_1')
