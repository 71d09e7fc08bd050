"""
Find contacts in a recording, by an identified model.

Run the momentum observer over a recording, as the monitor node does over an arm: external torque,
and each contact with the joint that felt it and the force, if it was at the tool. Status 1 if the
model fits no more.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_reading,
    positive,
    reading,
)
from dynid_ros.interface.cli.common.output import add_answer, answer, shown_progress
from dynid_ros.utilities.text import counted, plain, sentence

if TYPE_CHECKING:
    from typing import Any

    from dynid_ros.applications.contact.over_recording import MonitoredRecording
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

CURVES, PICTURE = 'monitor.npz', 'monitor.svg'
#: Contacts that the summary lists.
SHOWN = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='BAG')
    parser.add_argument(
        '--model', required=True, type=Path, metavar='DIR', help='folder of dynid identify')
    parser.add_argument(
        '--alarms-per-hour', type=positive, default=1.0, metavar='RATE',
        help='false alarms of the whole arm, 1/h (default: %(default)g)')
    parser.add_argument(
        '-o', '--output', type=Path, metavar='PATH', help=f'folder for {PICTURE} and {CURVES}')
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Monitor, draw, and print the contacts; status 1 if the model does not fit."""
    from dynid_ros.arm.parameters import torque_units
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.interface.python.applications import monitor
    from dynid_ros.pages.report.plots import contact_figure, drawn
    from dynid_ros.utilities.atomic_write import check_output, write_together

    wrote = [] if args.output is None else [args.output / PICTURE, args.output / CURVES]
    check_output(*wrote)
    model = read_result(args.model)
    with shown_progress():
        found = monitor(
            model, args.recording, alarms_per_hour=args.alarms_per_hour, **reading(args))
    if args.output is not None:
        curves: dict[str, Any] = {
            name: getattr(found, name) for name in ('t', 'torque', 'threshold', 'contact')}
        write_together({
            args.output / CURVES: npz_bytes(**curves),
            args.output / PICTURE: drawn(contact_figure(
                model.arm.joint_names, torque_units(model.arm), **curves), 'svg')})
    answer(args, _as_dict(model, found), _line(found), table=_table(model, found),
           notes=_notes(model, found, args.alarms_per_hour), wrote=wrote, details=[
               f'The observer has {found.bandwidth_hz:.3g} Hz.',
               'Median threshold: ' + ', '.join(
                   f'{name} {plain(value)}' for name, value in zip(
                       model.arm.joint_names, _middle(found), strict=True)) + '.'])
    return 1 if found.aged or not model.verdict.trustworthy else 0


def _line(found: MonitoredRecording) -> str:
    if found.aged is not None:
        return f'The model fits no more: {sentence(found.aged.sentence)}'
    contacts = counted(len(found.contacts), 'contact') if found.contacts else 'No contact'
    return f'{contacts} in {found.seconds:.1f} s.'


def _table(model: IdentifiedModel, found: MonitoredRecording) -> list[list[str]]:
    rows = [['from, s', 'to, s', 'joint', 'torque', 'threshold', 'force if at the tool, N']]
    for contact in found.contacts[:SHOWN]:
        j = model.arm.joint_names.index(contact.joints[0])
        force = ', '.join(
            f'{value:.1f}' if known else '?' for value, known in zip(
                contact.wrench.wrench[3:], contact.wrench.determined[3:], strict=True))
        rows.append([
            f'{contact.start:.3f}', f'{contact.stop:.3f}', contact.joints[0],
            plain(contact.torque[j]), plain(contact.threshold[j]), f'[{force}]'])
    return rows if found.contacts else []


def _notes(
    model: IdentifiedModel, found: MonitoredRecording, alarms_per_hour: float,
) -> Iterator[str]:
    if not model.verdict.trustworthy:
        from dynid_ros.estimation.model.words import headline

        yield headline(model)
    if found.aged is not None and found.contacts:
        yield f'{counted(len(found.contacts), "contact")} in {found.seconds:.1f} s.'
    if len(found.contacts) > SHOWN:
        yield f'{len(found.contacts) - SHOWN} more contacts are not listed.'
    if not found.levels.held_out:
        yield ('The model has no held-out residual: thresholds come from the samples that it was '
               'fitted to, and false alarms are more.')
    yield f'False alarms to be expected: {alarms_per_hour:g} an hour.'


def _middle(found: MonitoredRecording) -> list[float]:
    """Median of the threshold of each joint, without the time in which it is unknown."""
    import numpy as np

    return [float(np.median(column[known])) if (known := np.isfinite(column)).any()
            else float('inf') for column in found.threshold.T]


def _as_dict(model: IdentifiedModel, found: MonitoredRecording) -> dict[str, Any]:
    names, aged = model.arm.joint_names, found.aged
    return {
        'arm': model.arm.name, 'seconds': found.seconds, 'bandwidth_hz': found.bandwidth_hz,
        'held_out': found.levels.held_out,
        'contacts': [
            {'start': contact.start, 'stop': contact.stop, 'at': contact.at,
             'joints': list(contact.joints), 'torque': contact.torque.tolist(),
             'threshold': contact.threshold.tolist(),
             'tool_wrench': contact.wrench.wrench.tolist(),
             'tool_wrench_determined': contact.wrench.determined.tolist()}
            for contact in found.contacts],
        'joints': [{'name': name, 'median_threshold': value}
                   for name, value in zip(names, _middle(found), strict=True)],
        'aged': None if aged is None else {
            'joints': list(aged.joints), 'ratio': aged.ratio, 'payload': aged.payload,
            'text': aged.sentence},
        'trustworthy': model.verdict.trustworthy,
    }
