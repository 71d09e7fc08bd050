"""
Run the online estimator on a recording.

Estimate step by step, without acceleration, as the identifier node does; writes the history of
every estimate, the last one, and robot_description.urdf where that is trustworthy.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_output,
    add_reading,
    cutoff,
    delay,
    positive,
    read_recording,
    reading,
)
from dynid_ros.interface.cli.common.output import add_answer, shown_progress

if TYPE_CHECKING:
    from dynid_ros.estimation.online.replay import History

HISTORY, PLOT, DESCRIPTION = 'history.npz', 'history.svg', 'robot_description.urdf'
PAYLOAD = 'payload.json'


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='BAG')
    add_arm(parser, required=False)
    parser.add_argument(
        '--start', type=Path, metavar='DIR',
        help='folder of dynid identify of the same arm: take its friction terms, cut-off, delay, '
             'and load of friction by load; --arm may be left out, and the estimate starts from '
             'nothing')
    parser.add_argument(
        '--payload', type=Path, metavar='DIR',
        help='instead of --arm and --start: folder of dynid identify of the arm without its load; '
             f'estimate the load alone, and write {PAYLOAD} instead of result.yaml')
    add_output(parser, f'folder for result.yaml, {HISTORY} and {PLOT}')
    parser.add_argument(
        '--memory', type=positive, default=inf, metavar='SECONDS',
        help='time after which the weight of old data falls to 1/e where new data replaces it '
             '(default: no forgetting)')
    parser.add_argument(
        '--cutoff', type=cutoff, metavar='HZ',
        help='cut-off of the filters (default: that of the result or arm.yaml, else from the '
             'data)')
    parser.add_argument(
        '--delay', type=delay, metavar='SECONDS',
        help='time by which the drive signal lags behind the motion (default: that of the result '
             'or arm.yaml, else from the data)')
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Replay, write result, history and plot, and print a summary."""
    if (args.arm is None and args.start is None) == (args.payload is None):
        raise InputError('give --arm ARM, --start DIR or both, or --payload DIR alone; a result '
                         'holds its arm')
    return _replay_arm(args) if args.payload is None else _replay_payload(args)


def _replay_arm(args: Namespace) -> int:
    from dynid_ros.applications.export.urdf import robot_description
    from dynid_ros.estimation.result_files.result_file import RESULT, result_contents
    from dynid_ros.interface.cli.common.summary import show_result
    from dynid_ros.interface.python.identification import replay
    from dynid_ros.utilities.atomic_write import check_output, write_together

    wrote = [args.output / name for name in (RESULT, HISTORY, PLOT)]
    check_output(*wrote, args.output / DESCRIPTION)
    with shown_progress():
        found = replay(
            args.arm, args.recording, start=args.start, cutoff_hz=args.cutoff, delay=args.delay,
            memory=args.memory, **reading(args))
    result = found.model
    contents = result_contents(result, args.output)
    contents |= _history_files(args.output, found.history, list(result.units))
    if result.verdict.trustworthy:
        text = robot_description(args.arm or '')(result)
        contents[args.output / DESCRIPTION] = text.encode()
        wrote.append(args.output / DESCRIPTION)
    write_together(contents)
    if not result.verdict.trustworthy:
        # One of an earlier run would be taken for this one's.
        (args.output / DESCRIPTION).unlink(missing_ok=True)
    show_result(args, result, wrote)
    return 0 if result.verdict.trustworthy else 1


def _replay_payload(args: Namespace) -> int:
    """Replay for the load alone."""
    from dynid_ros.applications.export.payload_messages import payload_as_dict
    from dynid_ros.applications.payload.body import FIELDS
    from dynid_ros.applications.payload.payload_replay import replay_payload
    from dynid_ros.data.files.plain import json_text
    from dynid_ros.data.files.sidecar import check_same_arm
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.cli.common.payload_table import show_payload
    from dynid_ros.utilities.atomic_write import check_output, write_together

    if args.memory < inf:
        raise InputError('--memory is not for --payload: a load is not forgotten')
    model = read_result(args.payload)
    wrote = [args.output / name for name in (PAYLOAD, HISTORY, PLOT)]
    check_output(*wrote)
    check_same_arm(args.recording, model.arm)
    recording = read_recording(args, args.recording, model.arm)
    with shown_progress():
        found, history = replay_payload(
            model, recording, cutoff_hz=args.cutoff, delay=args.delay)
    facts = {'written': 'by dynid_ros'} | payload_as_dict(found)
    write_together({args.output / PAYLOAD: f'{json_text(facts, 2)}\n'.encode(),
                    **_history_files(args.output, history, list(FIELDS.values()))})
    show_payload(args, found, 'the tool of arm.yaml', wrote)
    return 0 if found.trustworthy else 1


def _history_files(folder: Path, history: History, units: list[str]) -> dict[Path, bytes]:
    """Make the files of the history of every estimate."""
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.pages.report.plots import drawn, evolution_figure

    plot = evolution_figure(history.names, units, history.t, history.theta, history.std)
    return {folder / HISTORY: npz_bytes(**vars(history)), folder / PLOT: drawn(plot, 'svg')}
