"""
Check an identified model, or a URDF, against a recording.

Predict the torque of a recording that was not used for fitting; or, of a URDF, that of the last
third of a recording, beside a model that is identified from the rest.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import (
    add_json,
    add_reading,
    answer,
    cutoff,
    read_recording,
)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('model', type=Path, metavar='DIR',
                        help='folder of dynid identify, or a URDF')
    parser.add_argument('recording', type=Path, metavar='BAG')
    parser.add_argument('--arm', metavar='ARM',
                        help='with a URDF: the arm, for its topic, drive and friction terms')
    parser.add_argument('--cutoff', type=cutoff, metavar='HZ', nargs='+', default=[],
                        help='print the torque error below these cut-offs, too; errors compare at '
                             'one bandwidth only')
    add_reading(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Validate and print the figures; status 1 if the model does not generalise."""
    from dynid_ros.arm.load import is_robot_file

    if is_robot_file(args.model):
        if args.cutoff:
            raise InputError('--cutoff is for the folder of an identified model, not for a URDF')
        return _validate_description(args)
    if args.arm is not None:
        raise InputError('--arm is for a URDF only; a result holds its arm')
    return _validate_result(args)


def _validate_result(args: Namespace) -> int:
    from dynid_ros.data.recordings.clock import with_one_clock
    from dynid_ros.estimation.identification.bandwidth import (
        beginning,
        error_at,
        error_by_bandwidth,
    )
    from dynid_ros.estimation.regression.preparation import checked_recording
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.cli.common.summary import metric_lines, metrics_as_dict
    from dynid_ros.interface.python.results import validated

    result = read_result(args.model)
    recording = read_recording(args, args.recording, result.arm)
    found = validated(result, recording)
    metrics, seconds = found.metrics, with_one_clock(recording).seconds
    others = {hz: error_at(result, recording, hz, metrics.held_out) for hz in args.cutoff}
    first = beginning([checked_recording(recording, result.arm)[0]])
    compared = others and {result.treatment.cutoff_hz: metrics} | others
    answer(args, {
        'arm': result.arm.name, 'samples': len(recording.t), 'seconds': seconds,
        'cutoff_hz': result.treatment.cutoff_hz,
        'validation': metrics_as_dict(metrics), 'reasons': found.reasons,
        'warnings': found.warnings,
        'bandwidths': [{'cutoff_hz': hz, **(metrics_as_dict(other) or {})}
                       for hz, other in others.items()],
        'error_by_bandwidth': [dict(vars(each)) for each in error_by_bandwidth(
            (result.arm, result.theta), first, result.treatment)],
    }, [*metric_lines(metrics, unrepeated=result.unrepeated),
        *(f'torque error below {hz:.3g} Hz: {other.relative_error_percent:.2f} %'
          for hz, other in compared.items()),
        f'verdict: {found.verdict}',
        *(f'  warning: {warning}' for warning in found.warnings)])
    return 1 if found.reasons else 0


def _validate_description(args: Namespace) -> int:
    """Compare the parameters of a URDF with those that the recording gives."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.load import stated_arm
    from dynid_ros.data.recordings.clock import with_one_clock
    from dynid_ros.dynamics.rigid_parameters import check_possible
    from dynid_ros.estimation.diagnosis.verdict import held_out_findings
    from dynid_ros.estimation.identification.identify import identify
    from dynid_ros.interface.cli.common.summary import (
        metric_lines,
        metrics_as_dict,
        stated_as_dict,
        stated_lines,
    )

    if args.arm is None:
        raise InputError(f'{args.model} is a URDF: give the arm that was recorded with --arm')
    arm = load_arm(args.arm)
    stated = stated_arm(args.model, arm.joint_names)
    check_possible(stated)
    recording = read_recording(args, args.recording, arm)
    result = identify(arm, [recording], stated=stated)
    reasons = {how: [each.sentence for each in held_out_findings(result.fit, found)]
               for how, found in result.stated.items()}
    lines = []
    for how, found in result.stated.items():
        lines += [f'{args.model.name}, {how}', *metric_lines(found)]
    lines += ['identified from the rest of the recording',
              *metric_lines(result.validation, unrepeated=result.unrepeated),
              *stated_lines(result.stated, args.model.name),
              *(f'verdict on {args.model.name}, {how}: {"; ".join(against) or "no objections"}'
                for how, against in reasons.items())]
    if not result.verdict.trustworthy:
        lines.append('the identified model is NOT trustworthy: '
                     + '; '.join(result.verdict.reasons))
    answer(args, {
        'arm': arm.name, 'samples': len(recording.t),
        'seconds': with_one_clock(recording).seconds,
        'identified': metrics_as_dict(result.validation),
        'trustworthy': result.verdict.trustworthy,
        'stated_parameters': stated_as_dict(result.stated),
        'reasons': reasons,
    }, lines)
    return 1 if all(reasons.values()) else 0
