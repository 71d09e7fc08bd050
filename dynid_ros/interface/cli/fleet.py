# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Identify arms from many recordings, and find changes.

Read any number of recordings once, on all processors or on a Dask cluster; fit a model of each arm
and one of all; name changes of load, drifting friction and gains, and bags that do not belong.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.fromfile_prefix_chars = '@'
    parser.add_argument(
        'bags', nargs='+', metavar='FOLDER',
        help='folders of bags, searched with all in them; single bags; URLs that fsspec opens; or '
             '@FILE with one of these a line')
    add_described(parser, 'identify', {'arm': '--arm'})
    add_described(parser, 'applications.fleet.run.run_fleet', {
        'by': '--by PATTERN', 'topic': '--topic', 'received': '--received'})
    add_output(parser, 'folder for models, sidecars and fleet.html')
    parser.add_argument(
        '--scheduler', metavar='ADDRESS',
        help='a Dask scheduler, such as tcp://10.0.0.1:8786 (default: the processors of this '
             'machine)')


def run(args: Namespace) -> Answer:
    """Identify the fleet, and write all results; status 1 if there is something to look at."""
    from dynid_ros.applications.fleet.cluster import cluster
    from dynid_ros.applications.fleet.run import run_fleet
    from dynid_ros.arm import load_arm
    from dynid_ros.interface.answers.fleet import fleet_answer
    from dynid_ros.pages.report.fleet_page import fleet_page
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    arm, bags = load_arm(args.arm), [bag.strip() for bag in args.bags if bag.strip()]
    wrote = [args.output / 'fleet.html']
    check_output(*wrote)
    with cluster(args.scheduler) as spread:
        found = run_fleet(
            given=bags, folder=args.output, spread=spread, **given(args) | {'arm': arm})
    write_whole(wrote[0], fleet_page(found))
    return fleet_answer(found, [*wrote, *found.save(args.output)])
