# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Fill in the effort of a motion, by an identified model.

Write a trajectory_msgs/msg/JointTrajectory whose points hold the torque that the motion takes,
friction included. A controller that adds it to its feedback follows more closely.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.cli.common.arguments import add_described, add_output, given
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'feedforward', {
        'motion': 'MOTION', 'model': '--model', 'rate_hz': '--rate HZ'})
    add_output(parser, 'the trajectory to write (.yaml)')


def run(args: Namespace) -> Answer:
    """Write the trajectory; status 1 if the model is not trustworthy."""
    import numpy as np

    from dynid_ros.arm.parameters import torque_units
    from dynid_ros.estimation.model.verdict_words import headline
    from dynid_ros.interface.python.boundary import as_model
    from dynid_ros.interface.python.motions import feedforward
    from dynid_ros.motion.execution.feed_forward import extrapolation
    from dynid_ros.utilities.atomic_write import check_output
    from dynid_ros.utilities.text import plain, sentence

    check_output(args.output)
    model = as_model(args.model)
    filled = feedforward(**given(args) | {'model': model, 'out': args.output})
    assert filled.effort is not None
    units = dict(zip(model.arm.joint_names, torque_units(model.arm), strict=True))
    keys = ('name', 'unit', 'least', 'largest', 'rms')
    joints = list(zip(
        filled.joint_names, map(units.__getitem__, filled.joint_names), filled.effort.min(axis=0),
        filled.effort.max(axis=0), np.sqrt(np.mean(filled.effort**2, axis=0)), strict=True))
    remarks, good = extrapolation(model, filled), model.verdict.trustworthy
    facts = {
        'file': args.output, 'points': len(filled.t), 'seconds': filled.t[-1],
        'joints': [dict(zip(keys, own, strict=True)) for own in joints],
        'extrapolation': remarks, 'trustworthy': good}
    return Answer(
        facts, f'{len(filled.t)} points in {filled.t[-1]:.3g} s have their effort'
        + (', by a model that is not trustworthy.' if not good else
           ', partly extrapolated.' if remarks else ', within the range of the recording.'),
        int(not good), [['joint', *keys[2:]], *(
            [name, *(plain(value, 3, unit) for value in values)]
            for name, unit, *values in joints)],
        [*([] if good else [headline(model)]),
         *(sentence(f'extrapolation: {remark}') for remark in remarks)], wrote=[args.output])
