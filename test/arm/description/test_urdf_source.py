# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Xacro files and files that are no URDF."""

import pytest
from urdf_files import joint, link, robot, write, XACRO, xacro_file

from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import ArmError, ArmWarning


def test_a_xacro_file_is_expanded(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path)
    assert load_arm(path).translation[0].tolist() == [1, 0, 0]
    root = urdf_root(path, {'reach': '0.25'})
    assert root.find('joint').find('origin').get('xyz') == '0.25 0 0'


def test_a_xacro_file_that_cannot_be_expanded_is_one_clear_error(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path, XACRO.replace('$(arg reach)', '${nowhere}'))
    with pytest.raises(ArmError, match=r'xacro cannot expand .*nowhere.*NAME:=VALUE') as caught:
        load_arm(path)
    assert '\n' not in str(caught.value)


def test_an_argument_that_is_missing_is_quoted_with_the_line_that_gives_it(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path, XACRO.replace('$(arg reach) 0', '$(arg name) 0'))
    with pytest.raises(ArmError, match=r'needs the argument "name"; .* --xacro name:=VALUE$'):
        load_arm(path)


def test_an_old_address_of_the_prefix_is_expanded_as_well(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    old = 'http://playerstage.sourceforge.net/gazebo/xmlschema/#interface'
    text = XACRO.replace('http://www.ros.org/wiki/xacro', old)
    assert old in text
    first, second = (load_arm(xacro_file(tmp_path, each)) for each in (XACRO, text))
    assert second.joint_names == first.joint_names and second.n == 1


def test_a_file_of_macros_alone_names_those_that_use_it(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    macro = tmp_path / 'urdf/arm_macro.xacro'
    macro.parent.mkdir()
    macro.write_text(f'{head}<xacro:macro name="one_arm"><link name="a"/></xacro:macro></robot>')
    with pytest.raises(ArmError, match='the macro one_arm and no robot; give a xacro file that'):
        load_arm(macro)
    (tmp_path / 'package.xml').write_text('<package/>')
    for name in ('robots/of_two.urdf.xacro', 'urdf/arm.xacro'):
        user = tmp_path / name
        user.parent.mkdir(exist_ok=True)
        user.write_text(f'{head}<xacro:include filename="$(find maker)/urdf/arm_macro.xacro"/>'
                        '<xacro:one_arm/></robot>')
    (tmp_path / 'urdf/other.xacro').write_text(
        f'{head}<xacro:include filename="old_arm_macro.xacro"/></robot>')
    with pytest.raises(ArmError, match=r'give the file that uses it: \S+/urdf/arm\.xacro, '
                                       r'\S+/robots/of_two\.urdf\.xacro$'):
        load_arm(macro)


ARM = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="tool" default="hand"/>
  <xacro:include filename="$(find {package})/{macro}"/>
  <link name="base"/><xacro:arm tool="$(arg tool)"/></robot>"""
MACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="sizes" value="${{xacro.load_yaml('$(find {package})/{sizes}')}}"/>
  <xacro:macro name="arm" params="tool"><link name="a"/><joint name="j" type="revolute">
  <parent link="base"/><child link="a"/><origin xyz="${{sizes['reach']}} 0 0"/>
  <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <xacro:unless value="${{tool == ''}}"><link name="tool"/>
  <joint name="mount" type="fixed"><parent link="a"/><child link="tool"/></joint></xacro:unless>
</xacro:macro></robot>"""


def packages(folder, file, macro, sizes, manifests):
    """Lay out an arm of which parts are in packages, given as (package, path in it) each."""
    for (package, inner), content in (
            (macro, MACRO.format(package=sizes[0], sizes=sizes[1])), (sizes, 'reach: 0.5')):
        path = folder / manifests[package] / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for package, place in manifests.items():
        (folder / place / 'package.xml').write_text(f'<package><name>{package}</name></package>')
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ARM.format(package=macro[0], macro=macro[1]))
    return path


@pytest.mark.parametrize('layout', [
    # One package, the whole repository, whose folder has another name: Universal Robots.
    ('Repository/urdf/arm.urdf.xacro', ('maker_description', 'urdf/arm_macro.xacro'),
     ('maker_description', 'config/sizes.yaml'), {'maker_description': 'Repository'}),
    # A package for each arm and one for all that they share, side by side: ABB, FANUC, KUKA.
    ('src/maker/arm_support/urdf/arm.xacro', ('arm_support', 'urdf/arm_macro.xacro'),
     ('maker_resources', 'sizes.yaml'),
     {'arm_support': 'src/maker/arm_support', 'maker_resources': 'src/maker/maker_resources'}),
    # The shared one in another repository of the workspace.
    ('src/maker/arm_support/urdf/arm.xacro', ('arm_support', 'urdf/arm_macro.xacro'),
     ('tools', 'config/sizes.yaml'),
     {'arm_support': 'src/maker/arm_support', 'tools': 'src/others/tools-2.1'}),
], ids=['one', 'beside', 'elsewhere'])
def test_packages_of_a_xacro_file_are_found_without_ros(tmp_path, monkeypatch, layout):
    pytest.importorskip('xacro', reason='xacro is not installed')
    for name in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH'):
        monkeypatch.delenv(name, raising=False)
    path = packages(tmp_path, *layout)
    root = urdf_root(path)
    assert root.find('joint').find('origin').get('xyz') == '0.5 0 0'
    assert len(root.findall('link')) == 3
    # An empty value is a value.
    assert len(urdf_root(path, {'tool': ''}).findall('link')) == 2


def test_a_package_that_is_nowhere_is_named_with_the_variable_that_finds_it(tmp_path, monkeypatch):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = packages(tmp_path, 'a/urdf/arm.xacro', ('a', 'urdf/m.xacro'), ('b', 's.yaml'),
                    {'a': 'a', 'b': 'far/away/from/here/b'})
    with pytest.raises(ArmError, match=r'needs the package "b".*; set ROS_PACKAGE_PATH'):
        urdf_root(path)
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(tmp_path / 'far/away/from/here'))
    assert len(urdf_root(path).findall('link')) == 3


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_a_base_that_floats_is_fixed_with_a_word(tmp_path, kind):
    path = write(tmp_path, robot(
        link('world'), link('base'), link('a'), joint('root', 'world', 'base', kind),
        joint('j', 'base', 'a')))
    with pytest.warns(ArmWarning, match=f'the {kind} joint "root" is fixed at zero') as told:
        assert load_arm(path).joint_names == ('j',)
    assert len(told) == 1
