# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sentences of a verdict, the same in terminal, report and diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.estimation.model.conditioning_words import lateness, noisy_positions
from dynid_ros.estimation.model.metrics import unrepeated_percent
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.text import plain, sentence, several

if TYPE_CHECKING:
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Relative error from which a joint is worth a note, %.
POOR = 25.0
#: Beginnings of remarks on passed checks, which require no action.
ROUTINE = ('the stated gravity agrees', 'gravity cannot be checked', 'this recording cannot')
VALIDATE = 'give a recording of another motion with --validate'


def refusal(finding: Finding | None) -> str:
    """State that an estimate is not trustworthy, with cause and remedy."""
    if finding is None:
        return 'Not judged yet: no finding is certain.'
    return f'Not trustworthy: {finding_sentences(finding)}'


def finding_sentences(finding: Finding) -> str:
    """State a finding in sentences: fault and evidence, then the remedy."""
    fault = sentence(finding.fault)
    return f'{fault} {sentence(finding.remedy)}' if finding.remedy else fault


def headline(model: IdentifiedModel) -> str:
    """
    State in a line whether a model can be trusted, how well it predicts, and its uses.

    Parameters
    ----------
    model : IdentifiedModel
        The model.

    """
    if not model.verdict.trustworthy:
        errors = (finding for finding in model.verdict.findings if finding.is_error)
        return refusal(next(errors, None))
    metrics = model.validation or model.fit
    error = (f'{plain(metrics.relative_error_percent, 2)} % '
             f'({model.treatment.cutoff_hz:.3g} Hz)')
    if model.validation is None:
        return (f'Not validated: the model fits its own motion to {error}, and no motion was held '
                f'out. {sentence(VALIDATE)}')
    if model.repeats:
        return (f'Not validated by another motion: the model predicts the fitted motion again to '
                f'{error}. Record both motions of "dynid design", or {VALIDATE}.')
    return f'Trustworthy: predicts torque on {model.held_out} to {error}. {_purposes(model)}'


def _purposes(model: IdentifiedModel) -> str:
    """List the uses that the model serves, and the lack of each other use."""
    uses = model.uses
    # Contact comes last, since it has a number.
    good = several(sorted((use.brief for use in uses if use.serves),
                          key=lambda brief: brief.startswith('contact')))
    lacks = dict.fromkeys(use.brief for use in uses if not use.serves)
    return sentence('; '.join([f'good for {good}', *lacks]))


def notes(model: IdentifiedModel) -> tuple[str, ...]:
    """
    List what else a user of a model should know, the most important first.

    Parameters
    ----------
    model : IdentifiedModel
        The model.

    """
    verdict = model.verdict
    errors = [finding for finding in verdict.findings if finding.is_error]
    cautions = [finding for finding in verdict.findings if not finding.is_error]
    remarks = [note for note in model.treatment.notes if not note.startswith(ROUTINE)]
    late, delay = lateness(model.arm, model.treatment), model.treatment.delay
    return (*map(finding_sentences, (*errors[1:], *cautions)), *_joints(model),
            *([f'{late}; dynid removed the {"delay" if delay > 0 else "lead"}.'] if late else []),
            *filter(None, [noisy_positions(model.arm, model.treatment)]), *_defects(model),
            *map(sentence, remarks), *_comparisons(model))


def _joints(model: IdentifiedModel) -> Iterator[str]:
    """State which joints are predicted poorly, or not at all."""
    metrics = model.validation or model.fit
    reported = {name for finding in model.verdict.findings for name in finding.joints}
    poor = [f'{joint.name} ({joint.relative_error_percent:.0f} %)' for joint in metrics.joints
            if joint.relative_error_percent > POOR and joint.name not in reported]
    if poor:
        yield f'Predicted poorly, relative to the torque of the joint: {several(poor)}.'
    idle = [joint.name for joint in metrics.joints if np.isnan(joint.rmse)]
    if metrics.held_out and 0 < len(idle) < len(metrics.joints):
        yield f'Not validated, at rest in the held-out set: {several(idle)}.'


def _defects(model: IdentifiedModel) -> Iterator[str]:
    """State the defects of the recordings, the severe ones first."""
    for severity in ('error', 'warning'):
        yield from (sentence(each.message) for each in model.defects if each.severity == severity)


def _comparisons(model: IdentifiedModel) -> Iterator[str]:
    """State the repeatability of the arm, and the error of the parameters of its description."""
    if model.unrepeated is not None:
        floor, _ = unrepeated_percent(model.validation or model.fit, model.unrepeated)
        if np.isfinite(floor):
            yield f'The arm itself does not repeat {plain(floor, 2)} % of the torque.'
    if model.stated:
        errors = several(f'{plain(found.relative_error_percent, 2)} % {how}'
                         for how, found in model.stated.items())
        yield (f'The parameters of arm.yaml or the URDF predict the same torque to {errors}.')
