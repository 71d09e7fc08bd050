"""``dynid report``: the HTML page of a result."""

from __future__ import annotations

import argparse
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        'report', help='write the HTML report of a result again',
        description='Write report.html from the files of dynid identify.')
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of dynid identify')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the report."""
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.pages.report.page import write_report

    page = args.result / 'report.html'
    write_report(read_result(args.result), page)
    print(f'wrote {page}')
    return 0
