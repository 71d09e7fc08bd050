"""
The whole chain on a simulated arm, with real nodes.

Design a motion, run it on a simulated arm with all four nodes as processes of their own, record
it, identify the arm while it moves and again from the recording, and write a report. It needs no
ROS 2.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import add_json, answer, seed

if TYPE_CHECKING:
    from dynid_ros.interface.demo.comparison import Comparison


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'arm', nargs='?', default='panda', metavar='ARM',
        help='a shipped arm, or the path of an arm.yaml (default: %(default)s)')
    parser.add_argument(
        '-o', '--output', type=Path, default=Path('demo'), metavar='PATH',
        help='output folder, which must not exist yet (default: %(default)s)')
    parser.add_argument(
        '--seed', type=seed, default=0, help='of motion and noise (default: %(default)s)')
    parser.add_argument(
        '--real-time', action='store_true',
        help='move the arm in real time; without it, as fast as all nodes can follow')
    parser.add_argument(
        '--view', action='store_true',
        help='show it on a live page, whose address is printed, and in a browser if there is a '
             'screen')
    add_json(parser)


def run(args: Namespace) -> int:
    """Run the demonstration, and print its results."""
    start = perf_counter()
    from dynid_ros.data.files.bag_writer import check_absent
    from dynid_ros.interface.demo.processes import own_domain

    check_absent(args.output)
    with own_domain():
        from dynid_ros.interface.demo.course import demonstrate
        from dynid_ros.interface.demo.view import View

        args.output.mkdir(parents=True)
        found = demonstrate(
            args.arm, args.output, args.seed, View(), args.real_time, args.view)
    seconds = perf_counter() - start
    page = args.output / 'result' / 'report.html'
    answer(args, {**asdict(found), 'seconds': seconds, 'folder': str(args.output)},
           [*_table(found), f'{seconds:.0f} s; open {page} in a browser'])
    return 0 if found.batch.trustworthy and found.online.trustworthy else 1


def _table(found: Comparison) -> list[str]:
    rows = [
        ('torque error on samples not yet used', 'torque_error_percent', '.2f', ' %'),
        ('condition number', 'condition_number', '.0f', '  '),
        (f'error of {found.parameters} base parameters', 'off_percent', '.2f', ' %'),
        ('the same in their standard deviations, rms', 'off_in_std', '.2f', '  ')]
    lines = [f'{"":44}{"while it moved":>16}{"from the bag":>16}']
    for title, name, form, unit in rows:
        values = (format(getattr(each, name), form) + unit for each in (found.online, found.batch))
        lines.append(f'{title:44}' + ''.join(f'{value:>16}' for value in values))
    return [*lines, f'the two sets of parameters differ by {found.apart_percent:.2f} %']
