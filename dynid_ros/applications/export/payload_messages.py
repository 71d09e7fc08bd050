"""A load as the makers' interfaces, a URDF and JSON take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml

from dynid_ros.applications.payload.body import LoadBody
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
    xx, xy, xz, yy, yz, zz = _upper(body)
    center, inertia = (flow_yaml([_round(x) for x in values])
                       for values in (body.center, (xx, yy, zz, xy, xz, yz)))
    return f'set_target_payload({_number(body.mass)}, {center}, {inertia})'


def ur_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload before version 3, which has no inertia."""
    return {'mass': _round(body.mass), 'center_of_gravity': _vector(body.center)}


def inertia_message(body: LoadBody) -> dict[str, Any]:
    """Make a geometry_msgs/Inertia: mass, centre, and inertia about the centre."""
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {'m': _round(body.mass), 'com': _vector(body.center),
            **{name: _round(value) for name, value in zip(names, _upper(body), strict=True)}}


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
    return {'mass': _round(body.mass), center: [_round(x) for x in body.center],
            'load_inertia': [_round(x) for x in body.inertia.T.ravel()]}


def flow_yaml(request: dict[str, Any] | list[float]) -> str:
    """Write a request as ``ros2 service call`` takes it."""
    text: str = yaml.safe_dump(
        request, default_flow_style=True, sort_keys=False, width=float('inf'))
    return text.strip()


def urdf_fragment(body: LoadBody, parent: str) -> str:
    """Make the link of the load and the joint that fixes it to the frame of the result."""
    xx, xy, xz, yy, yz, zz = map(_number, _upper(body))
    center = ' '.join(map(_number, body.center))
    return '\n'.join([
        '<link name="payload">',
        '  <inertial>',
        f'    <origin xyz="{center}" rpy="0 0 0"/>',
        f'    <mass value="{_number(body.mass)}"/>',
        f'    <inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>',
        '  </inertial>',
        '</link>',
        '<joint name="payload_joint" type="fixed">',
        f'  <parent link="{parent}"/>',
        '  <child link="payload"/>',
        '</joint>'])


def _upper(body: LoadBody) -> list[float]:
    return [float(x) for x in body.inertia[np.triu_indices(3)]]


def _vector(values: Any) -> dict[str, float]:
    return {axis: _round(value) for axis, value in zip('xyz', values, strict=True)}


def _round(value: float) -> float:
    return float(f'{value:.{DIGITS}g}')


def _number(value: float) -> str:
    return repr(_round(value))


def payload_as_dict(found: Payload) -> dict[str, Any]:
    """Return all facts of a load, for JSON."""
    body, names = found.body, found.model.arm.joint_names
    evidence, change = found.evidence, found.change
    return {
        'arm': found.model.arm.name, 'sources': list(found.sources), 'method': found.method,
        'rows': found.samples, 'rests': len(found.rests.q), 'present': found.present,
        'trustworthy': found.trustworthy,
        'frame': {'joint': found.carrier, 'translation': found.frame.translation.tolist(),
                  'rotation': found.frame.rotation.tolist()},
        'masses': {method: {'value': value, 'std': std}
                   for method, (value, std) in found.masses.items()},
        'mass': body.mass, 'mass_std': body.mass_std,
        'center_of_mass': body.center.tolist(), 'center_of_mass_std': body.center_std.tolist(),
        'inertia': body.inertia.tolist(), 'inertia_std': body.inertia_std.tolist(),
        'parameters': dict(zip(INERTIAL, body.parameters.tolist(), strict=True)),
        'std': dict(zip(INERTIAL, body.std.tolist(), strict=True)),
        'from_data': [name for name, own in zip(INERTIAL, body.from_data, strict=True) if own],
        'joints': [
            {'name': name, 'error_without': before, 'error_with': after}
            for name, before, after in zip(
                names, evidence.before.tolist(), evidence.after.tolist(), strict=True)],
        'change': None if change is None else {
            'source': change.source, 't': change.t, 'before': change.before.tolist(),
            'after': change.after.tolist(), 'chance': change.chance,
            'matters': change.matters},
        'findings': [dict(vars(finding)) for finding in found.findings],
        'remarks': list(found.remarks),
        'messages': None if not found.ready else {
            'urscript': urscript(body), 'ur_set_payload': ur_request(body),
            'ur_set_payload_3': ur_inertia_request(body), 'franka_set_load': franka_request(body),
            'inertia': inertia_message(body), 'urdf': urdf_fragment(body, 'tool0')},
    }
