# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for a description on a recording, beside a model identified from the rest."""

from __future__ import annotations

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.estimation.verdict.judge import held_out_findings
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.answers.recording import recording_as_dict
from dynid_ros.utilities.text import plain, sentence


def stated_answer(result: IdentifiedModel, recording: Recording, name: str) -> Answer:
    """State whether a description predicts the held-out part; status 1 if it does not."""
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
        **recording_as_dict(recording, result.arm), 'identified': result.validation,
        'trustworthy': result.verdict.trustworthy, 'stated_parameters': result.stated,
        'reasons': reasons}
    return Answer(
        facts, f'{name} predicts the last third of the recording {good[-1]}.' if good
        else f'{name} does not predict the last third of the recording.',
        int(not good), [['joint', *tried], *(
            [name, *(plain(each.relative_error_percent, 3, '%') for each in own)]
            for name, own in rows)], notes)
