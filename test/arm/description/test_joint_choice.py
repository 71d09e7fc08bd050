# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arm among grippers, heads and second arms of a robot."""

import numpy as np
import pytest
from urdf_files import chain, joint, link, robot, write

from dynid_ros.arm.description.joint_choice import chain_lengths, chain_to, guess_arm
from dynid_ros.arm.description.tree import Follower
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
    assert guess_arm(known) == (names('arm', 7), (), ())
    assert chain_lengths(known) == {'head_link2': 2, 'arm_link7': 7}


def test_of_two_equal_arms_the_first_is_taken_and_the_other_can_be_named(tmp_path):
    known = joints_of(tmp_path, *chain('left', 'base', 6), *chain('right', 'base', 6))
    assert guess_arm(known).joints == names('left', 6)
    assert chain_lengths(known) == {'left_link6': 6, 'right_link6': 6}
    assert chain_to(known, 'right_link6', tmp_path) == names('right', 6)


def test_torso_that_carries_arm_and_head_does_not_belong_to_the_arm(tmp_path):
    known = joints_of(tmp_path, *chain('torso', 'base', 2), *chain('arm', 'torso_link2', 6),
                      *chain('head', 'torso_link2', 2))
    assert guess_arm(known) == (names('arm', 6), names('torso', 2), ())
    assert guess_arm(known).note.endswith('torso1, torso2 of a torso or base')


@pytest.mark.parametrize(('kinds', 'arm', 'base'), [
    # A lift or a rail under an arm of six, and a base that drives and turns under one of seven.
    ('prrrrrr', slice(1, 7), slice(0, 1)), ('pprrrrrrrr', slice(3, 10), slice(0, 3)),
    # Bases that turn first.
    ('rprrrrrrr', slice(2, 9), slice(0, 2)), ('rprrrrrrrr', slice(3, 10), slice(0, 3)),
    ('rpprrrrrrr', slice(3, 10), slice(0, 3)),
    # A gantry under an arm of six; a SCARA with its lift first; a gantry alone.
    ('ppprrrrrr', slice(3, 9), slice(0, 3)), ('prrr', slice(0, 4), slice(0, 0)),
    # An arm that is a telescope on a lift.
    ('ppp', slice(0, 3), slice(0, 0)), ('ppppprrr', slice(0, 8), slice(0, 0))])
def test_what_slides_under_an_arm_does_not_belong_to_it(tmp_path, kinds, arm, base):
    every = names('j', len(kinds))
    parts, parent = [], 'base'
    for name, kind in zip(every, kinds, strict=True):
        parts += [link(f'{name}_link'), joint(
            name, parent, f'{name}_link', 'prismatic' if kind == 'p' else 'revolute')]
        parent = f'{name}_link'
    assert guess_arm(joints_of(tmp_path, *parts)) == (every[arm], every[base], ())


@pytest.mark.parametrize(('name', 'moved', 'kind'), [
    ('gripper', 'jaw', 'revolute'), ('joint7', 'moving_finger', 'revolute'),
    ('slide', 'pusher', 'prismatic')])
def test_gripper_of_one_joint_does_not_belong_to_the_arm(tmp_path, name, moved, kind):
    known = joints_of(tmp_path, *chain('arm', 'base', 6), link(moved),
                      joint(name, 'arm_link6', moved, kind))
    assert guess_arm(known) == (names('arm', 6), (), (name,))


def test_a_finger_alone_is_an_arm(tmp_path):
    assert guess_arm(joints_of(tmp_path, *chain('finger', 'base', 3))).joints == names('finger', 3)


def test_hand_with_fingers_does_not_belong_to_the_arm(tmp_path):
    fingers = [part for i in range(3) for part in chain(f'finger{i}_', 'arm_link6', 3)]
    known = joints_of(tmp_path, *chain('arm', 'base', 6), *fingers)
    assert guess_arm(known).joints == names('arm', 6)
    assert chain_lengths(known) == {'arm_link6': 6}


def test_gripper_whose_second_finger_mimics_the_first_does_not_belong_to_the_arm(tmp_path):
    known = joints_of(
        tmp_path, *chain('arm', 'base', 6), link('f1'), link('f2'),
        joint('finger', 'arm_link6', 'f1', 'prismatic'),
        joint('follower', 'arm_link6', 'f2', 'prismatic', extra=LIMIT + '<mimic joint="finger"/>'))
    assert guess_arm(known).joints == names('arm', 6)


@pytest.mark.parametrize('chosen', [(), ('j1', 'j2', 'j3')])
def test_a_joint_that_follows_another_one_inside_the_arm_moves_with_it(tmp_path, chosen):
    parts = [joint('j1', 'base', 'a'), joint('j2', 'a', 'b'),
             joint('lever', 'b', 'c', extra=LIMIT + '<mimic joint="j2" multiplier="-1"/>'),
             joint('j3', 'c', 'd')]
    path = write(tmp_path, robot(link('base'), *map(link, 'abcd'), *parts))
    tree = read_urdf(path, chosen).tree
    assert tree.link_names == ('j1', 'j2', 'j3', 'lever')
    assert tree.followers == (Follower('lever', 1, -1.0, 0.0),)
    assert tree.parent.tolist() == [-1, 0, 3, 1]
    # Where its leader does not move, neither does the lever.
    for still in (read_urdf(path, ('j1',)), read_urdf(path, ('j1', 'j3'), {'j2': 0.5})):
        assert not still.tree.followers


def test_a_joint_that_follows_a_follower_follows_its_leader(tmp_path):
    parts = [joint('j1', 'base', 'a'),
             joint('x', 'a', 'b', extra=LIMIT + '<mimic joint="j1" multiplier="2" offset="0.5"/>'),
             joint('y', 'b', 'c', extra=LIMIT + '<mimic joint="x" multiplier="-3" offset="0.1"/>'),
             joint('j2', 'c', 'd')]
    tree = read_urdf(write(tmp_path, robot(link('base'), *map(link, 'abcd'), *parts))).tree
    assert tree.followers[1] == Follower('y', 0, -6.0, pytest.approx(-1.4))


def test_joints_that_follow_each_other_are_an_error(tmp_path):
    parts = [joint('j1', 'base', 'a'),
             joint('x', 'a', 'b', extra=LIMIT + '<mimic joint="y"/>'),
             joint('y', 'b', 'c', extra=LIMIT + '<mimic joint="x"/>')]
    with pytest.raises(ArmError, match=r'"x" .* follows itself through others'):
        read_urdf(write(tmp_path, robot(link('base'), *map(link, 'abc'), *parts)))


def test_legs_of_a_base_are_chains_of_their_own(tmp_path):
    legs = [part for side in 'ab' for part in chain(side, 'base', 3)]
    assert guess_arm(joints_of(tmp_path, *legs)).joints == names('a', 3)


def test_fixed_joints_between_are_passed(tmp_path):
    known = joints_of(
        tmp_path, link('flange'), link('tool'), *chain('arm', 'base', 2),
        joint('weld', 'arm_link2', 'flange', 'fixed'), *chain('wrist', 'flange', 1),
        joint('mount', 'wrist_link1', 'tool', 'fixed'))
    assert guess_arm(known).joints == ('arm1', 'arm2', 'wrist1')
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
