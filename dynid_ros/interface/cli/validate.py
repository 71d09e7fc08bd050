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
from dynid_ros.interface.cli.common.arguments import add_described, given, number, READING
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import plain, sentence


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
    from dynid_ros.estimation.blocks.preparation import checked_recording
    from dynid_ros.estimation.identification.bandwidth import error_at, error_by_bandwidth
    from dynid_ros.estimation.identification.conditioned_data import beginning
    from dynid_ros.interface.cli.common.summary import (
        error_line,
        error_table,
        recording_as_dict,
        rollout_note,
    )
    from dynid_ros.interface.python.identification import load_model, read_recording
    from dynid_ros.interface.python.validation import Validation
    from dynid_ros.pages.report.arm_picture import save_picture
    from dynid_ros.pages.report.figures import rollout_figure
    from dynid_ros.utilities.atomic_write import check_output

    wrote = [] if args.output is None else [args.output]
    check_output(*wrote)
    result = load_model(args.model)
    arm, cutoff_hz = result.arm, result.treatment.cutoff_hz
    recording = read_recording(args.recording, arm, **given(args, READING))
    found = Validation(result, recording)
    metrics, reasons = found.metrics, found.reasons
    others = {hz: error_at(result, recording, hz) for hz in args.cutoff}
    rolled = result.rollout(recording) if args.rollout else None
    first = beginning([checked_recording(recording, arm)[0]])
    facts = {
        **recording_as_dict(recording, arm), 'cutoff_hz': cutoff_hz, 'validation': metrics,
        'reasons': reasons, 'warnings': found.warnings,
        'bandwidths': [{'cutoff_hz': hz, **vars(other), 'held_out': metrics.held_out}
                       for hz, other in others.items()],
        'error_by_bandwidth': error_by_bandwidth((arm, result.theta), first, result.treatment),
        'rollouts': None if rolled is None else rolled.as_dict()}
    if rolled is not None and wrote:
        save_picture(rollout_figure(rolled), args.output)
    return Answer(
        facts, found.verdict, int(bool(reasons)), error_table(metrics, arm, result.unrepeated),
        [*([] if rolled is None else [rollout_note(rolled)]),
         *map(sentence, (*reasons[1:], *found.warnings)),
         *(f'Below {hz:.3g} Hz the torque error is {plain(other.relative_error_percent)} %.'
           for hz, other in others.items())],
        [error_line(metrics), *([] if rolled is None else rolled.lines())], wrote)


def _validate_description(args: Namespace) -> Answer:
    """Compare the parameters of a URDF with those that the recording gives."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.load import stated_arm
    from dynid_ros.dynamics.rigid_parameters import check_possible
    from dynid_ros.estimation.model.verdict_words import headline
    from dynid_ros.estimation.verdict.judge import held_out_findings
    from dynid_ros.interface.cli.common.summary import recording_as_dict
    from dynid_ros.interface.python.identification import identify, read_recording

    if args.arm is None:
        raise InputError(f'{args.model} is a URDF: give the arm that was recorded with --arm')
    arm = load_arm(args.arm)
    stated = stated_arm(args.model, arm.joint_names)
    check_possible(stated)
    recording = read_recording(args.recording, arm, **given(args, READING))
    result = identify(arm, recording, stated=stated)
    # Stated parameters were fitted to nothing from which they could fail to generalise.
    reasons = {how: [
        f'the torque error is {found.relative_error_percent:.1f} %, and '
        f'{result.fit.relative_error_percent:.1f} % in-sample of the model identified from the '
        'rest' if each.code == 'not_general' else each.sentence
        for each in held_out_findings(result.fit, found)] for how, found in result.stated.items()}
    tried = {**result.stated, 'identified from the rest': result.validation or result.fit}
    good = [how for how, against in reasons.items() if not against]
    joints = zip(*(found.joints for found in tried.values()), strict=True)
    rows = [*((own[0].name, own) for own in joints), ('all', tuple(tried.values()))]
    notes = [f'{how.capitalize()}: {sentence(each)}' for how, against in reasons.items()
             for each in against]
    if not result.verdict.trustworthy:
        notes.insert(0, f'The identified model: {headline(result)}')
    facts = {
        **recording_as_dict(recording, arm), 'identified': result.validation,
        'trustworthy': result.verdict.trustworthy, 'stated_parameters': result.stated,
        'reasons': reasons}
    return Answer(
        facts, f'{args.model.name} predicts the last third of the recording {good[-1]}.' if good
        else f'{args.model.name} does not predict the last third of the recording.',
        int(not good), [['joint', *tried], *(
            [name, *(plain(each.relative_error_percent, 3, '%') for each in own)]
            for name, own in rows)], notes)
