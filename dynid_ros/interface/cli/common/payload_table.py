"""A load as a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dynid_ros.applications.export.payload_messages import (
    flow_yaml,
    franka_request,
    ur_inertia_request,
    ur_request,
    urdf_fragment,
    urscript,
)
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.model.friction_curve import INTERVAL


def payload_lines(found: Payload, where: str) -> Iterator[str]:
    """Lines for users."""
    yield f'{found.model.arm.name}: load from {_rows(found)}; ± is half of a 95 % interval'
    mass, std = found.masses[found.method]
    if found.present:
        yield from _body_lines(found, where)
    elif found.trustworthy:
        yield f'no payload: {mass:.3f} ± {INTERVAL * std:.3f} kg'
    # An interval that is wider than the mass agrees with any load.
    others = [f'{value:.3f} ± {INTERVAL * its_std:.3f} kg from {method}'
              for method, (value, its_std) in found.masses.items()
              if method != found.method and found.present and INTERVAL * its_std < mass]
    if others:
        yield f'for comparison: mass {", ".join(others)}'
    yield from _joint_lines(found)
    yield from found.remarks
    if not found.trustworthy:
        yield 'verdict: NOT trustworthy'
        yield from (f'  - {finding.sentence}' for finding in found.findings)
    elif found.ready:
        yield ''
        yield from message_lines(found)
    elif found.present:
        yield 'nothing to send: this motion does not determine mass and centre'


def _rows(found: Payload) -> str:
    if found.method == 'rests':
        both = found.rests.both_directions
        names = [name for name, known in zip(
            found.model.arm.joint_names, both, strict=True) if not known]
        missing = '' if not names else f', {", ".join(names)} from one direction only'
        return f'{len(found.rests.q)} rests{missing}'
    return f'{found.samples} rows of motion'


def _body_lines(found: Payload, where: str) -> Iterator[str]:
    body = found.body
    yield f'frame: {where}, fixed to the link of {found.carrier}'
    known = body.from_data
    yield f'  mass                {_value(body.mass, body.mass_std, "kg", 3)}'
    for axis, value, std, own in zip(
            'xyz', body.center, body.center_std, known[1:4], strict=True):
        yield f'  centre of mass {axis}    ' + _value(1e3 * value, 1e3 * std, 'mm', 1, own)
    rows, columns = np.triu_indices(3)
    for i, j, own in zip(rows, columns, known[4:], strict=True):
        label = f'I{"xyz"[i]}{"xyz"[j]}'
        yield f'  {label} about centre    ' + _value(
            body.inertia[i, j], body.inertia_std[i, j], 'kg m²', 5, own)


def _value(value: float, std: float, unit: str, digits: int, known: bool = True) -> str:
    text = f'{value:10.{digits}f} ± {INTERVAL * std:.{digits}f} {unit}'
    return text if known else f'{text} (not determined)'


def _joint_lines(found: Payload) -> Iterator[str]:
    names, evidence = found.model.arm.joint_names, found.evidence
    width = max(map(len, (*names, 'joint')))
    yield f'  {"torque error":<{width}}  {"without":>9}  {"with load":>9}'
    units = torque_units(found.model.arm)
    for name, unit, before, after in zip(
            names, units, evidence.before, evidence.after, strict=True):
        yield f'  {name:<{width}}  {before:9.4g}  {after:9.4g} {unit}'


def message_lines(found: Payload) -> Iterator[str]:
    """List what the interfaces of the makers and a URDF take."""
    body = found.body
    yield 'ready to send, if this frame is the flange of the maker:'
    yield f'URScript: {urscript(body)}'
    yield ('ur_msgs/srv/SetPayload, without inertia before version 3: '
           f'{flow_yaml(ur_request(body))}')
    yield f'ur_msgs/srv/SetPayload since version 3: {flow_yaml(ur_inertia_request(body))}'
    yield f'franka_msgs/srv/SetLoad: {flow_yaml(franka_request(body))}'
    yield 'franka_msgs/SetLoad of ROS 1: ' + flow_yaml(franka_request(body, 'F_x_center_load'))
    yield 'URDF (the parent link is the one of that frame):'
    yield urdf_fragment(body, 'tool0')
