# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Identify an arm from recordings.

Identify the dynamic parameters of an arm from bags, tables and other recordings, with error bars,
held-out validation and a report.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_friction,
    add_output,
    add_recordings,
    cutoff,
    reading,
    share,
)
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_recordings(parser, 'recordings', 'BAG', None, '--validate',
                   'validate on these recordings instead')
    add_arm(parser)
    add_output(parser, 'folder for result.yaml and report.html')
    add_friction(parser)
    add('--holdout', type=share, metavar='SHARE',
        help='share at the end of each recording that is held out for validation (default: 0.33, '
             'and nothing of a recording of less than 6 s)')
    add('--cutoff', type=cutoff, metavar='HZ',
        help='cut-off of the low-pass filters (default: the one in arm.yaml, else from the data)')
    add('--method', choices=('differentiated', 'filtered', 'power'), default='differentiated',
        help='fit torque with accelerations, or torque or power after a first-order filter '
             'without them (default: %(default)s)')
    add('--joint-offsets', action='store_true',
        help='estimate the zero of each joint too, and report which ones are identifiable')


def run(args: Namespace) -> Answer:
    """Identify, and write the result and the report; status 1 if it is not trustworthy."""
    from dynid_ros.estimation.result_files.result_file import RESULT
    from dynid_ros.interface.cli.common.summary import result_answer
    from dynid_ros.interface.python.identification import identify
    from dynid_ros.utilities.atomic_write import check_output

    wrote = [args.output / RESULT, args.output / 'report.html']
    check_output(*wrote)
    result = identify(
        args.arm, args.recordings, friction=args.friction, holdout=args.holdout,
        validation=args.validate, method=args.method, cutoff_hz=args.cutoff,
        joint_offsets=args.joint_offsets, **reading(args))
    result.save(args.output)
    return result_answer(result, wrote, result.kept_rollouts)
