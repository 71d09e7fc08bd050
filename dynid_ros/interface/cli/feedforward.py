"""
Fill in the effort of a motion, by an identified model.

Write a trajectory_msgs/msg/JointTrajectory whose points hold the torque that the motion takes,
friction included. A controller that adds it to its feedback follows more closely.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import positive
from dynid_ros.interface.cli.common.output import add_answer, answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('motion', type=Path, metavar='MOTION',
                        help='excitation.yaml of dynid design, or a JointTrajectory as YAML with '
                             'positions, velocities and accelerations')
    parser.add_argument('--model', type=Path, metavar='DIR', required=True,
                        help='folder of dynid identify')
    parser.add_argument('-o', '--output', type=Path, metavar='FILE', required=True,
                        help='the trajectory to write (.yaml)')
    parser.add_argument('--rate', type=positive, default=100.0, metavar='HZ',
                        help='points a second, of a motion of dynid design (%(default)g)')
    add_answer(parser)


def run(args: Namespace) -> int:
    """Write the trajectory; status 1 if the model is not trustworthy."""
    import numpy as np

    from dynid_ros.arm.parameters import torque_units
    from dynid_ros.estimation.model.words import headline
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.python.motions import feedforward
    from dynid_ros.motion.execution.feed_forward import extrapolation
    from dynid_ros.utilities.atomic_write import check_output
    from dynid_ros.utilities.text import plain, sentence

    check_output(args.output)
    model = read_result(args.model)
    filled = feedforward(model, args.motion, rate_hz=args.rate, out=args.output)
    assert filled.effort is not None
    units = dict(zip(model.arm.joint_names, torque_units(model.arm), strict=True))
    figures = {name: (float(tau.min()), float(tau.max()), float(np.sqrt(np.mean(tau**2))))
               for name, tau in zip(filled.joint_names, filled.effort.T, strict=True)}
    keys = ('least', 'largest', 'rms')
    remarks, good = extrapolation(model, filled), model.verdict.trustworthy
    line = (f'{len(filled.t)} points in {filled.t[-1]:.3g} s have their effort'
            + (', by a model that is not trustworthy.' if not good else
               ', partly extrapolated.' if remarks else ', within the range of the recording.'))
    answer(args, {
        'file': str(args.output), 'points': len(filled.t), 'seconds': float(filled.t[-1]),
        'joints': [{'name': name, 'unit': units[name], **dict(zip(keys, own, strict=True))}
                   for name, own in figures.items()],
        'extrapolation': list(remarks), 'trustworthy': good,
    }, line, table=[['joint', *keys], *(
        [name, *(plain(value, 3, units[name]) for value in own)]
        for name, own in figures.items())],
        notes=[*([] if good else [headline(model)]),
               *(sentence(f'extrapolation: {remark}') for remark in remarks)],
        wrote=[args.output])
    return 0 if good else 1
