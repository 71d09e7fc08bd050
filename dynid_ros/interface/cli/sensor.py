# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Estimate load, biases and orientation of a force-torque sensor at the wrist.

Estimate mass, centre of mass and inertia of what hangs behind the sensor, its six biases with
their drift, and by how much it is turned from its frame, from a bag with joint states and
geometry_msgs/WrenchStamped in which the sensor turns. Status 1 if the estimate is not trustworthy.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_described,
    add_output,
    ARM_AND_READING,
    given,
    READING,
)
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import plain, sentence, within

if TYPE_CHECKING:
    from dynid_ros.applications.sensor.estimate import WristSensor


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'wrist_sensor', {
        'recording': 'BAG', **ARM_AND_READING, 'wrench_topic': '--wrench-topic TOPIC',
        'link': '--link JOINT', 'frame': '--frame X Y Z R P Y'})
    parser.add_argument(
        '--compensated', type=Path, metavar='FILE',
        help='.npz to write with the compensated wrenches of BAG, as the node publishes them')
    add_output(parser, 'file for the node wrist_sensor', required=False)


def run(args: Namespace) -> Answer:
    """Estimate, print and write; status 1 if the estimate is not trustworthy."""
    from dynid_ros.applications.sensor.compensation import compensate
    from dynid_ros.applications.sensor.sensor_file import sensor_as_dict, write_sensor
    from dynid_ros.arm.load import load_arm
    from dynid_ros.data.files.wrench_reader import read_wrenches
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.interface.python.applications import wrist_sensor
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    wrote = [path for path in (args.output, args.compensated) if path is not None]
    check_output(*wrote)
    arm = load_arm(args.arm)
    recording = read_wrenches(
        args.recording, arm, wrench_topic=args.wrench_topic, **given(args, READING))
    found = wrist_sensor(arm, recording, link=args.link, frame=args.frame)
    if args.output is not None:
        write_sensor(found, args.output)
    if args.compensated is not None:
        write_whole(args.compensated, npz_bytes(**compensate(found, recording)._asdict()))
    return Answer(sensor_as_dict(found), found.headline, int(not found.trustworthy),
                  _table(found), _notes(found), wrote=wrote)


def _table(found: WristSensor) -> list[list[str]]:
    """Load, biases and orientation with 95 % intervals."""
    from dynid_ros.applications.sensor.findings import COMPONENTS, UNITS
    from dynid_ros.estimation.estimate.covariance import INTERVAL
    from dynid_ros.interface.cli.common.payload_table import body_rows

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
