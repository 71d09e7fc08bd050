"""Xacro files and files that are no URDF."""

import pytest
from urdf_files import joint, link, robot, write, XACRO, xacro_file

from dynid_ros.arm.description.urdf import read_urdf
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


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_a_base_that_floats_is_fixed_with_a_word(tmp_path, kind):
    path = write(tmp_path, robot(
        link('world'), link('base'), link('a'), joint('root', 'world', 'base', kind),
        joint('j', 'base', 'a')))
    with pytest.warns(ArmWarning, match=f'the {kind} joint "root" is fixed at zero'):
        assert read_urdf(path).tree.joint_names == ('j',)
