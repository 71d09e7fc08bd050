# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer of the monitor for a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dynid_ros.applications.contact.over_recording import MonitoredRecording
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import counted, plain, sentence

#: Contacts that the table lists.
SHOWN = 20


def monitor_answer(
    found: MonitoredRecording, model: IdentifiedModel, alarms_per_hour: float,
    wrote: Sequence[Path] = (),
) -> Answer:
    """List the contacts; status 1 if the model does not fit."""
    names, trustworthy = model.arm.joint_names, model.verdict.trustworthy
    # Without the time in which it is unknown.
    middle = [np.median(column[np.isfinite(column)]) if np.isfinite(column).any() else np.inf
              for column in found.threshold.T]
    facts = {
        'arm': model.arm.name, 'seconds': found.seconds, 'bandwidth_hz': found.bandwidth_hz,
        'held_out': found.levels.held_out,
        'contacts': [{**vars(each), 'tool_wrench': each.wrench.wrench,
                      'tool_wrench_determined': each.wrench.determined}
                     for each in found.contacts],
        'joints': [{'name': name, 'median_threshold': value}
                   for name, value in zip(names, middle, strict=True)],
        'aged': found.aged and {**vars(found.aged), 'text': found.aged.sentence},
        'remarks': found.remarks, 'trustworthy': trustworthy}
    return Answer(
        facts, f'The model no longer fits: {sentence(found.aged.sentence)}' if found.aged
        else _count(found), int(found.aged is not None or not trustworthy),
        table=_table(names, found), notes=_notes(model, found, alarms_per_hour), wrote=wrote,
        details=[f'The observer has {found.bandwidth_hz:.3g} Hz.',
                 'Median threshold: ' + ', '.join(
                     f'{name} {plain(value)}' for name, value in zip(names, middle, strict=True))
                 + '.'])


def _count(found: MonitoredRecording) -> str:
    contacts = counted(len(found.contacts), 'contact') if found.contacts else 'No contact'
    return f'{contacts} in {found.seconds:.1f} s.'


def _table(names: tuple[str, ...], found: MonitoredRecording) -> list[list[str]]:
    rows = [['from, s', 'to, s', 'joint', 'torque', 'threshold', 'force if at the tool, N']]
    for contact in found.contacts[:SHOWN]:
        j = names.index(contact.joints[0])
        force = ', '.join(
            f'{value:.1f}' if known else '?' for value, known in zip(
                contact.wrench.wrench[3:], contact.wrench.determined[3:], strict=True))
        rows.append([
            f'{contact.start:.3f}', f'{contact.stop:.3f}', names[j], plain(contact.torque[j]),
            plain(contact.threshold[j]), f'[{force}]'])
    return rows if found.contacts else []


def _notes(
    model: IdentifiedModel, found: MonitoredRecording, alarms_per_hour: float,
) -> Iterator[str]:
    if not model.verdict.trustworthy:
        yield headline(model)
    if found.aged is not None and found.contacts:
        yield _count(found)
    if len(found.contacts) > SHOWN:
        yield f'{len(found.contacts) - SHOWN} more contacts are not listed.'
    if not found.levels.held_out:
        yield ('The model has no held-out residual: thresholds come from the samples that it was '
               'fitted to, and false alarms are more.')
    yield from map(sentence, found.remarks)
    yield f'False alarms to be expected: {alarms_per_hour:g} an hour.'
