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
from typing import Any

from dynid_ros.interface.cli.common.arguments import add_described, given
from dynid_ros.interface.cli.common.output import Answer

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
    from dynid_ros.estimation.model.verdict_words import headline
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.demo.processes import own_domain
    from dynid_ros.utilities.atomic_write import check_output

    check_output(args.output, holding=HOLDS)
    with own_domain():
        from dynid_ros.interface.demo.course import demonstrate

        shutil.rmtree(args.output, ignore_errors=True)
        args.output.mkdir(parents=True)
        found = demonstrate(folder=args.output, **given(args))
    seconds = perf_counter() - start
    trusted, own_arm = found['online']['trustworthy'], Path(args.arm).exists()
    own = args.arm if own_arm else 'my_arm'
    online, batch = (headline(read_result(args.output / name)) for name in ('online', 'result'))
    return Answer(
        {**found, 'seconds': seconds, 'folder': args.output}, batch,
        int(not (trusted and found['batch']['trustworthy'])), _table(found), notes=[
            *([] if trusted else [
                'While it moved, not trustworthy: ' + online.partition(': ')[2]]),
            f'The two sets of parameters differ by {found["apart_percent"]:.2f} %.',
            f'The demonstration took {seconds:.0f} s; open '
            f'{args.output / "result" / "report.html"} in a browser.'],
        then=[
            'Next, with your own robot:',
            *([] if own_arm else [
                '  dynid init my_robot.urdf -o my_arm      # lists what only you know']),
            f'  dynid design {own} -o excitation.yaml  # a motion within all limits',
            f'  dynid identify recording/ --arm {own} -o result'])


def _table(found: dict[str, Any]) -> list[list[str]]:
    rows = [
        ('torque error on samples not yet used', 'torque_error_percent', '.2f', ' %'),
        ('condition number', 'condition_number', '.0f', ''),
        (f'error of {found["parameters"]} base parameters', 'off_percent', '.2f', ' %'),
        ('the same in standard deviations, rms', 'off_in_std', '.2f', '')]
    return [['', 'while it moved', 'from the bag'], *(
        [title, *(format(found[each][name], form) + unit for each in ('online', 'batch'))]
        for title, name, form, unit in rows)]
