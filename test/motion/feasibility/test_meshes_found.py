# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Meshes are found where ROS looks for them; what is missing is named once and replaced."""

import numpy as np
import pinocchio
import pytest

from dynid_ros.arm.description.packages import find_meshes
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.errors import ArmError
from dynid_ros.motion.feasibility.link_shapes import urdf_bodies
from dynid_ros.motion.feasibility.scene import build_scene


def find_mesh(uri, urdf):
    return find_meshes([uri], urdf)[uri]


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('')
    return path


@pytest.mark.parametrize(('uri', 'place', 'variables'), [
    ('package://arm/m/a.stl', 'prefix/share/arm/m/a.stl', {'AMENT_PREFIX_PATH': 'other:prefix'}),
    ('model://arm/m/a.stl', 'prefix/share/arm/m/a.stl', {'AMENT_PREFIX_PATH': 'prefix'}),
    ('package://arm/m/a.stl', 'src/arm/m/a.stl', {'ROS_PACKAGE_PATH': 'src'}),
    ('package://arm/m/a.stl', 'src/arm/m/a.stl', {'ROS_PACKAGE_PATH': 'src/arm'}),
    ('package://arm/m/a.stl', 'work/arm/m/a.stl', {}),
    ('package://arm/m/a.stl', 'work/renamed/m/a.stl', {}),
    ('package://arm/m/a%20b.stl', 'work/arm/m/a b.stl', {}),
    ('m/a.stl', 'work/renamed/urdf/m/a.stl', {}),
    ('../m/a.stl', 'work/renamed/m/a.stl', {}),
])
def test_each_kind_of_uri_is_found(tmp_path, monkeypatch, uri, place, variables):
    for name in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH'):
        folders = variables.get(name, '').split(':')
        monkeypatch.setenv(name, ':'.join(str(tmp_path / x) for x in folders if x))
    urdf = touch(tmp_path / 'work/renamed/urdf/a.urdf')
    assert find_mesh(uri, urdf) is None
    mesh = touch(tmp_path / place)
    assert find_mesh(uri, urdf).resolve() == mesh


def test_the_index_of_ros_2_comes_before_the_folder_of_the_urdf(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    touch(tmp_path / 'arm/a.stl')
    installed = touch(tmp_path / 'prefix/share/arm/a.stl')
    assert find_mesh('package://arm/a.stl', tmp_path / 'a.urdf') == installed


def test_a_mesh_is_found_in_a_package_beside_whose_folder_has_another_name(tmp_path):
    urdf = touch(tmp_path / 'src/my_robot/urdf/a.urdf')
    mesh = touch(tmp_path / 'src/makers/arm-2.1/m/a.stl')
    assert find_mesh('package://arm/m/a.stl', urdf) is None
    (tmp_path / 'src/makers/arm-2.1/package.xml').write_text('<package><name>arm</name></package>')
    assert find_mesh('package://arm/m/a.stl', urdf) == mesh


def test_absolute_paths_and_file_uris_are_taken_as_they_are(tmp_path):
    mesh = touch(tmp_path / 'a b.stl')
    assert find_mesh(str(mesh), tmp_path / 'x/a.urdf') == mesh
    assert find_mesh(mesh.as_uri(), tmp_path / 'x/a.urdf') == mesh


URDF = """
<robot name="a">
  <link name="foot"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="one"><collision><geometry><mesh filename="package://nowhere/one.stl"/></geometry>
    </collision></link>
  <link name="two">
    <inertial><origin xyz="0 0 0.5" rpy="0.3 0 0"/><mass value="3"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="package://nowhere/two.stl"/></geometry></collision>
    <collision><geometry><mesh filename="{broken}"/></geometry></collision>
  </link>
  <joint name="j1" type="revolute"><parent link="foot"/><child link="one"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
  <joint name="j2" type="continuous"><parent link="one"/><child link="two"/>
    <origin xyz="0 0 1"/><axis xyz="1 0 0"/><limit velocity="1" effort="9"/></joint>
</robot>"""

SIZED = """<robot name="a"><link name="base"/>
  <link name="one"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
    <collision><geometry>{shape}</geometry></collision></link>
  <joint name="j1" type="continuous"><parent link="base"/><child link="one"/>
    <limit velocity="1" effort="9"/></joint></robot>"""


def lacking(tmp_path):
    """URDF whose second link has the inertia of a box of 0.2 x 0.3 x 0.4 m."""
    (tmp_path / 'broken.stl').write_text('solid nothing\nfacet')
    a, b, c = 0.2, 0.3, 0.4
    path = tmp_path / 'a.urdf'
    path.write_text(URDF.format(
        broken='broken.stl', ixx=(b**2 + c**2) / 4, iyy=(a**2 + c**2) / 4, izz=(a**2 + b**2) / 4))
    return path


def test_missing_and_unreadable_meshes_are_named_once_and_replaced(tmp_path):
    path = lacking(tmp_path)
    arm = load_arm(path)
    bodies, notes = urdf_bodies(arm, path, {})
    assert notes == (
        'meshes not found, not readable or empty: broken.stl, one.stl, two.stl (set '
        'ROS_PACKAGE_PATH to the folder that holds their package, or write them again); clearance '
        'takes instead '
        'lines between joints for one; the box of the same inertia for two',)
    _, line, box = bodies
    np.testing.assert_allclose(line.placement.translation, [0, 0, 0.5])
    assert line.shape.halfLength == pytest.approx(0.5)
    np.testing.assert_allclose(np.sort(2 * box.shape.halfSide), [0.2, 0.3, 0.4])
    np.testing.assert_allclose(box.placement.translation, [0, 0, 0.5], atol=1e-12)
    turned = box.placement.rotation.T @ pinocchio.utils.rotate('x', 0.3)
    np.testing.assert_allclose(np.sort(np.abs(turned).ravel())[-3:], 1.0)


def test_clearance_goes_on_without_the_meshes(tmp_path):
    path = lacking(tmp_path)
    arm = load_arm(path)
    scene = build_scene(arm, load_surroundings(path, arm))
    assert scene.names == ('foot_0 - two_inertia',)
    assert scene.notes


@pytest.mark.parametrize('shape', [
    '<box size="0.0 0 0"/>', '<sphere radius="0"/>', '<cylinder radius="0." length="0.0"/>'])
def test_a_shape_without_any_size_is_none(tmp_path, shape):
    path = tmp_path / 'a.urdf'
    path.write_text(SIZED.format(shape=shape))
    arm = load_arm(path)
    (body,), _ = urdf_bodies(arm, path, {})
    np.testing.assert_allclose(2 * body.shape.halfSide, [0.1, 0.2, 0.3])


@pytest.mark.parametrize('shape', ['<box size="1 1 0"/>', '<cylinder radius="1" length="0"/>'])
def test_a_shape_that_lacks_one_size_is_named(tmp_path, shape):
    path = tmp_path / 'a.urdf'
    path.write_text(SIZED.format(shape=shape))
    with pytest.raises(ArmError, match=r'in the <collision> of link "one" in .* is zero'):
        load_arm(path)
