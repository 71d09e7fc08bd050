# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A load as the makers' interfaces, a URDF and JSON take it."""

from __future__ import annotations

from itertools import compress
from typing import Any

import yaml

from dynid_ros.applications.payload.body import FIELDS, LoadBody
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.arm.parameters import INERTIAL

#: Significant digits; error bars are far above them.
DIGITS = 6


def urscript(body: LoadBody) -> str:
    """
    Make the call of URScript: mass, centre, and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre.

    Universal Robots, Script manual, set_target_payload: kg, m from the tool mount, kg m² along
    the axes of the tool flange.
    """
    mass, *center, xx, xy, xz, yy, yz, zz = _rounded(body)
    inertia = flow_yaml([xx, yy, zz, xy, xz, yz])
    return f'set_target_payload({mass}, {flow_yaml(center)}, {inertia})'


def ur_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload before version 3, which has no inertia."""
    mass, x, y, z, *_ = _rounded(body)
    return {'mass': mass, 'center_of_gravity': {'x': x, 'y': y, 'z': z}}


def inertia_message(body: LoadBody) -> dict[str, Any]:
    """Make a geometry_msgs/Inertia: mass, centre, and inertia about the centre."""
    mass, x, y, z, *inertia = _rounded(body)
    return {'m': mass, 'com': {'x': x, 'y': y, 'z': z},
            **dict(zip(list(FIELDS)[4:], inertia, strict=True))}


def ur_inertia_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload since version 3."""
    return {'payload': inertia_message(body), 'transition_time': 0.0}


def franka_request(body: LoadBody, center: str = 'center_of_mass') -> dict[str, Any]:
    """
    Make the request of franka_msgs/srv/SetLoad.

    Parameters
    ----------
    body : LoadBody
        The load.
    center : str
        Name of the centre: ``center_of_mass`` in ROS 2, ``F_x_center_load`` in ROS 1.

    Returns
    -------
    dict
        Inertia about the centre of mass, column by column.

    """
    mass, x, y, z, xx, xy, xz, yy, yz, zz = _rounded(body)
    return {'mass': mass, center: [x, y, z],
            'load_inertia': [xx, xy, xz, xy, yy, yz, xz, yz, zz]}


def flow_yaml(request: dict[str, Any] | list[float]) -> str:
    """Write a request as ``ros2 service call`` takes it."""
    text: str = yaml.safe_dump(
        request, default_flow_style=True, sort_keys=False, width=float('inf'))
    return text.strip()


def urdf_fragment(body: LoadBody) -> str:
    """Make the link of the load and the joint that fixes it to the frame of the result."""
    mass, x, y, z, xx, xy, xz, yy, yz, zz = _rounded(body)
    return f"""\
<link name="payload">
  <inertial>
    <origin xyz="{x} {y} {z}" rpy="0 0 0"/>
    <mass value="{mass}"/>
    <inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>
  </inertial>
</link>
<joint name="payload_joint" type="fixed">
  <parent link="tool0"/>
  <child link="payload"/>
</joint>"""


def _rounded(body: LoadBody) -> list[float]:
    return [float(f'{value:.{DIGITS}g}') for value in body.fields.tolist()]


def payload_as_dict(found: Payload) -> dict[str, Any]:
    """Return all facts of a load, for JSON."""
    body, names = found.body, found.model.arm.joint_names
    evidence, change = found.evidence, found.change
    return {
        'arm': found.model.arm.name, 'sources': found.sources, 'method': found.method,
        'rows': found.samples, 'rests': len(found.rests.q), 'present': found.present,
        'trustworthy': found.trustworthy,
        'frame': {'joint': found.carrier, 'translation': found.frame.translation,
                  'rotation': found.frame.rotation},
        'masses': {method: {'value': value, 'std': std}
                   for method, (value, std) in {
                       **found.masses, found.method: found.mass}.items()},
        'mass': body.mass, 'mass_std': body.mass_std,
        'center_of_mass': body.center, 'center_of_mass_std': body.center_std,
        'inertia': body.inertia, 'inertia_std': body.inertia_std,
        'parameters': dict(zip(INERTIAL, body.parameters, strict=True)),
        'std': dict(zip(INERTIAL, body.std, strict=True)),
        'from_data': list(compress(INERTIAL, body.from_data)),
        'joints': [
            {'name': name, 'error_without': before, 'error_with': after}
            for name, before, after in zip(names, evidence.before, evidence.after, strict=True)],
        'change': change and {**vars(change), 'matters': change.matters},
        'findings': found.findings, 'remarks': found.remarks,
        'messages': None if not found.ready else {
            'urscript': urscript(body), 'ur_set_payload': ur_request(body),
            'ur_set_payload_3': ur_inertia_request(body), 'franka_set_load': franka_request(body),
            'inertia': inertia_message(body), 'urdf': urdf_fragment(body)},
    }
