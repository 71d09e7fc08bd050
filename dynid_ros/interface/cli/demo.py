# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The complete chain on a simulated arm, with real nodes.

Design a motion, run it on a simulated arm with all four nodes as processes of their own, record
it, identify the arm while it moves and again from the recording, and write a report. It needs no
ROS 2.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
import shutil
from time import perf_counter

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, given

#: What the folder of a demonstration holds.
HOLDS = ('excitation.yaml', 'logs', 'online', 'recordings', 'result')


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'interface.demo.course.demonstrate', {
        'arm': '[ARM]', 'seed': '--seed', 'real_time': '--real-time', 'page': '--view'})
    parser.add_argument(
        '-o', '--output', type=Path, default=Path('demo'), metavar='PATH',
        help='output folder (default: %(default)s)')


def run(args: Namespace) -> Answer:
    """Run the demonstration."""
    start = perf_counter()
    from dynid_ros.interface.answers.demo import demo_answer
    from dynid_ros.interface.demo.processes import own_domain
    from dynid_ros.utilities.atomic_write import check_output

    check_output(args.output, holding=HOLDS)
    with own_domain():
        from dynid_ros.interface.demo.course import demonstrate

        shutil.rmtree(args.output, ignore_errors=True)
        args.output.mkdir(parents=True)
        found = demonstrate(folder=args.output, **given(args))
    return demo_answer(found, args.arm, args.output, perf_counter() - start)
