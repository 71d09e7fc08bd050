# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""URDF reading against Pinocchio's own model of the same file."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import link_poses, pinocchio_model
import pinocchio as pin
import pytest
from urdf_files import joint, link, robot, text, write

from dynid_ros.arm.description.urdf import read_urdf
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import ArmError

seeds = st.integers(0, 2**32 - 1)
KINDS = ('revolute', 'prismatic', 'continuous', 'fixed')


def random_urdf(rng, n=8):
    parts = [link('l0', rng)]
    for i in range(1, n + 1):
        axis = rng.choice(['1 0 0', '0 1 0', '0 0 -1', '0 0 1', text(rng.normal(size=3))])
        xyz, rpy = rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)
        place = f'<origin xyz="{text(xyz)}" rpy="{text(rpy)}"/>'
        kind = 'revolute' if i == 1 else str(rng.choice(KINDS))
        parts += [link(f'l{i}', rng),
                  joint(f'j{i}', f'l{rng.integers(0, i)}', f'l{i}', kind, axis, place)]
    return robot(*parts)


def configuration(model, names, q):
    """Pinocchio's configuration, with (cos, sin) for a continuous joint."""
    result = pin.neutral(model)
    for name, value in zip(names, q, strict=True):
        body = model.joints[model.getJointId(name)]
        result[body.idx_q:body.idx_q + body.nq] = (
            value if body.nq == 1 else [np.cos(value), np.sin(value)])
    return result


def velocity(model, names, qd):
    result = np.zeros(model.nv)
    for name, value in zip(names, qd, strict=True):
        result[model.joints[model.getJointId(name)].idx_v] = value
    return result


@settings(max_examples=60)
@given(seeds)
def test_link_frames_equal_pinocchios_on_random_trees(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    content = random_urdf(rng)
    tree = read_urdf(write(tmp_path_factory.getbasetemp(), content)).tree
    model = pin.buildModelFromXML(content)
    data = model.createData()
    q = rng.uniform(-2, 2, len(tree.joint_names))
    pin.forwardKinematics(model, data, configuration(model, tree.joint_names, q))
    for name, pose in zip(tree.joint_names, link_poses(tree, q), strict=True):
        # Eight transforms of order one, rounded once each.
        np.testing.assert_allclose(
            pose.homogeneous, data.oMi[model.getJointId(name)].homogeneous, rtol=0, atol=1e-13)


@settings(max_examples=60)
@given(seeds)
def test_torques_of_the_arm_read_equal_pinocchios_on_random_trees(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    content = random_urdf(rng)
    path = write(tmp_path_factory.getbasetemp(), content)
    (path.parent / 'arm.yaml').write_text('description: {urdf: arm.urdf}\n')
    arm = load_arm(path.parent)
    model, ours = pin.buildModelFromXML(content), pinocchio_model(arm)
    q, qd, qdd = rng.uniform(-2, 2, (3, arm.n))
    names = arm.joint_names
    theirs = pin.rnea(
        model, model.createData(), configuration(model, names, q), velocity(model, names, qd),
        velocity(model, names, qdd))
    rows = [model.joints[model.getJointId(name)].idx_v for name in names]
    tau = pin.rnea(ours, ours.createData(), q, qd, qdd)
    # Torques reach thousands, each a sum of some hundred rounded products.
    np.testing.assert_allclose(tau, theirs[rows], rtol=1e-10, atol=1e-9)


def test_locking_joints_equals_holding_them_still(tmp_path):
    rng = np.random.default_rng(5)
    content = robot(*(link(f'l{i}', rng) for i in range(5)),
                    *(joint(f'j{i}', f'l{i - 1}', f'l{i}', axis=axis)
                      for i, axis in enumerate(['0 0 1', '0 1 0', '1 0 0', '0 1 1'], start=1)))
    path = write(tmp_path, content)
    (tmp_path / 'arm.yaml').write_text(
        'description: {urdf: arm.urdf}\njoints: [j1, j4]\nlocked: {j2: 0.7}\n')
    arm = load_arm(tmp_path)
    assert arm.joint_names == ('j1', 'j4')
    whole, part = pin.buildModelFromUrdf(str(path)), pinocchio_model(arm)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2))
    full = [np.array([v[0], held, 0.0, v[1]]) for v, held in ((q, 0.7), (qd, 0.0), (qdd, 0.0))]
    expected = pin.rnea(whole, whole.createData(), *full)[[0, 3]]
    tau = pin.rnea(part, part.createData(), q, qd, qdd)
    # Pinocchio merges the locked links, which rounds once more.
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12)


