# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answers for recordings and their defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import counted, sentence, several


def check_answer(recording: Recording, arm: ArmModel, defects: Sequence[Defect]) -> Answer:
    """State whether a recording is usable, and its defects; status 1 if it is not."""
    facts, number = recording_as_dict(recording, arm), Counter(each.severity for each in defects)
    counts = [counted(number[kind], kind) for kind in ('error', 'warning') if number[kind]]
    return Answer(
        {**facts, 'defects': defects},
        f'{"Not usable as it is" if number["error"] else "Usable"}: {len(recording.t)} samples of '
        f'{counted(arm.n, "joint")} in {facts["seconds"]:.1f} s, '
        f'{several(counts or ["no defect"])}.',
        status=int(number['error'] > 0), notes=defect_notes(defects))


def conversion_answer(written: Recording, bag: Path) -> Answer:
    """State what a recording was written as."""
    facts = {'bag': bag, 'joints': written.joint_names, 'samples': len(written.t),
             'seconds': written.seconds, 'defects': written.defects}
    return Answer(
        facts, f'Converted: {len(written.t)} samples of {several(written.joint_names)} in '
        f'{written.seconds:.1f} s.', notes=defect_notes(written.defects), wrote=[bag])


def recording_as_dict(recording: Recording, arm: ArmModel) -> dict[str, Any]:
    """Arm and length of a recording under the keys that scripts rely on."""
    return {'arm': arm.name, 'samples': len(recording.t),
            'seconds': with_one_clock(recording).seconds}


def defect_notes(defects: Sequence[Defect]) -> list[str]:
    """
    List defects, the severe ones first: a sentence each, its code for scripts and searches.

    Joints of which the same holds share one.
    """
    alike: dict[tuple[str, str], list[Defect]] = {}
    for each in sorted(defects, key=lambda each: (
            each.severity != 'error', each.severity != 'warning')):
        text = each.message.replace(each.joint, 'each') if each.joint else each.message
        alike.setdefault((f'{each.severity.capitalize()} {each.code}', text), []).append(each)
    return [f'{kind}{f" [{several(str(each.joint) for each in own)}]" if own[0].joint else ""}: '
            f'{(sentence(text) if own[1:] else own[0].message).rstrip(".")}.'
            for (kind, text), own in alike.items()]
