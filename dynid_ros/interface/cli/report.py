"""
Write the HTML report of a result again.

Write report.html from the files of dynid identify.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of dynid identify')


def run(args: Namespace) -> int:
    """Write the report."""
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.pages.report.page import write_report

    page = args.result / 'report.html'
    write_report(read_result(args.result), page)
    print(f'wrote {page}')
    return 0
