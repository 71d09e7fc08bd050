# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A load as others take it, read back by other programs."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation
import yaml

from dynid_ros.applications.export.payload_messages import (
    flow_yaml,
    franka_desk,
    franka_request,
    kuka_load,
    libfranka,
    ur_flat_request,
    ur_inertia_request,
    ur_request,
    urdf_fragment,
    urscript,
)
from dynid_ros.applications.payload.body import LoadBody
from dynid_ros.arm.parameters import inertial_from_com

INERTIA = np.array([[0.02, 1e-5, -0.002], [1e-5, 0.03, 0.004], [-0.002, 0.004, 0.015]])
BODY = LoadBody(inertial_from_com(2.0, [0.02, -0.03, 0.08], INERTIA), np.eye(10), np.ones(10))


def test_urscript_takes_the_diagonal_before_the_products_about_the_centre():
    text = urscript(BODY)
    assert text.startswith('set_target_payload(2.0, [0.02, -0.03, 0.08], ')
    assert text.endswith(', transition_time=1.0)')
    given = yaml.safe_load(text[text.index(', [', 30) + 2:text.index(', transition')])
    np.testing.assert_allclose(given, [0.02, 0.03, 0.015, 1e-5, -0.002, 0.004], atol=1e-9)


def test_requests_are_yaml_that_reads_back_as_they_are():
    for request in (ur_request(BODY), ur_inertia_request(BODY), franka_request(BODY)):
        assert yaml.safe_load(flow_yaml(request)) == request


def test_franka_takes_the_inertia_column_by_column():
    request = franka_request(BODY)
    columns = np.array(request['load_inertia']).reshape(3, 3, order='F')
    np.testing.assert_allclose(columns, INERTIA, atol=1e-9)
    assert request['center_of_mass'] == [0.02, -0.03, 0.08]
    assert 'F_x_center_load' in franka_request(BODY, 'F_x_center_load')


def test_requests_of_the_drivers_have_the_fields_of_today():
    # ur_msgs 2.5 (humble-devel) and 3.0 (rolling-devel), SetPayload.srv.
    flat, new = ur_flat_request(BODY), ur_inertia_request(BODY)
    assert list(flat) == ['mass', 'center_of_gravity', 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz',
                          'transition_time']
    assert flat['transition_time'] == new['transition_time'] == {'sec': 1, 'nanosec': 0}
    assert new['payload']['com'] == flat['center_of_gravity']
    assert [flat[name] for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')] == [
        new['payload'][name] for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')]


def test_libfranka_and_desk_take_the_same_load():
    numbers = [float(x) for x in re.findall(r'-?\d[\d.e-]*', libfranka(BODY))]
    assert numbers[:4] == [2.0, 0.02, -0.03, 0.08]
    np.testing.assert_allclose(np.reshape(numbers[4:], (3, 3), order='F'), INERTIA, atol=1e-9)
    assert libfranka(BODY).count('{{') == 2
    assert 'mass 2.0; centre of mass from the flange 0.02, -0.03, 0.08' in franka_desk(BODY)


@pytest.mark.parametrize('inertia', [
    INERTIA, np.diag([0.03, 0.01, 0.02]), 0.01 * np.eye(3),
    np.array([[0.02, 0.009, 0.0], [0.009, 0.02, 0.0], [0.0, 0.0, 0.03]])])
def test_kukas_block_is_the_same_inertia_about_turned_axes(inertia):
    body = LoadBody(
        inertial_from_com(2.0, [0.02, -0.03, 0.08], inertia), np.eye(10), np.ones(10))
    text = kuka_load(body, 3)
    value = {key: float(number) for key, number in re.findall(
        r'([A-Z]) (-?[\d.e-]+)', text.partition('J')[0])}
    moments = [float(x) for x in re.findall(r'[XYZ] (-?[\d.e-]+)', text.partition('J')[2])]
    assert text.startswith('LOAD_DATA[3]={M 2.0,CM {X 20.0,Y -30.0,Z 80.0,A ')
    # Turned about Z, the new Y and the new X.
    axes = Rotation.from_euler('ZYX', [value[k] for k in 'ABC'], degrees=True).as_matrix()
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, inertia, atol=1e-7)
    assert max(abs(value[k]) for k in 'ABC') < 91


def test_the_urdf_fragment_is_the_same_body_for_pinocchio():
    parts = ET.fromstring(f'<robot name="r"><link name="tool0"/>{urdf_fragment(BODY)}'
                          '</robot>')
    # A fixed root has no inertia of its own; a joint that turns shows that of the load.
    parts[2].set('type', 'continuous')
    model = pinocchio.buildModelFromXML(ET.tostring(parts, encoding='unicode'))
    body = model.inertias[1]
    assert body.mass == 2.0
    np.testing.assert_allclose(body.lever, [0.02, -0.03, 0.08])
    np.testing.assert_allclose(body.inertia, INERTIA, atol=1e-9)
