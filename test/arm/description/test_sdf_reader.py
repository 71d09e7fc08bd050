# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""SDF: poses, axes and inertias against a model that Pinocchio builds joint by joint."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pinocchio
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.errors import ArmError

LINKS = 4
numbers = st.floats(-2, 2).map(lambda value: round(value, 3))


def text(*values):
    return ' '.join(map(repr, map(float, np.concatenate([np.ravel(v) for v in values]))))


def se3(pose):
    return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(np.array(pose[3:])), np.array(pose[:3]))


def pose_text(frame):
    return text(frame.translation, pinocchio.rpy.matrixToRpy(frame.rotation))


poses = st.lists(numbers, min_size=6, max_size=6).map(se3)


@st.composite
def chains(draw):
    """Return an SDF of a chain, written with poses relative to whatever, and Pinocchio's model."""
    version = draw(st.sampled_from(['1.4', '1.6', '1.7', '1.11']))
    named = version in ('1.7', '1.11')
    root, body = draw(poses), []
    frames = {'__model__': pinocchio.SE3.Identity(), 'base': root}
    model, parent = pinocchio.Model(), 0
    body.append(f'<link name="base"><pose>{pose_text(root)}</pose></link>')
    # Pinocchio's root is the frame of the base link, as in a URDF.
    before = root
    for k in range(LINKS):
        link, joint = draw(poses), draw(poses)
        kind = draw(st.sampled_from(['revolute', 'prismatic']))
        mass, moments = draw(st.floats(0.1, 9)), draw(st.lists(numbers, min_size=9, max_size=9))
        center = draw(poses)
        root_of_inertia = np.reshape(moments, (3, 3))
        inertia = root_of_inertia @ root_of_inertia.T + np.eye(3)
        about = draw(st.sampled_from(sorted(frames))) if named else '__model__'
        link_in_model = frames[about] * link
        relative = f' relative_to="{about}"' if about != '__model__' else ''
        entries = ''.join(
            f'<i{a}{b}>{float(inertia[i, j])!r}</i{a}{b}>' for i, a in enumerate('xyz')
            for j, b in enumerate('xyz') if j >= i)
        body.append(
            f'<link name="link{k}"><pose{relative}>{pose_text(link)}</pose>'
            f'<inertial><pose>{pose_text(center)}</pose><mass>{mass}</mass>'
            f'<inertia>{entries}</inertia></inertial></link>')
        joint_in_model = link_in_model * joint
        axis = np.eye(3)[draw(st.integers(0, 2))]
        given = '__model__' if version == '1.4' else ''
        if named and draw(st.booleans()):
            given = draw(st.sampled_from(sorted(frames)))
        expressed = f' expressed_in="{given}"' if given and named else ''
        direction = joint_in_model.rotation.T @ (
            frames[given].rotation if given else joint_in_model.rotation) @ axis
        body.append(
            f'<joint name="joint{k}" type="{kind}"><pose>{pose_text(joint)}</pose>'
            f'<parent>{"base" if k == 0 else f"link{k - 1}"}</parent><child>link{k}</child>'
            f'<axis><xyz{expressed}>{text(axis)}</xyz></axis></joint>')
        make = (pinocchio.JointModelRevoluteUnaligned if kind == 'revolute'
                else pinocchio.JointModelPrismaticUnaligned)
        mount = before.inverse() * joint_in_model
        parent = model.addJoint(parent, make(direction), mount, f'joint{k}')
        at = joint_in_model.inverse() * link_in_model * center
        model.appendBodyToJoint(
            parent, pinocchio.Inertia(mass, np.zeros(3), inertia), at)
        frames |= {f'link{k}': link_in_model, f'joint{k}': joint_in_model}
        before = joint_in_model
    model.gravity.linear = root.rotation.T @ np.array([0.0, 0.0, -9.81])
    return f'<sdf version="{version}"><model name="m">{"".join(body)}</model></sdf>', model


@settings(max_examples=60)
@given(chain=chains(), seed=st.integers(0, 99))
def test_torque_is_that_of_the_model_built_joint_by_joint(tmp_path_factory, chain, seed):
    sdf, truth = chain
    path = tmp_path_factory.mktemp('sdf') / 'arm.sdf'
    path.write_text(sdf)
    read = pinocchio.buildModelFromXML(read_urdf_xml(path).xml)
    read.gravity.linear = truth.gravity.linear
    assert list(read.names) == list(truth.names)
    rng = np.random.default_rng(seed)
    state = rng.uniform(-1, 1, (3, LINKS))
    np.testing.assert_allclose(
        pinocchio.rnea(read, read.createData(), *state),
        pinocchio.rnea(truth, truth.createData(), *state), rtol=1e-9, atol=1e-9)


