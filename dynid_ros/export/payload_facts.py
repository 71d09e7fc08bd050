"""A load in plain values under stable keys, SI units."""

from __future__ import annotations

from typing import Any

from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.export.payload_messages import (
    franka_request,
    inertia_message,
    ur_inertia_request,
    ur_request,
    urdf_fragment,
    urscript,
)
from dynid_ros.payload.estimate import Payload


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
            'after': change.after.tolist(), 'statistic': change.statistic,
            'matters': change.matters},
        'findings': [dict(vars(finding)) for finding in found.findings],
        'remarks': list(found.remarks),
        'messages': {
            'urscript': urscript(body), 'ur_set_payload': ur_request(body),
            'ur_set_payload_3': ur_inertia_request(body), 'franka_set_load': franka_request(body),
            'inertia': inertia_message(body), 'urdf': urdf_fragment(body, 'tool0')},
    }
