# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Fill in the effort of a motion, by an identified model.

Write a trajectory_msgs/msg/JointTrajectory whose points hold the torque that the motion takes,
friction included. A controller that adds it to its feedback follows more closely.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'feedforward', {
        'motion': 'MOTION', 'model': '--model', 'rate_hz': '--rate HZ'})
    add_output(parser, 'the trajectory to write (.yaml)')


def run(args: Namespace) -> Answer:
    """Write the trajectory; status 1 if the model is not trustworthy."""
    from dynid_ros.interface.answers.motions import feedforward_answer
    from dynid_ros.interface.python.boundary import as_model
    from dynid_ros.interface.python.motions import feedforward
    from dynid_ros.utilities.atomic_write import check_output

    check_output(args.output)
    model = as_model(args.model)
    filled = feedforward(**given(args) | {'model': model, 'out': args.output})
    return feedforward_answer(filled, model, args.output)
