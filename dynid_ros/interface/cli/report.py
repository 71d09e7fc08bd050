# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Write the HTML report of a result again.

Write report.html from the files of dynid identify.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from dynid_ros.interface.answers.answer import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of dynid identify')


def run(args: Namespace) -> Answer:
    """Write the report."""
    from dynid_ros.applications.rollout.rollout import kept_rollouts
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.answers.model import result_answer
    from dynid_ros.pages.report.page import write_report
    from dynid_ros.utilities.atomic_write import check_output

    page = args.result / 'report.html'
    check_output(page)
    result = read_result(args.result)
    rollouts = kept_rollouts(result)
    write_report(result, page, rollouts)
    return replace(result_answer(result, [page], rollouts), status=0)