def test_joints_come_in_the_order_asked_for(tmp_path):
    rng = np.random.default_rng(6)
    path = write(tmp_path, robot(
        link('l0', rng), link('a', rng), link('b', rng), link('c', rng), joint('ja', 'l0', 'a'),
        joint('jb', 'l0', 'b', axis='1 0 0'), joint('jc', 'b', 'c', 'prismatic', '0 1 0')))
    tree = read_urdf(path, ('jb', 'jc', 'ja')).tree
    assert tree.joint_names == ('jb', 'jc', 'ja')
    assert tree.parent.tolist() == [-1, 0, -1]
    assert tree.prismatic.tolist() == [False, True, False]
    np.testing.assert_array_equal(tree.axis, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ArmError, match='"jc" comes before its parent "jb"'):
        read_urdf(path, ('jc', 'jb', 'ja'))


def test_limits_are_those_of_the_file_and_infinite_where_it_knows_none(tmp_path):
    zeros = '<limit lower="0" upper="0" velocity="0" effort="0"/>'
    path = write(tmp_path, robot(
        *(link(f'l{i}') for i in range(5)), joint('j1', 'l0', 'l1'),
        joint('j2', 'l1', 'l2', 'continuous'), joint('j3', 'l2', 'l3', extra=zeros),
        joint('j4', 'l3', 'l4', 'prismatic', extra='')))
    limits = read_urdf(path).limits
    inf = np.inf
    np.testing.assert_array_equal(limits.lower, [-2, -inf, -inf, -inf])
    np.testing.assert_array_equal(limits.upper, [3, inf, inf, inf])
    np.testing.assert_array_equal(limits.velocity, [4, 4, inf, inf])
    np.testing.assert_array_equal(limits.effort, [5, 5, inf, inf])
    np.testing.assert_array_equal(limits.acceleration, [inf] * 4)


def test_a_mimic_joint_is_locked_unless_asked_for(tmp_path):
    rng = np.random.default_rng(7)
    follows = '<mimic joint="j1" multiplier="2" offset="0.5"/>'
    path = write(tmp_path, robot(
        link('a', rng), link('b', rng), link('c', rng), link('d', rng), joint('j1', 'a', 'b'),
        joint('j2', 'b', 'c', 'prismatic', '1 0 0', extra=follows), joint('j3', 'c', 'd')))
    tree = read_urdf(path, ('j1', 'j3'), {'j2': 0.5}).tree
    assert tree.joint_names == ('j1', 'j3')
    np.testing.assert_allclose(tree.translation[1], [0.5, 0, 0])
    assert read_urdf(path, ('j1', 'j2')).tree.joint_names == ('j1', 'j2')
    # With its leader locked at 0.25 it stands at 2 * 0.25 + 0.5.
    held = read_urdf(path, ('j3',), {'j1': 0.0, 'j2': 0.1}), read_urdf(path, ('j3',), {'j1': 0.25})
    np.testing.assert_allclose([read.tree.translation[0, 0] for read in held], [0.1, np.cos(0.25)])


def test_inertia_is_unknown_only_where_no_link_has_any(tmp_path):
    bare = robot(link('a'), link('b'), link('c'), joint('j', 'a', 'b'), joint('k', 'b', 'c'))
    assert read_urdf(write(tmp_path, bare)).inertial is None
    some = bare.replace(link('c'), link('c', np.random.default_rng(1), mass=2.0))
    inertial = read_urdf(write(tmp_path, some)).inertial
    assert inertial[:, 0].tolist() == [0.0, 2.0]


def test_good_input_is_silent(tmp_path, capfd):
    load_arm(write(tmp_path, robot(
        link('a', np.random.default_rng(0)), link('b', np.random.default_rng(1)),
        joint('j', 'a', 'b'))))
    assert capfd.readouterr() == ('', '')


