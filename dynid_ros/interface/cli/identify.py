"""
Identify an arm from recordings.

Identify the dynamic parameters of an arm from bags, tables and other recordings, with error bars,
held-out validation and a report.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_friction,
    add_output,
    add_reading,
    cutoff,
    friction_choice,
    read_recording,
    share,
)
from dynid_ros.interface.cli.common.output import add_answer, shown_progress

if TYPE_CHECKING:
    from dynid_ros.data.recordings.recording import Recording


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recordings', nargs='+', type=Path, metavar='BAG')
    add_arm(parser)
    add_output(parser, 'folder for result.yaml and report.html')
    add_friction(parser)
    parser.add_argument(
        '--holdout', type=share, metavar='SHARE',
        help='share at the end of each recording that is held out for validation (default: 0.33, '
             'and nothing of a recording of less than 6 s)')
    parser.add_argument(
        '--validate', action='append', default=[], type=Path, metavar='BAG',
        help='validate on this recording instead; may be given several times')
    parser.add_argument(
        '--cutoff', type=cutoff, metavar='HZ',
        help='cut-off of the low-pass filters (default: that of arm.yaml, else from the data)')
    parser.add_argument(
        '--method', choices=('differentiated', 'filtered', 'power'), default='differentiated',
        help='fit torque with accelerations, or torque or power after a first-order filter '
             'without them (default: %(default)s)')
    parser.add_argument(
        '--joint-offsets', action='store_true',
        help='estimate the zero of each joint too, and report which ones are identifiable')
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Identify, write the result and the report, and print a summary."""
    start = perf_counter()
    from dynid_ros.arm import load_arm
    from dynid_ros.estimation.identification.identify import identify
    from dynid_ros.estimation.result_files.result_file import RESULT, result_contents
    from dynid_ros.interface.cli.common.summary import show_result
    from dynid_ros.pages.report.page import report_page
    from dynid_ros.utilities.atomic_write import check_output, write_together

    arm = load_arm(args.arm)
    if args.cutoff is not None:
        arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=args.cutoff))
    page = args.output / 'report.html'
    check_output(args.output / RESULT, page)
    check_apart(args.recordings, args.validate)
    seconds = []

    def read(path: Path) -> Recording:
        # One by one during preparation, so that the raw samples of a long one are released before
        # its rows are made.
        before = perf_counter()
        recording = read_recording(args, path, arm)
        seconds.append(perf_counter() - before)
        return recording

    with shown_progress():
        result = identify(
            arm, map(read, args.recordings), friction=friction_choice(args),
            holdout=args.holdout, validation=map(read, args.validate), method=args.method,
            joint_offsets=args.joint_offsets)
    timing = {'read': sum(seconds), **result.timing, 'total': perf_counter() - start}
    timing['condition'] -= timing['read']
    result = replace(result, timing=timing)
    write_together({
        **result_contents(result, args.output), page: report_page(result, page)})
    show_result(args, result, [args.output / RESULT, page])
    return 0 if result.verdict.trustworthy else 1


def check_apart(fitted: Sequence[Path], held_out: Sequence[Path]) -> None:
    """Refuse a held-out recording that is also used for fitting."""
    names = [path.resolve() for path in fitted]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'{name} is given twice and would count double; give it once')
    both = set(names) & {path.resolve() for path in held_out}
    if both:
        raise InputError(
            f'{both.pop()} is used for fitting, so it cannot validate; give another recording, or '
            'omit --validate to hold out its last part')
