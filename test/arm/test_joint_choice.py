"""The arm among grippers, heads and second arms of a robot."""

import numpy as np
import pytest
from urdf_files import chain, joint, link, robot, write

from dynid_ros.arm.description.joint_choice import chain_to, main_chain, tips
from dynid_ros.arm.description.urdf import read_urdf
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import ArmError, ArmWarning

LIMIT = '<limit lower="-2" upper="3" velocity="4" effort="5"/>'


def joints_of(tmp_path, *parts):
    return read_urdf_xml(write(tmp_path, robot(link('base'), *parts))).joints


def names(prefix, count):
    return tuple(f'{prefix}{i}' for i in range(1, count + 1))


def test_longest_chain_is_the_arm_and_the_head_stays(tmp_path):
    known = joints_of(tmp_path, *chain('head', 'base', 2), *chain('arm', 'base', 7))
    assert main_chain(known) == names('arm', 7)
    assert tips(known) == ('head_link2', 'arm_link7')


def test_of_two_equal_arms_the_first_is_taken_and_the_other_can_be_named(tmp_path):
    known = joints_of(tmp_path, *chain('left', 'base', 6), *chain('right', 'base', 6))
    assert main_chain(known) == names('left', 6)
    assert chain_to(known, 'right_link6', tmp_path) == names('right', 6)


def test_torso_belongs_to_the_arm_that_it_carries(tmp_path):
    known = joints_of(tmp_path, *chain('torso', 'base', 2), *chain('arm', 'torso_link2', 6),
                      *chain('head', 'torso_link2', 2))
    assert main_chain(known) == names('torso', 2) + names('arm', 6)


def test_hand_with_fingers_does_not_belong_to_the_arm(tmp_path):
    fingers = [part for i in range(3) for part in chain(f'finger{i}_', 'arm_link6', 3)]
    known = joints_of(tmp_path, *chain('arm', 'base', 6), *fingers)
    assert main_chain(known) == names('arm', 6)


def test_gripper_whose_second_finger_mimics_the_first_does_not_belong_to_the_arm(tmp_path):
    known = joints_of(
        tmp_path, *chain('arm', 'base', 6), link('f1'), link('f2'),
        joint('finger', 'arm_link6', 'f1', 'prismatic'),
        joint('follower', 'arm_link6', 'f2', 'prismatic', extra=LIMIT + '<mimic joint="finger"/>'))
    assert main_chain(known) == names('arm', 6)


def test_legs_of_a_base_are_chains_of_their_own(tmp_path):
    legs = [part for side in 'ab' for part in chain(side, 'base', 3)]
    assert main_chain(joints_of(tmp_path, *legs)) == names('a', 3)


def test_fixed_joints_between_are_passed(tmp_path):
    known = joints_of(
        tmp_path, link('flange'), link('tool'), *chain('arm', 'base', 2),
        joint('weld', 'arm_link2', 'flange', 'fixed'), *chain('wrist', 'flange', 1),
        joint('mount', 'wrist_link1', 'tool', 'fixed'))
    assert main_chain(known) == ('arm1', 'arm2', 'wrist1')
    assert chain_to(known, 'tool', tmp_path) == ('arm1', 'arm2', 'wrist1')


def test_a_link_that_is_not_there_or_not_moved_is_an_error(tmp_path):
    known = joints_of(tmp_path, *chain('arm', 'base', 2), link('foot'),
                      joint('weld', 'base', 'foot', 'fixed'))
    with pytest.raises(ArmError, match='did you mean "arm_link2"'):
        chain_to(known, 'arm_link3', tmp_path / 'r.urdf')
    with pytest.raises(ArmError, match=r'no joint of .* moves the link "foot"'):
        chain_to(known, 'foot', tmp_path / 'r.urdf')


def test_a_bare_urdf_with_a_head_says_which_joints_it_takes(tmp_path):
    parts = *chain('head', 'base', 1), *chain('arm', 'base', 2)
    path = write(tmp_path, robot(link('base'), *parts))
    with pytest.warns(ArmWarning, match='the arm is arm1, arm2, and 1 more joints stay locked'):
        arm = load_arm(path)
    assert arm.joint_names == ('arm1', 'arm2')


@pytest.mark.filterwarnings('error')
def test_a_bare_urdf_of_one_chain_with_plausible_limits_loads_without_a_word(tmp_path):
    assert load_arm(write(tmp_path, robot(link('base'), *chain('arm', 'base', 3)))).n == 3


def test_links_and_joints_of_one_name_are_told_apart(tmp_path):
    path = write(tmp_path, robot(
        link('base'), link('hip', np.random.default_rng(0)), link('knee'),
        joint('hip', 'base', 'hip'), joint('knee', 'hip', 'knee')))
    assert read_urdf(path, ('hip',)).tree.joint_names == ('hip',)
