# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Identify an arm from recordings.

Identify the dynamic parameters of an arm from bags, tables and other recordings, with error bars,
held-out validation and a report.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'identify', {
        'recordings': 'BAG', 'validation': '--validate BAG', **ARM_AND_READING,
        'friction': '--friction TERMS', 'holdout': '--holdout SHARE', 'cutoff_hz': '--cutoff HZ',
        'method': '--method', 'joint_offsets': '--joint-offsets'})
    add_output(parser, 'folder for result.yaml and report.html')


def run(args: Namespace) -> Answer:
    """Identify, and write the result and the report; status 1 if it is not trustworthy."""
    from dynid_ros.estimation.result_files.result_file import RESULT
    from dynid_ros.interface.answers.model import result_answer
    from dynid_ros.interface.python.identification import identify
    from dynid_ros.utilities.atomic_write import check_output

    wrote = [args.output / RESULT, args.output / 'report.html']
    check_output(*wrote)
    result = identify(**given(args))
    result.save(args.output)
    return result_answer(result, wrote, result.kept_rollouts)