TWO_LINKS = """<sdf version="1.11"><world name="w"><model name="two">
  <pose>0 0 1 0 0 0</pose>
  <link name="upper"><inertial><mass>2</mass><pose>0 0 -0.2 0 0 0</pose></inertial>
    <collision name="c"><pose>0 0 -0.2 0 0 0</pose><geometry><capsule><radius>0.05</radius>
      <length>0.4</length></capsule></geometry></collision></link>
  <frame name="elbow" attached_to="upper"><pose>0 0 -0.4 0 0 0</pose></frame>
  <link name="lower"><pose relative_to="elbow" degrees="true">0 0 0 90 0 0</pose>
    <inertial><mass>1</mass></inertial>
    <collision name="c"><geometry><mesh><uri>model://two/lower.stl</uri></mesh></geometry>
    </collision></link>
  <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-2</lower><upper>2</upper><effort>30</effort>
      <velocity>4</velocity></limit></axis></joint>
  <joint name="elbow_joint" type="revolute"><parent>upper</parent><child>lower</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort>
      <velocity>-1</velocity></limit></axis></joint>
</model></world></sdf>"""


def test_limits_frames_and_shapes_are_those_of_the_file(tmp_path):
    path = tmp_path / 'two.sdf'
    path.write_text(TWO_LINKS)
    with pytest.warns(match='elbow_joint'):
        arm = load_arm(path)
    assert arm.joint_names == ('shoulder', 'elbow_joint')
    assert (arm.limits.lower[0], arm.limits.upper[0]) == (-2, 2)
    assert (arm.limits.effort[0], arm.limits.velocity[0]) == (30, 4)
    # SDFormat writes no limit as 1e16 and as -1.
    assert not np.isfinite([arm.limits.lower[1], arm.limits.effort[1]]).any()
    root = urdf_root(path)
    elbow = root.find("joint[@name='elbow_joint']/origin")
    np.testing.assert_allclose(list(map(float, elbow.get('xyz').split())), [0, 0, -0.4])
    np.testing.assert_allclose(
        list(map(float, elbow.get('rpy').split())), [np.pi / 2, 0, 0], atol=1e-12)
    shapes = [shape.tag for shape in root.iterfind("link[@name='upper']/collision/geometry/*")]
    assert shapes == ['cylinder', 'sphere', 'sphere']
    assert root.find("link[@name='lower']//mesh").get('filename') == 'model://two/lower.stl'
    # From the world, whose frame the model stands 1 m above.
    shoulder = root.find("joint[@name='shoulder']/origin")
    assert list(map(float, shoulder.get('xyz').split())) == [0, 0, 1]


@pytest.mark.parametrize(('change', 'said'), [
    (('<frame name="elbow" attached_to="upper"><pose>', '<frame name="elbow"><pose '
      'relative_to="lower">'), 'form a cycle: lower -> elbow -> lower'),
    (('relative_to="elbow"', 'relative_to="wrist"'), 'refers to "wrist", which the model'),
    (('<mass>2</mass>', '<mass>two</mass>'), 'the <mass> in .* must be a number, not "two"'),
    (('0 0 0 90 0 0', '0 0 90'), 'pose of "lower" in .* must be 6 numbers, not "0 0 90"'),
    (('</world>', '<model name="table"/></world>'), r'one model, not 2 \(two, table\)'),
    (('<frame', '<include><uri>model://hand</uri></include><frame'), 'holds a further <include>'),
    (('<child>lower</child>', ''), '"elbow_joint" in .* has no <child>'),
    (('<parent>upper</parent>', '<parent>wrist</parent>'), 'refers to link "wrist"'),
    (('type="revolute"><parent>upper', 'type="ball"><parent>upper'), 'is of type "ball"'),
])
def test_unusable_sdf_is_refused_with_file_and_place(tmp_path, change, said):
    path = tmp_path / 'two.sdf'
    assert change[0] in TWO_LINKS
    path.write_text(TWO_LINKS.replace(*change))
    with pytest.raises(ArmError) as caught:
        load_arm(path)
    assert re.search(said, str(caught.value))
    assert str(path) in str(caught.value)
