# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Run the online estimator on a recording.

Estimate step by step, without acceleration, as the identifier node does; writes the history of
every estimate, the last one, and robot_description.urdf where that is trustworthy.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given, READING

if TYPE_CHECKING:
    from dynid_ros.estimation.online.replay import History

HISTORY, PLOT, DESCRIPTION = 'history.npz', 'history.svg', 'robot_description.urdf'
PAYLOAD_JSON = 'payload.json'


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'replay', {
        'recording': 'BAG', **ARM_AND_READING, 'start': '--start DIR',
        'memory': '--memory SECONDS', 'cutoff_hz': '--cutoff HZ', 'delay': '--delay SECONDS'})
    parser.add_argument(
        '--payload', type=Path, metavar='DIR',
        help='instead of --arm and --start: folder of dynid identify of the arm without its load; '
             f'estimate the load alone, and write {PAYLOAD_JSON} instead of result.yaml')
    add_output(parser, f'folder for result.yaml, {HISTORY} and {PLOT}')


def run(args: Namespace) -> Answer:
    """Replay, and write result, history and plot; status 1 if the result is not trustworthy."""
    if (args.arm is None and args.start is None) == (args.payload is None):
        raise InputError('give --arm ARM, --start DIR or both, or --payload DIR alone; a result '
                         'holds its arm')
    return _replay_arm(args) if args.payload is None else _replay_payload(args)


def _replay_arm(args: Namespace) -> Answer:
    from dynid_ros.applications.export.urdf import robot_description
    from dynid_ros.estimation.result_files.result_file import RESULT, result_contents
    from dynid_ros.interface.answers.model import result_answer
    from dynid_ros.interface.python.live import replay
    from dynid_ros.utilities.atomic_write import check_output, write_together

    wrote = [args.output / name for name in (RESULT, HISTORY, PLOT)]
    description = args.output / DESCRIPTION
    check_output(*wrote, description)
    found = replay(**{'arm': None} | given(args))
    result = found.model
    contents = result_contents(result, args.output)
    contents |= _history_files(args.output, found.history, result.units)
    if result.verdict.trustworthy:
        contents[description] = robot_description(args.arm or '')(result).encode()
        wrote.append(description)
    else:
        # One of an earlier run would be taken for this one's.
        description.unlink(missing_ok=True)
    write_together(contents)
    return result_answer(result, wrote)


def _replay_payload(args: Namespace) -> Answer:
    """Replay for the load alone."""
    from dynid_ros.applications.payload.body import INERTIA_FIELDS
    from dynid_ros.applications.payload.payload_replay import replay_payload
    from dynid_ros.data.files.plain_values import json_text
    from dynid_ros.interface.answers.payload import payload_answer
    from dynid_ros.interface.python.boundary import as_model, as_recording
    from dynid_ros.utilities.atomic_write import check_output, write_together

    if args.memory is not None:
        raise InputError('--memory is not for --payload: a load is not forgotten')
    model = as_model(args.payload)
    wrote = [args.output / name for name in (PAYLOAD_JSON, HISTORY, PLOT)]
    check_output(*wrote)
    recording = as_recording(
        args.recording, model.arm, of_model=True, **given(args, READING))
    found, history = replay_payload(model, recording, cutoff_hz=args.cutoff, delay=args.delay)
    answer = payload_answer(found, wrote=wrote)
    text = json_text({'written': 'by dynid_ros'} | answer.facts, 2)
    write_together({args.output / PAYLOAD_JSON: f'{text}\n'.encode(),
                    **_history_files(args.output, history, tuple(INERTIA_FIELDS.values()))})
    return answer


def _history_files(folder: Path, history: History, units: Sequence[str]) -> dict[Path, bytes]:
    """Make the files of the history of every estimate."""
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.pages.report.figures import drawn
    from dynid_ros.pages.report.plots import evolution_figure

    return {folder / HISTORY: npz_bytes(**vars(history)),
            folder / PLOT: drawn(evolution_figure(history, units), 'svg')}
