"""``dynid validate``: an identified model against another recording."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

from dynid_ros.cli.common.arguments import add_json, add_reading, Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        'validate', help='check an identified model against another recording',
        description='Predict the torque of a recording that was not used for fitting.')
    parser.add_argument('result', type=Path, metavar='DIR', help='folder of dynid identify')
    parser.add_argument('recording', type=Path, metavar='BAG')
    add_reading(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Validate and print the figures; status 1 if the model does not generalise."""
    from dynid_ros.cli.common.summary import metric_lines, metrics_as_dict, print_json
    from dynid_ros.diagnosis.verdict import held_out_reasons
    from dynid_ros.identification.validation import validate
    from dynid_ros.storage.recording_reader import read_recording
    from dynid_ros.storage.result_file import read_result

    result = read_result(args.result)
    recording = read_recording(
        args.recording, result.arm, topic=args.topic, received=args.received)
    metrics, _ = validate(result, recording)
    if args.recording.resolve() in {Path(source).resolve() for source in result.sources}:
        print(f'dynid validate: {args.recording} was used for fitting, at least in part; '
              'these errors are in-sample', file=sys.stderr)
    reasons = held_out_reasons(result.fit, metrics)
    if args.json:
        print_json({
            'arm': result.arm.name, 'samples': len(recording.t), 'seconds': recording.seconds,
            'validation': metrics_as_dict(metrics), 'reasons': reasons,
        })
    else:
        print('\n'.join(metric_lines(metrics)))
        print('verdict: ' + ('the model generalises' if not reasons else '; '.join(reasons)))
    return 1 if reasons else 0
