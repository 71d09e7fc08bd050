# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Report the defects of a recording.

Check the stamps, names and values of a recording for defects, and the delay, unit and gains of the
drive signals against it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'read_recording', {'path': 'BAG', **ARM_AND_READING})


def run(args: Namespace) -> Answer:
    """Find the defects; status 1 if one of them spoils an identification."""
    from dynid_ros.arm import load_arm
    from dynid_ros.interface.answers.recording import check_answer
    from dynid_ros.interface.python.identification import check_recording, read_recording

    arm = load_arm(args.arm)
    recording = read_recording(**given(args) | {'arm': arm})
    return check_answer(recording, arm, check_recording(recording, arm))
