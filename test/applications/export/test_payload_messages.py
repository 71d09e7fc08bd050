# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A load as others take it, read back by other programs."""

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio
import yaml

from dynid_ros.applications.export.payload_messages import (
    flow_yaml,
    franka_request,
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
    given = yaml.safe_load(text[text.index(', [', 30) + 2:-1])
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
