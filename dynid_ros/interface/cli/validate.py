# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Check an identified model, or a URDF, against a recording.

Predict the torque of a recording that was not used for fitting; or, by the parameters of a URDF,
the torque of the last third of a recording, beside a model that is identified from the rest. With
--rollout, simulate the exported model beside the description, and compare where they move.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.errors import InputError
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, given, number, READING


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('model', type=Path, metavar='DIR', help='folder of dynid identify, or a URDF')
    add('recording', type=Path, metavar='BAG')
    add('--arm', metavar='ARM',
        help='with a URDF: the arm, for its topic, drive and friction terms')
    add('--cutoff', type=number('Cutoff', 'dynid_ros.interface.python.boundary'), metavar='HZ',
        nargs='+', default=[],
        help='print the torque error below these cut-offs, too; errors compare at one bandwidth '
             'only')
    add('--rollout', action='store_true',
        help='simulate the exported MJCF, too, in MuJoCo, from measured states under the recorded '
             'torque or commands, and print how far it is from where the arm moved')
    add('-o', '--output', type=Path, metavar='PATH',
        help='with --rollout: picture of these distances, .png, .svg or .pdf')
    add_described(parser, 'read_recording', READING)


def run(args: Namespace) -> Answer:
    """Validate; status 1 if the model does not generalise."""
    from dynid_ros.arm.load import is_robot_file

    if args.output is not None and not args.rollout:
        raise InputError('-o is for the picture of --rollout; add --rollout')
    if is_robot_file(args.model):
        if args.rollout:
            raise InputError('--rollout is for the folder of an identified model, not for a URDF; '
                             'it simulates the description of the arm beside the model')
        if args.cutoff:
            raise InputError('--cutoff is for the folder of an identified model, not for a URDF')
        return _validate_description(args)
    if args.arm is not None:
        raise InputError('--arm is for a URDF only; a result holds its arm')
    return _validate_result(args)


def _validate_result(args: Namespace) -> Answer:
    from dynid_ros.interface.python.identification import load_model, read_recording
    from dynid_ros.interface.python.validation import Validation
    from dynid_ros.pages.report.arm_picture import save_picture
    from dynid_ros.pages.report.figures import rollout_figure
    from dynid_ros.utilities.atomic_write import check_output

    wrote = [] if args.output is None else [args.output]
    check_output(*wrote)
    result = load_model(args.model)
    recording = read_recording(args.recording, result.arm, **given(args))
    found = Validation(result, recording)
    rolled = result.rollout(recording) if args.rollout else None
    answer = found.answer(args.cutoff, rolled, wrote)
    if rolled is not None and wrote:
        save_picture(rollout_figure(rolled), args.output)
    return answer


def _validate_description(args: Namespace) -> Answer:
    """Compare the parameters of a URDF with those that the recording gives."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.load import stated_arm
    from dynid_ros.dynamics.rigid_parameters import check_possible
    from dynid_ros.interface.answers.stated import stated_answer
    from dynid_ros.interface.python.identification import identify, read_recording

    if args.arm is None:
        raise InputError(f'{args.model} is a URDF: give the arm that was recorded with --arm')
    arm = load_arm(args.arm)
    stated = stated_arm(args.model, arm.joint_names)
    check_possible(stated)
    recording = read_recording(args.recording, arm, **given(args))
    return stated_answer(identify(arm, recording, stated=stated), recording, args.model.name)
