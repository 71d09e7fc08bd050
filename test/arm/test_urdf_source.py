"""Xacro files and files that are no URDF."""

import pytest
from test_urdf import joint, link, robot, write

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.urdf import read_urdf
from dynid_ros.arm.urdf_source import urdf_root
from dynid_ros.errors import ArmError, ArmWarning

XACRO = ('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
         '<xacro:arg name="reach" default="1.0"/>'
         '<link name="base"/><link name="a"/>'
         '<joint name="j" type="revolute"><parent link="base"/><child link="a"/>'
         '<origin xyz="$(arg reach) 0 0"/><axis xyz="0 0 1"/>'
         '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>')


def xacro_file(folder, content=XACRO):
    path = folder / 'arm.urdf.xacro'
    path.write_text(content)
    return path


def test_a_xacro_file_is_expanded(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path)
    assert load_arm(path).translation[0].tolist() == [1, 0, 0]
    root = urdf_root(path, {'reach': '0.25'})
    assert root.find('joint').find('origin').get('xyz') == '0.25 0 0'


def test_a_xacro_file_that_cannot_be_expanded_is_one_clear_error(tmp_path):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path, XACRO.replace('default="1.0"', ''))
    with pytest.raises(ArmError, match=r'xacro cannot expand .*reach.*NAME:=VALUE') as caught:
        load_arm(path)
    assert '\n' not in str(caught.value)


def test_sdf_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / 'arm.sdf'
    path.write_text('<sdf version="1.9"><model name="m"/></sdf>')
    with pytest.raises(ArmError, match='is an SDF, which this version does not read; give the URDF'):
        load_arm(path)


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_a_base_that_floats_is_fixed_with_a_word(tmp_path, kind):
    path = write(tmp_path, robot(
        link('world'), link('base'), link('a'), joint('root', 'world', 'base', kind),
        joint('j', 'base', 'a')))
    with pytest.warns(ArmWarning, match=f'the {kind} joint "root" is fixed at zero'):
        assert read_urdf(path).tree.joint_names == ('j',)
