# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A load as the makers' interfaces, a URDF and JSON take it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import yaml

from dynid_ros.applications.payload.body import INERTIA_FIELDS, LoadBody
from dynid_ros.applications.payload.estimate import Payload

#: Significant digits; error bars are far above them.
PAYLOAD_DIGITS, DECIMALS = 6, 9
#: Time over which a controller of Universal Robots applies a load, s: gravity would jump
#: otherwise.
TRANSITION_SECONDS = 1


def urscript(body: LoadBody) -> str:
    """
    Make the call of URScript of controllers since 5.10.

    Universal Robots, Script manual, set_target_payload: mass in kg, centre in m from the tool
    mount, Ixx, Iyy, Izz, Ixy, Ixz, Iyz in kg m² about the centre along the axes of the tool
    flange, and the time of the transition, s.
    """
    mass, *center, xx, xy, xz, yy, yz, zz = _rounded(body)
    inertia = flow_yaml([xx, yy, zz, xy, xz, yz])
    return (f'set_target_payload({mass}, {flow_yaml(center)}, {inertia}, '
            f'transition_time={float(TRANSITION_SECONDS)})')


def ur_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload before version 2.5, which has no inertia."""
    mass, x, y, z, *_ = _rounded(body)
    return {'mass': mass, 'center_of_gravity': {'x': x, 'y': y, 'z': z}}


def ur_flat_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload since version 2.5, up to ROS 2 Kilted."""
    xx, xy, xz, yy, yz, zz = _rounded(body)[4:]
    return {**ur_request(body), 'ixx': xx, 'iyy': yy, 'izz': zz, 'ixy': xy, 'ixz': xz, 'iyz': yz,
            'transition_time': {'sec': TRANSITION_SECONDS, 'nanosec': 0}}


def inertia_message(body: LoadBody) -> dict[str, Any]:
    """Make a geometry_msgs/Inertia: mass, centre, and inertia about the centre."""
    mass, x, y, z, *inertia = _rounded(body)
    return {'m': mass, 'com': {'x': x, 'y': y, 'z': z},
            **dict(zip(list(INERTIA_FIELDS)[4:], inertia, strict=True))}


def ur_inertia_request(body: LoadBody) -> dict[str, Any]:
    """Make the request of ur_msgs/srv/SetPayload since version 3, of ROS 2 Lyrical and later."""
    return {'payload': inertia_message(body),
            'transition_time': {'sec': TRANSITION_SECONDS, 'nanosec': 0}}


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
    mass, x, y, z, *_ = _rounded(body)
    return {'mass': mass, center: [x, y, z], 'load_inertia': _column_by_column(body)}


def libfranka(body: LoadBody) -> str:
    """Make the call of libfranka: kg, m in the flange frame, kg m² column by column."""
    mass, x, y, z, *_ = _rounded(body)
    inertia = ', '.join(map(str, _column_by_column(body)))
    return f'robot.setLoad({mass}, {{{{{x}, {y}, {z}}}}}, {{{{{inertia}}}}});'


def franka_desk(body: LoadBody) -> str:
    """List what the form of an end effector in Desk takes, in kg, m and kg m²."""
    mass, x, y, z, *_ = _rounded(body)
    rows = np.reshape(_column_by_column(body), (3, 3)).tolist()
    return f'mass {mass}; centre of mass from the flange {x}, {y}, {z}; inertia {rows}'


def kuka_load(body: LoadBody, number: int = 1) -> str:
    """
    Make the block of KUKA's load data, as it stands in ``$CONFIG.DAT``.

    M in kg; X, Y, Z of the centre in mm in the flange frame, and A, B, C of the principal axes in
    degrees, turned about Z, then the new Y, then the new X; J about these axes in kg m².
    """
    from scipy.spatial.transform import Rotation

    values, axes = np.linalg.eigh(body.inertia)
    # Each axis by the nearest of the flange, so that small products of inertia turn little.
    order = max(permutations(range(3)), key=lambda chosen: np.abs(
        np.diag(axes[:, list(chosen)])).sum())
    axes = axes[:, list(order)]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    axes[:, 2] *= np.linalg.det(axes)
    angles = Rotation.from_matrix(axes).as_euler('ZYX', degrees=True)
    places = dict(zip('XYZABC', [*(1e3 * body.center), *angles], strict=True))
    moments = dict(zip('XYZ', values[list(order)], strict=True))
    center, about = (','.join(f'{name} {_short(value)}' for name, value in given.items())
                     for given in (places, moments))
    return f'LOAD_DATA[{number}]={{M {_short(body.mass)},CM {{{center}}},J {{{about}}}}}'


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
    return [_short(value) for value in body.fields.tolist()]


def _short(value: float) -> float:
    # Drop digits of the solver's rounding, which no controller resolves.
    return round(float(f'{value:.{PAYLOAD_DIGITS}g}'), DECIMALS) + 0.0


def _column_by_column(body: LoadBody) -> list[float]:
    xx, xy, xz, yy, yz, zz = _rounded(body)[4:]
    return [xx, xy, xz, xy, yy, yz, xz, yz, zz]


def payload_as_dict(found: Payload) -> dict[str, Any]:
    """Return all facts of a load, for JSON."""
    body, names = found.body, found.model.arm.joint_names
    evidence, change = found.evidence, found.change
    return {
        'arm': found.model.arm.name, 'link': found.link, 'sources': found.sources,
        'method': found.method,
        'rows': found.samples, 'rests': len(found.rests.q), 'present': found.present,
        'trustworthy': found.trustworthy,
        'frame': {'joint': found.carrier, 'translation': found.frame.translation,
                  'rotation': found.frame.rotation},
        'masses': {method: {'value': value, 'std': std}
                   for method, (value, std) in {
                       **found.masses, found.method: found.mass}.items()},
        **body.as_dict(),
        'joints': [
            {'name': name, 'error_without': before, 'error_with': after}
            for name, before, after in zip(names, evidence.before, evidence.after, strict=True)],
        'change': change and {**vars(change), 'matters': change.matters},
        'findings': found.findings, 'remarks': found.remarks,
        'known': None if found.free is None else {
            'mass': found.known.mass, 'center_of_mass': found.known.center,
            'without': found.free.as_dict(), 'gain': _gain(found)},
        'repeats': [vars(each) for each in found.repeats],
        'messages': None if not found.ready else {
            'urscript': urscript(body), 'ur_set_payload': ur_request(body),
            'ur_set_payload_2_5': ur_flat_request(body),
            'ur_set_payload_3': ur_inertia_request(body), 'franka_set_load': franka_request(body),
            'libfranka': libfranka(body), 'franka_desk': franka_desk(body),
            'kuka': kuka_load(body),
            'inertia': inertia_message(body), 'urdf': urdf_fragment(body)},
    }


def _gain(found: Payload) -> dict[str, Any] | None:
    """State how far the known values shrink the intervals of the others."""
    if found.gain is None:
        return None
    what, unit, before, after = found.gain
    return {'of': what, 'unit': unit, 'interval_without': before, 'interval_with': after,
            'factor': before / after}
