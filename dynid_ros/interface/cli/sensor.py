# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Estimate load, biases and orientation of a force-torque sensor at the wrist.

Estimate mass, centre of mass and inertia of what hangs behind the sensor, its six biases with
their drift, and by how much it is turned from its frame, from a bag with joint states and
geometry_msgs/WrenchStamped in which the sensor turns. Status 1 if the estimate is not trustworthy.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given, READING


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
    from dynid_ros.applications.sensor.sensor_file import write_sensor
    from dynid_ros.arm.load import load_arm
    from dynid_ros.data.files.wrench_reader import read_wrenches
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.interface.answers.sensor import sensor_answer
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
    return sensor_answer(found, wrote)
