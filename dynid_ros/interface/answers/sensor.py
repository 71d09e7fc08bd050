# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for a force-torque sensor at the wrist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dynid_ros.applications.sensor.estimate import WristSensor
from dynid_ros.applications.sensor.findings import COMPONENTS, UNITS
from dynid_ros.applications.sensor.sensor_file import sensor_as_dict
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.answers.payload import body_rows
from dynid_ros.utilities.text import plain, sentence, within


def sensor_answer(found: WristSensor, wrote: Sequence[Path] = ()) -> Answer:
    """State load, biases and orientation; status 1 if they are not trustworthy."""
    return Answer(sensor_as_dict(found), found.headline, int(not found.trustworthy),
                  _table(found), _notes(found), wrote=wrote)


def _table(found: WristSensor) -> list[list[str]]:
    """Load, biases and orientation with 95 % intervals."""
    rows = [['', 'value', '95 %', 'drift a minute'], *body_rows(found.body)]
    drift = [within(value, INTERVAL * std, unit)
             for value, std, unit in zip(*found.drift, UNITS, strict=True)]
    rows += [[f'bias {name}', *_split(value, INTERVAL * std, unit), each]
             for name, value, std, unit, each in zip(
                 COMPONENTS, *found.bias, UNITS, drift, strict=True)]
    rows += [[f'turned about {axis}', *_split(value, INTERVAL * std, '°')]
             for axis, value, std in zip('xyz', *found.turn, strict=True)]
    return rows


def _split(value: float, half: float, unit: str) -> list[str]:
    """Return a value, and half of its interval with the unit."""
    return within(value, half, unit).split(' ', 1)


def _notes(found: WristSensor) -> Iterator[str]:
    yield from (sentence(each.sentence) for each in found.findings[1:])
    felt = 'what the load exerts on it' if found.felt else 'what moves the load'
    yield (f'Values hold in the frame of {found.frame or "the sensor"}, as it is stated on the '
           f'link of {found.arm.tree.link_names[found.joint]}; the sensor measures {felt}.')
    yield (f'Biases are those in the middle of the recording of {plain(found.seconds)} s; a part '
           f'that was not fitted is predicted to {plain(found.held_out**0.5, 2)} times what its '
           'error bars and the residual let expect.')
    yield from map(sentence, found.remarks)
