# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Links in the files of two makers, placed as their xacro macros place them."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
import yaml

from dynid_ros.applications.export.maker_tables import maker_table
from dynid_ros.applications.export.urdf import urdf_of
from dynid_ros.arm import load_arm
from dynid_ros.errors import ArmError

UR = ('shoulder', 'upper_arm', 'forearm', 'wrist_1', 'wrist_2', 'wrist_3')
UR_FILE = {
    'offsets': {'shoulder_offset': 0.220941},
    'inertia_parameters': {
        'base_mass': 4.0, **{f'{name}_mass': 1.0 for name in UR},
        'links': {'base': {'radius': 0.075, 'length': 0.038}},
        'center_of_mass': {f'{name}_cog': {'x': 0, 'y': 0, 'z': 0} for name in UR},
        'rotation': {name: {'roll': 1.57, 'pitch': 0, 'yaw': 0} for name in UR},
        'tensor': {name: {'ixx': 1.0} for name in UR}}}
FRANKA_FILE = {f'link{k}': {
    'origin': {'xyz': '0 0 0', 'rpy': '0 0 1'}, 'mass': 1.0, 'inertia': {'xx': 1.0}}
    for k in range(9)}


def stored(folder, content):
    path = folder / 'links.yaml'
    path.write_text(yaml.safe_dump(content))
    return path


def ur_body(content, name):
    own = content['inertia_parameters']
    center, turn = own['center_of_mass'][f'{name}_cog'], own['rotation'][name]
    return body(own[f'{name}_mass'], [center[k] for k in 'xyz'],
                [turn[k] for k in ('roll', 'pitch', 'yaw')], own['tensor'][name], 'i')


def franka_body(content, name):
    link = content[name]
    origin = [np.array(link['origin'][k].split(), dtype=float) for k in ('xyz', 'rpy')]
    return body(link['mass'], *origin, link['inertia'], '')


def body(mass, center, rpy, entries, prefix):
    tensor = np.array([[entries[prefix + ''.join(sorted(a + b))] for b in 'xyz'] for a in 'xyz'])
    turn = pinocchio.rpy.rpyToMatrix(*map(float, rpy))
    return pinocchio.Inertia(mass, np.array(center, dtype=float), turn @ tensor @ turn.T)


@pytest.mark.parametrize(('name', 'file', 'read', 'links'), [
    ('ur10', UR_FILE, ur_body, UR),
    ('panda', FRANKA_FILE, franka_body, [f'link{k}' for k in range(1, 8)]),
])
def test_links_are_those_of_the_urdf_and_the_rest_stays(name, file, read, links, tmp_path):
    arm = load_arm(name)
    written = yaml.safe_load(maker_table(arm, stored(tmp_path, file)))
    model = pinocchio.buildModelFromXML(urdf_of(arm))
    for joint, link in zip(arm.joint_names, links, strict=True):
        expected = model.inertias[model.getJointId(joint)]
        np.testing.assert_allclose(
            read(written, link).matrix(), expected.matrix(), rtol=1e-9, atol=1e-12)
    if name == 'ur10':
        assert written['offsets'] == file['offsets']
        assert written['inertia_parameters']['links'] == file['inertia_parameters']['links']
    else:
        assert written['link0'] == file['link0'] and written['link8'] == file['link8']


def test_a_calibrated_arm_on_a_turned_base_is_the_makers(tmp_path):
    arm = load_arm('ur10')
    rotation = arm.rotation.copy()
    rotation[0] = pinocchio.rpy.rpyToMatrix(0.0, 0.0, np.pi) @ rotation[0]
    rotation[3] = pinocchio.rpy.rpyToMatrix(0.004, -0.003, 0.002) @ rotation[3]
    assert maker_table(arm.with_tree(rotation=rotation), stored(tmp_path, UR_FILE))


@pytest.mark.parametrize(('name', 'file', 'words'), [
    ('panda', UR_FILE, 'of an arm of 6 joints'),
    ('tx40', UR_FILE, "other frames than 'tx40', the first at joint"),
    ('ur10', {'links': {}}, 'neither'),
    ('ur10', ['a'], 'neither'),
])
def test_other_files_and_arms_are_refused_with_the_difference(name, file, words, tmp_path):
    arm = load_arm(name)
    if arm.inertial is None:
        arm = replace(arm, inertial=np.tile([1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1], (arm.n, 1)))
    with pytest.raises(ArmError, match=words) as raised:
        maker_table(arm, stored(tmp_path, file))
    assert 'links.yaml' in str(raised.value)
