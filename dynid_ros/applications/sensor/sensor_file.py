# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A sensor as a file that the node reads, and as facts for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.applications.sensor.estimate import WristSensor
from dynid_ros.applications.sensor.findings import COMPONENTS, UNITS
from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.data.files.plain_values import (
    arm_from_plain,
    arm_to_plain,
    field_hints,
    from_plain,
    to_plain,
)
from dynid_ros.data.files.sidecar import sidecar_text
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.utilities.atomic_write import read_whole, write_whole

FORMAT = 1
#: Fields beside the arm, with their types.
FIELDS = {name: hint for name, hint in field_hints(WristSensor).items() if name != 'arm'}


def sensor_as_dict(found: WristSensor) -> dict[str, Any]:
    """Return the facts of a sensor under stable keys, for JSON."""
    six = {name: dict(zip(COMPONENTS, ({'value': value, 'interval': INTERVAL * std, 'unit': unit}
                                       for value, std, unit in zip(*given, units, strict=True)),
                          strict=True))
           for name, given, units in (
               ('bias', found.bias, UNITS),
               ('drift', found.drift, [f'{unit}/min' for unit in UNITS]))}
    turn, turn_std = found.turn
    return {
        'arm': found.arm.name, 'source': found.source, 'frame': found.frame,
        'link': found.arm.tree.link_names[found.joint],
        'placement': {'translation': found.place.translation, 'rotation': found.place.rotation},
        'seconds': found.seconds, 'rows': found.samples, 'trustworthy': found.trustworthy,
        **found.body.as_dict(), **six,
        'measures': 'what the load exerts on it' if found.felt else 'what moves the load',
        'turn_degrees': turn, 'turn_interval_degrees': INTERVAL * turn_std,
        'residual': dict(zip(COMPONENTS, found.fit.sigma, strict=True)),
        'held_out': found.held_out, 'findings': found.findings, 'remarks': found.remarks}


def write_sensor(found: WristSensor, path: Path) -> None:
    """
    Write a sensor, with the arm and all that the node needs.

    Raises
    ------
    ResultError
        The file cannot be written.

    """
    write_whole(path, sidecar_text({
        'written': 'by dynid_ros', 'format': FORMAT, 'arm': arm_to_plain(found.arm), **{
            name: to_plain(getattr(found, name)) for name in FIELDS}}))


def read_sensor(path: Path) -> WristSensor:
    """
    Read a sensor.

    Raises
    ------
    InputError
        The file is none of `write_sensor`.

    """
    try:
        content = parse_yaml(read_whole(path))
        if not isinstance(content, dict) or content.get('format') != FORMAT:
            raise ValueError('it is not of this version')
        found = WristSensor(arm=arm_from_plain(content.get('arm')), **{
            name: from_plain(content.get(name), hint, name)
            for name, hint in FIELDS.items()})
    except (OSError, YamlError, ValueError) as error:
        raise InputError(f'{path} cannot be read: {error}; give the file that "dynid sensor -o" '
                         'wrote') from error
    shapes = {'values': (25,), 'covariance': (25, 25), 'rotation': (3, 3), 'sigma': (6,)}
    if not 0 <= found.joint < found.arm.links or any(
            getattr(found.fit, name).shape != shape
            or not np.isfinite(getattr(found.fit, name)).all() for name, shape in shapes.items()):
        raise InputError(f'{path} holds numbers that no sensor has; write it again')
    return found