L, J = link, joint
BAD = {
    'not XML': ('hello', 'is not XML: .* line 1'),
    'empty': ('', 'is not XML: no element found'),
    'another XML': ('<svg/>', 'first element is <svg>, not <robot>'),
    'bomb': ('<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
             '<robot name="&b;"/>', 'has a DOCTYPE, .* remove it'),
    'external': ('<!DOCTYPE r SYSTEM "http://nowhere.invalid/r.dtd"><robot/>', 'has a DOCTYPE'),
    'no links': (robot(), 'has no links'),
    'no joint': (robot(L('a')), 'no moving joint'),
    'all fixed': (robot(L('a'), L('b'), J('j', 'a', 'b', 'fixed')), 'no moving joint'),
    'cycle': (robot(L('a'), L('b'), J('j', 'a', 'b'), J('k', 'b', 'a')),
              'form a cycle: a, b'),
    'cycle aside': (robot(L('z'), L('y'), L('a'), L('b'), J('i', 'z', 'y'), J('j', 'a', 'b'),
                          J('k', 'b', 'a')), 'form a cycle'),
    'itself': (robot(L('a'), J('j', 'a', 'a')), 'form a cycle: a'),
    'loop': (robot(L('a'), L('b'), L('c'), J('j', 'a', 'c'), J('k', 'b', 'c')),
             'link "c" .* has two parent joints, "j" and "k"'),
    'two roots': (robot(L('a'), L('b'), L('c'), L('d'), J('j', 'a', 'b'), J('k', 'c', 'd')),
                  'is not one tree: links a, c have no parent joint'),
    'no such link': (robot(L('a'), J('j', 'a', 'b')), 'joint "j" .* refers to link "b"'),
    'no child': (robot(L('a'), '<joint name="j" type="fixed"><parent link="a"/></joint>'),
                 'joint "j" .* has no <child'),
    'two alike': (robot(L('a'), L('b'), L('c'), J('j', 'a', 'b'), J('j', 'b', 'c')),
                  'two joints named "j"'),
    'no name': (robot('<link/>'), 'a <link> .* has no name'),
    'unknown type': (robot(L('a'), L('b'), J('j', 'a', 'b', 'hinge')), 'is of type "hinge"'),
    'no axis': (robot(L('a'), L('b'), J('j', 'a', 'b', axis='0 0 0')), 'axis of joint "j"'),
    'axis of words': (robot(L('a'), L('b'), J('j', 'a', 'b', axis='0 0 up')),
                      '<axis xyz="0 0 up"> of joint "j"'),
    'limit of words': (robot(L('a'), L('b'), J('j', 'a', 'b', extra='<limit lower="low"/>')),
                       '<limit lower="low"> of joint "j" .* must hold a number'),
    'turned limits': (robot(L('a'), L('b'),
                            J('j', 'a', 'b', extra='<limit lower="2" upper="1"/>')),
                      'lower limit 2 of joint "j" .* above the upper one 1'),
}


@pytest.mark.parametrize('case', BAD)
def test_a_bad_urdf_gives_one_sentence_that_names_the_file(tmp_path, case, capfd):
    content, message = BAD[case]
    with pytest.raises(ArmError, match=message) as caught:
        read_urdf(write(tmp_path, content))
    assert 'arm.urdf' in str(caught.value)
    assert '\n' not in str(caught.value)
    assert capfd.readouterr() == ('', '')


def test_a_bomb_in_another_encoding_is_refused_too(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(BAD['bomb'][0].replace('"1.0"', '"1.0" encoding="utf-16"').encode('utf-16'))
    with pytest.raises(ArmError, match='has a DOCTYPE'):
        read_urdf(path)


@pytest.mark.parametrize(('joints', 'locked', 'message'), [
    (('elbow', 'wirst'), {}, 'has no joint "wirst"; did you mean "wrist"'),
    (('zzz',), {}, 'has no joint "zzz"; it has elbow, wrist'),
    (('elbow',), {'elbw': 0.0}, 'has no joint "elbw"; did you mean "elbow"'),
    (('elbow', 'flange'), {}, 'joint "flange" .* is fixed'),
    (('elbow',), {'elbow': 0.0}, '"elbow" cannot be both'),
    ((), {'elbow': 0.0, 'wrist': 0.0}, 'is left to move'),
])
def test_joints_that_cannot_be_had_are_named(tmp_path, joints, locked, message):
    path = write(tmp_path, robot(
        L('a'), L('b'), L('c'), L('d'), J('elbow', 'a', 'b'), J('wrist', 'b', 'c'),
        J('flange', 'c', 'd', 'fixed')))
    with pytest.raises(ArmError, match=message):
        read_urdf(path, joints, locked)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArmError, match=r'cannot read the URDF .*arm\.urdf: No such file'):
        read_urdf(tmp_path / 'arm.urdf')
